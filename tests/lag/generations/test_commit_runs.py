"""When a committed offset was first committed: records folded batch by batch, beside a plain fold one by one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lag.generations.commit_runs import CommitRuns
from lag.verdict.waiting import FADES_BY
from tests.lag.generations.commits import Commit, columns
from tests.lag.make import cluster, end, group

OLD, NEW = UUID(int=1), UUID(int=2)


@dataclass(frozen=True)
class Run:
    """What is known of one partition of one group."""

    offset: int = -1
    first_ms: int = -1
    is_exact: bool = False
    follows: bool = False
    back_ms: int = -1
    interval_ms: int = -1


def runs(*batches: Sequence[Commit], most: int = 1000) -> CommitRuns:
    found = CommitRuns.none()
    for batch in batches:
        found = found.after(columns(batch), source=0, most=most)
    return found


def of(found: CommitRuns, group_id: str, tp: str, topic_id: UUID | None = None) -> Run:
    """The run of one row of a snapshot."""
    topic = tp.rsplit("-", 1)[0]
    ids = {} if topic_id is None else {topic: str(topic_id)}
    snapshot = cluster({group_id: group({tp: 1})}, {tp: end(9)}, topic_ids=ids)
    return Run(*(column[0].item() for column in found.of_rows(snapshot)))


def test_the_only_record_of_an_offset_is_its_commit() -> None:
    assert of(runs([Commit("g", "t-0", 5, 100)]), "g", "t-0") == Run(5, 100, is_exact=True)


def test_a_client_that_commits_the_same_offset_again_does_not_move_its_first_commit() -> None:
    batch = [Commit("g", "t-0", 4, 90), *(Commit("g", "t-0", 5, at) for at in (100, 110))]
    found = runs(batch, [Commit("g", "t-0", 5, 120)])
    assert of(found, "g", "t-0") == Run(5, 100, is_exact=True, follows=True, interval_ms=10)


def test_the_longest_interval_between_commits_that_moved_the_offset_fades() -> None:
    at_ms = [0, 60_000, 120_000, 125_000, 130_000]
    found = runs(*([Commit("g", "t-0", offset, 1000 + each)] for offset, each in enumerate(at_ms)))
    assert of(found, "g", "t-0").interval_ms == int(int(60_000 * FADES_BY) * FADES_BY)
    assert runs([Commit("g", "t-0", at, 1000 + each) for at, each in enumerate(at_ms)]).interval_ms == 54_150


def test_a_day_without_commits_is_no_interval() -> None:
    found = runs([Commit("g", "t-0", at, each) for at, each in enumerate([0, 5_000, 86_400_000, 86_405_000])])
    assert of(found, "g", "t-0").interval_ms == 5_000


def test_without_another_offset_before_the_first_of_several_records_is_only_the_earliest_known() -> None:
    found = runs([Commit("g", "t-0", 5, 100), Commit("g", "t-0", 5, 110)])
    assert of(found, "g", "t-0") == Run(5, 100)


def test_a_commit_that_goes_back_is_known() -> None:
    found = runs([Commit("g", "t-0", 9, 100)], [Commit("g", "t-0", 5, 110), Commit("g", "t-0", 6, 120)])
    assert of(found, "g", "t-0") == Run(6, 120, True, True, back_ms=110, interval_ms=10)


def test_a_tombstone_removes_and_the_next_commit_is_the_only_one() -> None:
    gone = [Commit("g", "t-0", 5, 100), Commit("g", "t-0", None, 110)]
    assert len(runs(gone)) == 0
    assert of(runs(gone, [Commit("g", "t-0", 2, 120)]), "g", "t-0") == Run(2, 120, is_exact=True)


def test_groups_topics_and_partitions_are_kept_apart() -> None:
    places = [("a", "t-0"), ("b", "t-0"), ("a", "t-1"), ("a", "u-0")]
    found = runs([Commit(*place, at, 100 + at) for at, place in enumerate(places)])
    assert [of(found, *place).offset for place in places] == [0, 1, 2, 3]
    assert of(found, "b", "u-0") == Run()


def test_a_topic_that_was_created_again_starts_over() -> None:
    found = runs([Commit("g", "t-0", 5, 100, OLD), Commit("g", "t-0", 5, 110, NEW)])
    assert of(found, "g", "t-0", NEW) == Run(5, 110, is_exact=True, follows=True)
    assert of(runs([Commit("g", "t-0", 5, 100, OLD)]), "g", "t-0", NEW) == Run()
    assert of(runs([Commit("g", "t-0", 5, 100, OLD)]), "g", "t-0", OLD) == Run(5, 100, is_exact=True)


def test_a_new_topic_with_lower_offsets_did_not_go_back() -> None:
    found = runs([Commit("g", "t-0", 500, 100, OLD), Commit("g", "t-0", 5, 110, NEW)])
    assert of(found, "g", "t-0", NEW).back_ms == -1


def test_the_partitions_with_the_oldest_commits_are_dropped_first() -> None:
    found = runs([Commit("g", f"t-{number}", 5, 100 + number) for number in range(10)], most=4)
    assert [of(found, "g", f"t-{number}").offset for number in range(10)] == [-1] * 6 + [5] * 4


def test_a_partition_of_the_topic_that_is_read_again_forgets_its_groups() -> None:
    found = CommitRuns.none().after(columns([Commit("a", "t-0", 5, 100)]), source=3)
    found = found.after(columns([Commit("b", "t-0", 6, 100)]), source=4).forget(3)
    assert (of(found, "a", "t-0").offset, of(found, "b", "t-0").offset) == (-1, 6)


COMMITS = st.lists(
    st.builds(
        Commit,
        st.sampled_from("ab"),
        st.sampled_from(["t-0", "t-1", "u-0"]),
        st.none() | st.integers(0, 3),
        st.just(0),
        st.sampled_from([None, OLD]),
    ),
    max_size=40,
)


def plain(commits: Sequence[Commit]) -> dict[tuple[str, str], Run]:
    """One record after the other."""
    found: dict[tuple[str, str], Run] = {}
    for one in commits:
        place = (one.group, one.tp)
        before = found.get(place)
        if one.offset is None:
            found.pop(place, None)
        elif before is None:
            found[place] = Run(one.offset, one.at_ms, is_exact=True)
        elif one.offset == before.offset:
            found[place] = replace(before, is_exact=before.follows)
        else:
            back_ms = one.at_ms if one.offset < before.offset else before.back_ms
            interval_ms = max(one.at_ms - before.first_ms, int(before.interval_ms * FADES_BY))
            found[place] = Run(one.offset, one.at_ms, True, True, back_ms, interval_ms)
    return found


@given(COMMITS, st.integers(1, 10))
def test_batches_of_any_size_give_what_one_record_after_the_other_gives(records: list[Commit], size: int) -> None:
    timed = [replace(one, at_ms=1000 * (1 + at)) for at, one in enumerate(records)]
    found = runs(*(timed[at : at + size] for at in range(0, len(timed), size)))
    expected = plain(timed)
    for place in {(one.group, one.tp) for one in timed}:
        got, want = of(found, *place), expected.get(place, Run())
        assert (got.offset, got.first_ms) == (want.offset, want.first_ms)
        assert got.is_exact >= want.is_exact
        assert got.back_ms >= want.back_ms
        assert got.interval_ms == pytest.approx(want.interval_ms, abs=len(records))  # it is rounded batch by batch


def test_a_negative_offset_ends_a_run_as_a_tombstone_does() -> None:
    for end_of_run in (-2, None):
        before = [Commit("g", "t-0", 5, 100), Commit("g", "t-0", end_of_run, 110)]
        assert len(runs(before)) == 0
        assert of(runs([*before, Commit("g", "t-0", 5, 120)]), "g", "t-0") == Run(5, 120, is_exact=True, follows=True)
