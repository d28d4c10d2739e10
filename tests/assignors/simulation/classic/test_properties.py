"""What holds for a classic group whatever its clients do."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count, pairwise
from operator import attrgetter

from hypothesis import example, given
from hypothesis import strategies as st

from assignors.simulation.classic import ClassicCoordinator, ClassicGroup, InstantLog, State
from assignors.simulation.classic.group import PREDECESSORS
from assignors.simulation.classic.messages import Reply
from assignors.simulation.classic.rebalance import SESSION
from assignors.simulation.classic.records import GroupRecord, GroupTombstone, Record
from assignors.simulation.kernel import Kernel
from tests.oracle import classic_cases
from tests.support.random_examples import random_examples

STEPS = 60
LONGEST_MS = 300_000  # the longest timeout of any client, and that of a newcomer's first join


class Story:
    """A coordinator and random clients."""

    def __init__(self, seed: int) -> None:
        self._r = random.Random(seed)
        self.kernel, self.log = Kernel(), InstantLog()
        numbers = count(1)
        self.coordinator = ClassicCoordinator(
            self.kernel, lambda prefix: f"{prefix}-{next(numbers)}", self.log, classic_cases.settings(self._r)
        )
        self._clients = classic_cases.Clients(self._r)
        self.answers: list[tuple[int, int, Reply]] = []
        self.asked = 0

    def step(self) -> None:
        """A request, or some time."""
        if self._r.random() < 0.75:
            client, request = self._clients.next()
            self.asked += 1
            self.coordinator.handle(request, partial(self._answered, self.asked, client.learn))
        else:
            self.kernel.run_until(self.kernel.now_ms + self._r.choice((1, 1000, 3000, 10_000, 50_000)))

    def _answered(self, ticket: int, learn: Callable[[Reply], None], reply: Reply) -> None:
        self.answers.append((self.kernel.now_ms, ticket, reply))
        learn(reply)


stories = given(seed=st.integers(0, 2**32))
often = random_examples(150)


@often
@stories
def test_what_the_group_counts_is_what_its_members_are(seed: int) -> None:
    story = Story(seed)
    for _ in range(STEPS):
        story.step()
        group = story.coordinator.group
        if group is not None:
            members = group.members.values()
            assert group.parked_joins == sum(member.parked_join is not None for member in members)
            assert +group.supporters == Counter(name for member in members for name, _ in member.protocols)
            static = {member.instance_id: id_ for id_, member in group.members.items() if member.instance_id}
            assert group.static_ids == static
            assert group.pending_ids.isdisjoint(group.members)


@often
@stories
def test_one_member_leads_whenever_there_are_members_and_all_share_the_protocol(seed: int) -> None:
    story = Story(seed)
    for _ in range(STEPS):
        story.step()
        group = story.coordinator.group
        if group is not None:
            assert (group.leader in group.members) == bool(group.members)
            if group.state in (State.STABLE, State.COMPLETING_REBALANCE):
                assert all(group.protocol in dict(member.protocols) for member in group.members.values())
            assert group.members or group.state in (State.EMPTY, State.PREPARING_REBALANCE)


@often
@stories
def test_every_member_is_watched_unless_its_parked_request_speaks_for_it(seed: int) -> None:
    story = Story(seed)
    for _ in range(STEPS):
        story.step()
        group = story.coordinator.group
        watched = {
            key[1] for key in story.coordinator.timers.deadlines_ms if isinstance(key, tuple) and key[0] == SESSION
        }
        if group is not None:
            silent = {id_ for id_, member in group.members.items() if not member.outlives_session}
            assert silent | group.pending_ids <= watched


@often
@stories
def test_generations_only_grow_and_what_is_persisted_of_members_grows_strictly(seed: int) -> None:
    story, last = Story(seed), dict[int, int]()
    groups: list[ClassicGroup] = []  # kept, so that no two have one id
    for _ in range(STEPS):
        story.step()
        if (group := story.coordinator.group) is not None:
            groups.append(group)
            assert group.generation >= last.get(id(group), 0)
            last[id(group)] = group.generation
    for before, after in pairwise(_persisted(story)):
        if isinstance(before, GroupRecord) and isinstance(after, GroupRecord):
            swapped = bool(before.members) and len(before.members) == len(after.members)  # a static member's new id
            assert after.generation > before.generation or (swapped and after.generation == before.generation)


def _persisted(story: Story) -> list[Record]:
    return [record for record in story.log.records if isinstance(record, GroupRecord | GroupTombstone)]


@often
@stories
def test_no_request_is_answered_twice(seed: int) -> None:
    story = Story(seed)
    for _ in range(STEPS):
        story.step()
    answered = Counter(ticket for _, ticket, _ in story.answers)
    assert max(answered.values(), default=0) <= 1
    assert set(answered) <= set(range(1, story.asked + 1))


@often
@stories
def test_a_group_whose_clients_fall_silent_is_empty_in_the_end(seed: int) -> None:
    story = Story(seed)
    for _ in range(STEPS):
        story.step()
    # At most: a newcomer's parked join, a join phase, a sync phase, and the sessions after each of them.
    story.kernel.run_until(story.kernel.now_ms + 6 * LONGEST_MS)
    group = story.coordinator.group
    assert group is None or (group.state, len(group.members), group.pending_ids) == (State.EMPTY, 0, set())


@often
@stories
def test_the_same_requests_have_the_same_answers(seed: int) -> None:
    first, second = Story(seed), Story(seed)
    for _ in range(STEPS):
        first.step()
        second.step()
    assert first.answers == second.answers
    assert first.log.records == second.log.records


@often
@stories
@example(seed=695_349)  # the member that stands first lists second after the map is filled again
def test_a_coordinator_that_loads_the_log_knows_what_was_persisted_last(seed: int) -> None:
    story = Story(seed)
    for _ in range(STEPS):
        story.step()
    loaded = ClassicCoordinator(story.kernel, lambda prefix: prefix, InstantLog(), records=list(story.log.records))
    persisted = _persisted(story)
    assert loaded.committed == story.coordinator.committed
    if persisted and isinstance(persisted[-1], GroupRecord):
        assignments = {member.member_id: member.assignment for member in persisted[-1].members}
        assert loaded.group is not None
        assert _in_order(loaded.group.record(assignments)) == _in_order(persisted[-1])


def _in_order(record: GroupRecord) -> GroupRecord:
    """A map that once had more members lists them in another order than one that has just been filled."""
    return replace(record, members=tuple(sorted(record.members, key=attrgetter("member_id"))))


def test_states_follow_each_other_as_in_kafka() -> None:
    assert {(str(before), str(after)) for after, befores in PREDECESSORS.items() for before in befores} == {
        ("PreparingRebalance", "Empty"),
        ("Stable", "PreparingRebalance"),
        ("CompletingRebalance", "PreparingRebalance"),
        ("Empty", "PreparingRebalance"),
        ("PreparingRebalance", "CompletingRebalance"),
        ("CompletingRebalance", "Stable"),
        *((state, "Dead") for state in ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead")),
    }
