"""Who owned a partition, and since when, as records show it."""

from lag.rollup.group_events import records
from lag.rollup.owners import changes
from tests.lag.rollup.plain_group_minutes import Row
from tests.lag.rollup.test_group_minutes import table


def reported(*rows: Row) -> list[tuple[int, str | None, int, str | None]]:
    """(second, topic, partition, member) of each change."""
    found = changes(records(table(list(rows))))
    key = lambda one: (one.at_us, one.partition[0] or "", one.partition[2])  # noqa: E731
    return [(c.at_us // 1_000_000, c.partition[0], c.partition[2], c.member_id) for c in sorted(found, key=key)]


def owns(at: int, offset: int, kind: int, member: str, *partitions: int, **rest: bool) -> Row:
    return Row(at, offset, kind, 1, member, 0, owned=(("orders", partitions),), **rest)


def test_a_classic_record_has_the_owners_of_the_whole_group() -> None:
    first = (owns(10, 0, 2, "a", 0, 1), owns(10, 0, 2, "b", 2))
    assert reported(*first, owns(20, 1, 2, "b", 1, 2)) == [
        (10, "orders", 0, "a"), (10, "orders", 1, "a"), (10, "orders", 2, "b"),
        (20, "orders", 0, None), (20, "orders", 1, "b"),
    ]  # fmt: skip


def test_a_kip848_member_reports_its_own() -> None:
    """It gives up what is no longer there; another one takes it later."""
    rows = (owns(10, 0, 8, "a", 0, 1), owns(20, 1, 8, "a", 0), owns(25, 2, 8, "b", 1))
    assert reported(*rows) == [
        (10, "orders", 0, "a"), (10, "orders", 1, "a"), (20, "orders", 1, None), (25, "orders", 1, "b"),
    ]  # fmt: skip


def test_a_member_that_is_gone_owns_nothing() -> None:
    assert reported(owns(10, 0, 8, "a", 0), Row(30, 1, 8, member="a", gone=True))[-1] == (30, "orders", 0, None)


def test_a_group_that_is_gone_owns_nothing() -> None:
    assert reported(owns(10, 0, 2, "a", 0), Row(30, 1, 2, gone=True))[-1] == (30, "orders", 0, None)


def test_what_stays_is_no_change() -> None:
    assert reported(owns(10, 0, 2, "a", 0), owns(20, 1, 2, "a", 0)) == [(10, "orders", 0, "a")]
