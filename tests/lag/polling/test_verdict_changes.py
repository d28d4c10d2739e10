"""A change of a verdict is kept once, with what it was before; a start, and groups that are well, are no changes."""

from collections.abc import Mapping

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
    assert change == VerdictChange(10_001, "b", 1, 10_000, None, Status.NO_MEMBERS, onset, change.evidence)
    assert change.evidence.startswith("the group is Empty and 100 records behind")


def test_a_verdict_that_comes_changes_and_goes_is_three_changes() -> None:
    changes = observed({"a": OK}, {"a": WAITS}, {"a": WAITS}, {"a": UNCOMMITTED}, {"a": OK})
    assert seen(changes) == [
        ("a", Status.OK, Status.NO_MEMBERS),
        ("a", Status.NO_MEMBERS, Status.NEVER_COMMITTED),
        ("a", Status.NEVER_COMMITTED, Status.OK),
    ]
    assert [one.id for one in changes.after(0).changes] == [10_001, 10_002, 10_003]
    assert seen(changes, since=10_002) == [("a", Status.NEVER_COMMITTED, Status.OK)]
    assert changes.last_id() == 10_003


def test_a_group_that_is_deleted_while_not_well_is_a_change() -> None:
    changes = observed({"a": WAITS, "b": OK}, {})
    (_, gone) = changes.after(0).changes
    assert (gone.group_id, gone.before, gone.after, gone.onset) == ("a", Status.NO_MEMBERS, None, None)
    assert gone.evidence == "the group no longer exists"


def test_only_the_last_changes_are_kept() -> None:
    changes = observed({f"g{number:02}": WAITS for number in range(20)}, {}, most=7)
    assert [one.group_id for one in changes.after(0).changes] == [f"g{number:02}" for number in range(13, 20)]
    assert {one.after for one in changes.after(0).changes} == {None}
    assert [one.id for one in changes.after(0).changes] == list(range(10_034, 10_041))
    since = (0, 10_000, 10_030, 10_032, 10_033, 10_040)
    assert [len(changes.after(change_id).missed) for change_id in since] == [33, 33, 3, 1, 0, 0]


def test_changes_of_other_groups_are_not_missed_by_a_reader_of_one() -> None:
    changes = observed({"a": WAITS, "b": OK}, *[{"a": WAITS, "b": b} for b in (WAITS, OK) * 4], most=5)
    assert [one.id for one in changes.after(0).changes] == list(range(10_005, 10_010))
    assert [changes.after(since).missed.count("a") for since in (0, 10_000, 10_001)] == [1, 1, 0]
    assert [changes.after(since).missed.count("b") for since in (0, 10_001, 10_003, 10_004)] == [3, 3, 1, 0]
    assert (changes.after(10_002).missed, changes.after(0).missed) == (["b", "b"], ["b", "b", "b", "a"])


def test_nothing_is_missed_before_the_first_change() -> None:
    for changes in (VerdictChanges(), observed({"a": OK}), observed({"a": WAITS})):
        assert changes.after(0).missed == []


def test_changes_of_one_group_are_found() -> None:
    changes = observed({"a": WAITS, "b": WAITS}, {}, {"a": WAITS})
    assert [one.group_id for one in changes.after(0).of("a".__eq__).changes] == ["a", "a", "a"]


def test_an_id_of_a_process_whose_clock_was_ahead_is_before_the_first() -> None:
    changes = observed({"a": OK}, {"a": WAITS})
    assert [changes.after(change_id).after for change_id in (0, 10_000, 10_001, 10_002, 310_001)] == [
        0,
        10_000,
        10_001,
        10_000,
        10_000,
    ]
    assert seen(changes, 310_001) == [("a", Status.OK, Status.NO_MEMBERS)]


def test_before_the_first_poll_every_id_may_be_right() -> None:
    assert VerdictChanges().after(310_001).after == 310_001
