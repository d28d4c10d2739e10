"""What holds after every step, whatever brokers and followers do: leader epochs, clean elections, flushed logs."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from assignors.labs.watermark import begin, step
from assignors.labs.watermark.model import (
    Action,
    Crash,
    Fetch,
    PowerCut,
    Produce,
    Restart,
    Settings,
    Start,
    State,
    Step,
    Timing,
    Wait,
)
from tests.assignors.labs.watermark.playing import play
from tests.support.random_examples import random_examples

REPLICAS = "ABC"


def possible(state: State, number: int) -> list[Action]:
    """Every action that can happen now."""
    up = [name for name in REPLICAS if state.replicas[name].alive]
    down = [name for name in REPLICAS if name not in up]
    followers = [name for name in up if name != state.leader]
    always: list[Action] = [Wait(7_000), Wait(31_000), *map(Start, down), *map(Crash, up), *map(Restart, followers)]
    if state.leader is None:
        return always
    fetches = [Fetch(name, lost) for name in followers for lost in (False, False, True)]
    return [*always, *fetches, Produce(f"m{number}"), Produce(f"m{number}", acks_all=False), PowerCut()]


@st.composite
def courses(draw: st.DrawFn) -> list[Step]:
    """Up to 40 steps of a partition of three replicas that can happen one after the other."""
    minimum, timing, waits = draw(st.tuples(st.integers(1, 3), st.sampled_from(Timing), st.booleans()))
    chosen = Settings(min_insync_replicas=minimum, timing=timing, hw_waits_for_min_isr=waits)
    steps = [play(begin(REPLICAS, chosen), ())[0]]
    for number in range(draw(st.integers(1, 40))):
        steps.append(step(steps[-1].state, draw(st.sampled_from(possible(steps[-1].state, number)))))
    return steps


def check_state(state: State) -> None:
    replicas = state.replicas
    assert all(replica.hw <= replica.leo for replica in replicas.values())
    if state.leader is not None:
        assert state.leader in state.isr
        assert replicas[state.leader].hw <= min(replicas[name].leo for name in state.isr)
    for one, other in combinations(replicas.values(), 2):
        below = min(one.hw, other.hw)
        assert one.log[:below] == other.log[:below]


@random_examples(150)
@given(courses())
def test_every_state_keeps_the_watermark_below_the_isr_and_the_logs_alike_below_it(steps: list[Step]) -> None:
    for each in steps:
        check_state(each.state)


@random_examples(150)
@given(courses())
def test_every_step_keeps_what_is_acknowledged_and_moves_watermark_and_epoch_forward(steps: list[Step]) -> None:
    for before, after in pairwise(each.state for each in steps):
        assert after.at_ms >= before.at_ms
        assert after.epoch >= before.epoch
        assert [lost for lost in after.lost if lost.acks_all] == []
        if before.leader == after.leader is not None and before.epoch == after.epoch:
            assert after.replicas[after.leader].hw >= before.replicas[after.leader].hw
