"""What holds for every generation of every scenario whose events have their effect in turn."""

from itertools import groupby, pairwise

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import assignors
from assignors.contract import check
from assignors.model import Group, Member
from assignors.whatif.events import (
    Action,
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    Event,
    Freeze,
    Leave,
    Restart,
    Resume,
    Scenario,
    Subscribe,
    UseAssignor,
)
from assignors.whatif.generations import Generation, in_turn
from assignors.whatif.moves import MoveKind
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of
from tests.support.random_examples import random_examples
from tests.support.scenes import join, scenario

SUBSCRIPTIONS = ("t", "u", "t u", "u t")


@st.composite
def courses(draw: st.DrawFn) -> tuple[Action, ...]:
    """Actions that can happen one after the other, beginning with members m0 and m1 and topics t:7 and u:4."""
    there, frozen, sizes, actions, is_down = {"m0", "m1"}, set[str](), {"t": 7, "u": 4}, list[Action](), False
    for at in range(draw(st.integers(1, 9))):
        kind = draw(
            st.sampled_from(["join", "leave", "crash", "freeze", "resume", "restart", "add", "subscribe", "down"])
        )
        name = draw(st.sampled_from(sorted(there))) if there else ""
        wanted = draw(st.sampled_from(SUBSCRIPTIONS))
        if kind == "join" or not there:
            instance = f"pod-{at}" if draw(st.booleans()) else None
            actions.append(join(f"n{at}", wanted, instance_id=instance))
            there.add(f"n{at}")
        elif kind in ("leave", "crash", "freeze"):
            actions.append(Leave(name) if kind == "leave" else Crash(name) if kind == "crash" else Freeze(name))
            there.remove(name)
            frozen |= {name} if kind == "freeze" else set()
        elif kind == "resume" and frozen:
            name = min(frozen)
            actions.append(Resume(name))
            frozen.remove(name)
            there.add(name)
        elif kind == "add":
            sizes["t"] += 1 + at
            actions.append(AddPartitions("t", sizes["t"]))
        elif kind == "down":
            actions.append(CoordinatorUp() if is_down else CoordinatorDown())
            is_down = not is_down
        else:
            actions.append(Restart(name) if kind == "restart" else Subscribe(name, tuple(wanted.split())))
    return tuple(actions)


def folded(name: str, actions: tuple[Action, ...]) -> list[Generation]:
    return in_turn(scenario(name, "m0 m1", *actions, topics="t:7 u:4"))


def check_settled(generation: Generation) -> list[str]:
    group = Group("s", generation.members, generation.topics)
    return check(group, generation.after, shared=generation.assignor == "share-simple")


def title(generation: Generation) -> tuple[int, str]:
    return generation.at_ms, generation.event.partition(" (rebalance")[0]


quick = random_examples(25, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(actions=courses())
@pytest.mark.parametrize("name", assignors.names())
def test_generations_follow_one_another(name: str, actions: tuple[Action, ...]) -> None:
    made = folded(name, actions)
    for before, after in pairwise(made):
        assert after.before == before.after
        assert after.number == before.number + after.quality.rebalances
        assert after.at_ms >= before.at_ms
    for generation in made:
        held = {who: set(partitions) for who, partitions in generation.after.by_member.items()}
        assert {one.member_id: set(one.owned) for one in generation.members} == held
        kept = [move for move in generation.moves if move.kind is MoveKind.KEPT]
        assert generation.quality.kept == len(kept)
        assert all(move.tp in held[move.target or ""] for move in kept)


@quick
@given(actions=courses())
@pytest.mark.parametrize("name", assignors.names())
def test_after_the_last_rebalance_of_each_event_the_plan_is_sound(name: str, actions: tuple[Action, ...]) -> None:
    for _, of_event in groupby(folded(name, actions), key=title):
        assert check_settled(list(of_event)[-1]) == []


@quick
@given(actions=courses())
def test_a_cooperative_partition_never_goes_over_while_its_owner_may_hold_it(actions: tuple[Action, ...]) -> None:
    for before, after in pairwise(folded("cooperative-sticky", actions)):
        there = {one.member_id: one for one in after.members} if after.number > before.number else {}
        for move in after.moves.of(MoveKind.GAINED):
            # Gone, or no subscriber any more, or it came back meanwhile and has lost what it had.
            holder = there.get(move.source or "")
            if holder is not None and "rejoins" not in after.event and "the coordinator" not in after.event:
                assert move.tp.topic not in holder.topics


@quick
@given(actions=courses())
def test_every_protocol_pauses_what_it_must(actions: tuple[Action, ...]) -> None:
    for name in assignors.names():
        for generation in folded(name, actions):
            owned = sum(map(len, generation.before.by_member.values()))
            moved = generation.quality.moved
            expected = {
                RebalanceProtocol.EAGER: owned,
                RebalanceProtocol.COOPERATIVE: moved,
                RebalanceProtocol.CONSUMER: moved,
                RebalanceProtocol.SHARE: 0,
            }
            if generation.quality.rebalances and generation.number > 1:
                assert generation.quality.paused == expected[protocol_of(name)]


@quick
@given(st.integers(1, 40), st.integers(1, 6), st.data())
def test_both_sticky_ones_move_the_same_for_one_change(partitions: int, count: int, data: st.DataObject) -> None:
    names = " ".join(f"m{at}" for at in range(count))
    changes: list[Action] = [join("n"), Leave("m0"), AddPartitions("t", partitions + 3)]
    action = data.draw(st.sampled_from(changes))
    eager, cooperative = (
        assignors.fold(scenario(name, names, action, topics=f"t:{partitions}"))
        for name in ("sticky", "cooperative-sticky")
    )
    assert sum(made.quality.moved for made in eager) == sum(made.quality.moved for made in cooperative)
    last = [{who: set(held) for who, held in made[-1].after.by_member.items()} for made in (eager, cooperative)]
    assert last[0] == last[1]


@quick
@given(actions=courses())
def test_a_change_of_assignor_leaves_nothing_behind(actions: tuple[Action, ...]) -> None:
    last = folded("cooperative-sticky", actions)[-1]
    clean = tuple(Member(one.member_id, one.instance_id, topics=one.topics) for one in last.members)
    events = tuple(Event(at, UseAssignor(name)) for at, name in enumerate(("range", "sticky")))
    members = last.members
    made = in_turn(Scenario("s", "cooperative-sticky", last.topics, members, events))[-1]
    fresh = assignors.get("sticky").assign(Group("s", clean, last.topics)) if clean else None
    assert made.after.by_member == (fresh.by_member if fresh else {})
