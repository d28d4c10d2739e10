"""A change of a verdict is kept once, with what it was before; a start, and groups that are well, are no changes."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lag.polling.verdict_changes import VerdictChange, VerdictChanges
from lag.verdict.health import Health
from lag.verdict.status import Status
from tests.lag.make import GroupSpec, cluster, end, group, judged

ENDS = {"orders-0": end(1_000)}
OK, WAITS = group({"orders-0": 1_000}), group({"orders-0": 900}, members=0, state="Empty")
UNCOMMITTED = group({"orders-0": None})


def health(number: int, **groups: GroupSpec) -> Health:
    return judged([cluster(groups, ENDS, number, number * 10_000)])


def seen(changes: VerdictChanges, since: int = 0) -> list[tuple[str, Status | None, Status | None]]:
    return [(one.group_id, one.before, one.after) for one in changes.after(since).changes]


def observed(*polls: Mapping[str, GroupSpec], most: int = 1_000) -> VerdictChanges:
    changes = VerdictChanges(most)
    for number, groups in enumerate(polls, 1):
        changes.observe(health(number, **groups))
    return changes


def test_groups_that_are_well_at_the_start_are_no_change() -> None:
    assert seen(observed({"a": OK}, {"a": OK, "b": OK}, {"a": OK})) == []


def test_a_group_that_is_not_well_at_the_start_is_a_change() -> None:
    (change,) = observed({"a": OK, "b": WAITS}).after(0).changes
    onset = change.onset
    assert onset is not None
    assert change == VerdictChange(10_000, "b", 1, 10_000, None, Status.NO_MEMBERS, onset, change.evidence)
    assert change.evidence.startswith("the group is Empty and 100 records behind")


def test_a_verdict_that_comes_changes_and_goes_is_three_changes() -> None:
    changes = observed({"a": OK}, {"a": WAITS}, {"a": WAITS}, {"a": UNCOMMITTED}, {"a": OK})
    assert seen(changes) == [
        ("a", Status.OK, Status.NO_MEMBERS),
        ("a", Status.NO_MEMBERS, Status.NEVER_COMMITTED),
        ("a", Status.NEVER_COMMITTED, Status.OK),
    ]
    assert [one.id for one in changes.after(0).changes] == [20_000, 40_000, 50_000]
    assert seen(changes, since=40_000) == [("a", Status.NEVER_COMMITTED, Status.OK)]
    assert changes.last_id() == 50_000


def test_a_group_that_is_deleted_while_not_well_is_a_change() -> None:
    changes = observed({"a": WAITS, "b": OK}, {})
    (_, gone) = changes.after(0).changes
    assert (gone.group_id, gone.before, gone.after, gone.onset) == ("a", Status.NO_MEMBERS, None, None)
    assert gone.evidence == "the group no longer exists"


def test_only_the_last_changes_are_kept() -> None:
    changes = observed({f"g{number:02}": WAITS for number in range(20)}, {}, most=7)
    assert [one.group_id for one in changes.after(0).changes] == [f"g{number:02}" for number in range(13, 20)]
    assert {one.after for one in changes.after(0).changes} == {None}
    assert [one.id for one in changes.after(0).changes] == list(range(19_994, 20_001))
    since = (0, 9_993, 9_994, 9_999, 10_000, 19_994, 20_000)
    assert [len(changes.after(change_id).missed) for change_id in since] == [33, 33, 19, 14, 13, 0, 0]


def test_changes_of_other_groups_are_not_missed_by_a_reader_of_one() -> None:
    changes = observed({"a": WAITS, "b": OK}, *[{"a": WAITS, "b": b} for b in (WAITS, OK) * 4], most=5)
    assert [one.id for one in changes.after(0).changes] == list(range(50_000, 100_000, 10_000))
    assert [changes.after(since).missed.count("a") for since in (0, 9_999, 10_000)] == [1, 1, 0]
    assert [changes.after(since).missed.count("b") for since in (0, 10_000, 30_000, 40_000)] == [3, 3, 1, 0]
    assert (changes.after(20_000).missed, changes.after(0).missed) == (["b", "b"], ["b", "b", "b", "a"])


def test_nothing_is_missed_before_the_first_change() -> None:
    for changes in (VerdictChanges(), observed({"a": OK}), observed({"a": WAITS})):
        assert changes.after(0).missed == []


def test_changes_of_one_group_are_found() -> None:
    changes = observed({"a": WAITS, "b": WAITS}, {}, {"a": WAITS})
    assert [one.group_id for one in changes.after(0).of("a".__eq__).changes] == ["a", "a", "a"]


def test_an_id_of_a_process_whose_clock_was_ahead_is_before_the_first() -> None:
    changes = observed({"a": OK}, {"a": WAITS})
    ids = (0, 9_000, 20_000, 20_001, 310_001)
    assert [changes.after(change_id).after for change_id in ids] == [0, 9_000, 20_000, 9_000, 9_000]
    assert seen(changes, 310_001) == [("a", Status.OK, Status.NO_MEMBERS)]


def test_polls_at_the_same_time_have_ids_of_their_own() -> None:
    changes = VerdictChanges(most=3)
    for groups in ({"a": OK, "b": WAITS}, {"a": WAITS, "b": WAITS}, {"a": WAITS, "b": OK}):
        changes.observe(judged([cluster(groups, ENDS, 1, 10_000)]))
    assert [(one.group_id, one.id) for one in changes.after(0).changes] == [("b", 10_000), ("a", 10_003), ("b", 10_006)]
    assert [one.group_id for one in changes.after(10_003).changes] == ["b"]


STATES = (None, OK, WAITS, UNCOMMITTED)


@given(st.lists(st.tuples(*[st.sampled_from(STATES)] * 4), min_size=1, max_size=6), st.integers(2, 9))
def test_what_a_reader_of_some_groups_gets_does_not_depend_on_the_others(polls: list[Any], most: int) -> None:
    """Neither their number nor the ids, from whatever id on, of what is kept."""
    named = [{name: spec for name, spec in zip("abcd", poll, strict=True) if spec is not None} for poll in polls]
    mine = [{name: spec for name, spec in poll.items() if name in "ac"} for poll in named]
    wanted, whole = "ac".__contains__, observed(*named, most=most)
    alone = observed(*mine)
    for after in (0, 9_999, *(one.id for one in alone.after(0).changes), 10_000 * len(polls), 10_000 * len(polls) + 1):
        found, right = whole.after(after, wanted), alone.after(after)
        kept = len(found.changes)
        assert [one.id for one in found.changes] == [one.id for one in right.changes][len(right.changes) - kept :]
        assert len(found.missed) + kept == len(right.changes)


def test_before_the_first_poll_every_id_may_be_right() -> None:
    assert VerdictChanges().after(310_001).after == 310_001
