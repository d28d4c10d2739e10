"""Whatever a log holds, in whatever order: nothing is raised, and generations follow on one another."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from lag.generations.recorded import GenerationRecorder, TimedEvent
from tests.lag.generations.recorded.events import NAMES, classic, current, epoch, member, planned, target, written
from tests.support.random_examples import random_examples

AT_MS = st.integers(0, 9)
NAME = st.sampled_from("ab")
NUMBER = st.integers(-1, 5)
OWNED = st.lists(st.integers(-1, 3), max_size=3, unique=True)
EVENTS = st.one_of(
    st.builds(
        classic, AT_MS, NUMBER, st.dictionaries(NAME, OWNED), protocol=st.sampled_from(["", "cooperative-sticky"])
    ),
    st.builds(epoch, AT_MS, NUMBER, st.integers(0, 1)),
    st.builds(member, AT_MS, NAME, st.none() | st.just("pod")),
    st.builds(lambda at_ms, name, owned: target(at_ms, name, *owned), AT_MS, NAME, OWNED),
    st.builds(planned, AT_MS, NUMBER),
    st.builds(current, AT_MS, NAME, NUMBER, st.sampled_from([0, 1, 2, 127, -9]), OWNED, OWNED),
    st.builds(written, AT_MS, st.sampled_from([2, 3, 4, 6, 16, 17, 99]), st.none()),
    st.builds(written, AT_MS, st.sampled_from([5, 7, 8]), st.none(), NAME),
)


BOTH_AT_ONCE = [
    *[classic(0, 0, {}, protocol="")] * 4, epoch(0, 0, 0), *[classic(0, 0, {}, protocol="")] * 5, member(0, "a", None),
    planned(0, 0), written(0, 2, None), current(0, "a", 0, 0, [], []),
]  # fmt: skip
"""Of a group that is classic and not: its last generation has no members, and yet one of them takes a step."""


@given(st.lists(EVENTS, max_size=40), st.booleans())
@example(BOTH_AT_ONCE, False)
@random_examples(150)
def test_generations_follow_on_one_another(events: list[TimedEvent], whole: bool) -> None:
    recorder = GenerationRecorder(NAMES.get, most_generations=5)
    for event in events:
        recorder.take([event], whole=whole)
    reported = recorder.recorded("g")
    assert len(reported) in (0, 2, 3, 4, 5)
    assert all(old.generation.after.by_member == new.generation.before.by_member for old, new in pairwise(reported))
    assert all(len(one.steps) <= 4 * len(one.generation.members) for one in reported)
