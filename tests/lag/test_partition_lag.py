"""Offsets -> lag and verdict: each case by hand, then thousands against the definitions written out per row."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lag.model import LagTotal
from lag.offsets import UNKNOWN, OffsetTable, PartitionLag, PartitionProblem, PartitionRows, problem_code
from lag.partition_lag import Catalog, CommittedRows, LogOffsetRows, end_offsets, offset_table, totals_of

P = PartitionProblem
NO_ENDS: list[tuple[int, int, int, int, P | None]] = []


def rows(*given_rows: tuple[int, int, int, int | None, int | None, P | None]) -> CommittedRows:
    """(group, topic, partition, committed, the broker's own lag, problem)."""
    columns: list[Sequence[Any]] = [*zip(*given_rows, strict=True)] or [()] * 6

    def known(values: object) -> np.ndarray:
        return np.array([UNKNOWN if v is None else v for v in values], np.int64)  # type: ignore[attr-defined]

    return CommittedRows(
        group=np.array(columns[0], np.int32),
        topic=np.array(columns[1], np.int32),
        partition=np.array(columns[2], np.int32),
        committed=known(columns[3]),
        broker_lag=known(columns[4]),
        problem=np.array([problem_code(p) for p in columns[5]], np.uint8),
        member=np.full(len(columns[0]), UNKNOWN, np.int32),
    )


def answers(*given_answers: tuple[int, int, int, int, P | None]) -> LogOffsetRows:
    """(topic, partition, kind, offset, problem)."""
    columns: list[Sequence[Any]] = [*zip(*given_answers, strict=True)] or [()] * 5
    return LogOffsetRows(
        topic=np.array(columns[0], np.int32),
        partition=np.array(columns[1], np.int32),
        kind=np.array(columns[2], np.int8),
        offset=np.array(columns[3], np.int64),
        problem=np.array([problem_code(p) for p in columns[4]], np.uint8),
        leader_epoch=np.full(len(columns[0]), UNKNOWN, np.int32),
    )


def log(topic: int, partition: int, start: int, end: int, stable: int) -> list[tuple[int, int, int, int, P | None]]:
    return [(topic, partition, kind, offset, None) for kind, offset in enumerate((start, end, stable))]


def table_of(catalog: Catalog, ends: LogOffsetRows, given_rows: CommittedRows, groups: int = 1) -> OffsetTable:
    return offset_table(7, groups, catalog, end_offsets(catalog, ends, given_rows), given_rows)


def only(table: OffsetTable) -> PartitionLag:
    (row,) = PartitionRows(table, table.rows(0), ())
    return row


ONE = Catalog(("orders",), {"orders": (1,)})


@pytest.mark.parametrize(
    ("committed", "lag", "lost", "problem"),
    [
        (80, 40, 0, None),
        (120, 0, 0, None),
        (20, 100, 0, None),
        (19, 100, 1, P.BELOW_LOG_START),
        (0, 100, 20, P.BELOW_LOG_START),
        (121, None, None, P.BEYOND_END),
        (None, None, None, P.NO_COMMIT),
    ],
)
def test_commit_beside_a_log_from_20_to_120(
    committed: int | None, lag: int | None, lost: int | None, problem: P | None
) -> None:
    row = only(table_of(ONE, answers(*log(0, 0, 20, 120, 110)), rows((0, 0, 0, committed, None, None))))
    assert (row.lag_records, row.lost_records, row.problem) == (lag, lost, problem)
    assert (row.log_start, row.log_end, row.last_stable, row.held_records) == (20, 120, 110, 10)


def test_without_a_log_start_lost_records_are_unknown_though_the_lag_is_known() -> None:
    ends = answers((0, 0, 1, 120, None))
    row = only(table_of(ONE, ends, rows((0, 0, 0, 80, None, None))))
    assert (row.log_start, row.lag_records, row.lost_records) == (None, 40, None)
    assert totals_of(table_of(ONE, ends, rows((0, 0, 0, 80, None, None))), [True])[0].lost_records is None


def test_commit_on_a_deleted_topic_has_no_lag() -> None:
    row = only(table_of(Catalog(("orders",), {}), answers(), rows((0, 0, 3, 55, None, None))))
    assert (row.tp.partition, row.committed, row.lag_records, row.problem) == (3, 55, None, P.TOPIC_DELETED)


def test_commit_on_a_partition_that_the_recreated_topic_lacks_is_deleted() -> None:
    row = only(table_of(ONE, answers(*log(0, 0, 0, 5, 5)), rows((0, 0, 9, 55, None, None))))
    assert (row.tp.partition, row.problem) == (9, P.TOPIC_DELETED)


def test_topic_that_may_not_be_described_is_not_called_deleted() -> None:
    row = only(table_of(Catalog(("orders",), {}, frozenset({"orders"})), answers(), rows((0, 0, 0, 5, None, None))))
    assert (row.lag_records, row.problem) == (None, P.UNAUTHORIZED)


def test_leaderless_partition_has_no_lag_but_keeps_its_commit() -> None:
    row = only(table_of(Catalog(("orders",), {"orders": (-1,)}), answers(), rows((0, 0, 0, 5, None, None))))
    assert (row.committed, row.log_end, row.lag_records, row.problem) == (5, None, None, P.LEADERLESS)


def test_end_that_timed_out_is_a_timeout_and_an_end_never_answered_an_error() -> None:
    two = Catalog(("orders",), {"orders": (1, 1)})
    failed = answers((0, 0, 1, -1, P.TIMEOUT))
    found = table_of(two, failed, rows((0, 0, 0, 5, None, None), (0, 0, 1, 5, None, None)))
    assert [row.problem for row in PartitionRows(found, found.rows(0), ())] == [P.TIMEOUT, P.ERROR]


def test_unknown_log_start_does_not_hide_the_lag() -> None:
    ends = answers((0, 0, 0, -1, P.ERROR), (0, 0, 1, 120, None))
    row = only(table_of(ONE, ends, rows((0, 0, 0, 100, None, None))))
    assert (row.log_start, row.lag_records, row.problem) == (None, 20, None)


def test_second_answer_for_the_same_end_wins() -> None:
    ends = answers(*log(0, 0, 0, 10, 10), (0, 0, 1, 12, None))
    assert only(table_of(ONE, ends, rows((0, 0, 0, 12, None, None)))).lag_records == 0


def test_log_that_grew_between_reading_its_end_and_its_last_stable_offset_has_the_later_end() -> None:
    row = only(table_of(ONE, answers(*log(0, 0, 0, 105, 106)), rows((0, 0, 0, 106, None, None))))
    assert (row.log_end, row.last_stable, row.lag_records, row.problem) == (106, 106, 0, None)


def test_leader_epoch_is_that_of_the_last_answer_for_the_log_end() -> None:
    """Those for the log's beginning have the epoch of the first record."""
    made = answers(*log(0, 0, 0, 10, 10), (0, 0, 1, 12, None), (0, 1, 1, UNKNOWN, P.ERROR))
    made = replace(made, leader_epoch=np.array([1, 6, 6, 7, UNKNOWN], np.int32))
    ends = end_offsets(Catalog(("orders",), {"orders": (1, 1)}), made, rows())
    assert ends.leader_epoch.tolist() == [7, UNKNOWN]


def test_share_group_lag_is_the_brokers_own() -> None:
    row = only(table_of(ONE, answers(*log(0, 0, 0, 100, 100)), rows((0, 0, 0, 40, 7, None))))
    assert (row.committed, row.lag_records) == (40, 7)


def test_reason_given_by_the_group_wins_over_a_missing_commit() -> None:
    row = only(table_of(ONE, answers(*log(0, 0, 0, 9, 9)), rows((0, 0, 0, None, None, P.UNAUTHORIZED))))
    assert row.problem is P.UNAUTHORIZED


def test_rows_come_sorted_by_group_topic_and_partition_whatever_the_order_read() -> None:
    catalog = Catalog(("zebra", "apple"), {"zebra": (1, 1), "apple": (1,)})
    ends = answers(*log(0, 0, 0, 1, 1), *log(0, 1, 0, 2, 2), *log(1, 0, 0, 3, 3))
    read = rows((1, 0, 1, 0, None, None), (1, 1, 0, 0, None, None), (0, 0, 0, 0, None, None), (1, 0, 0, 0, None, None))
    table = table_of(catalog, ends, read, groups=3)
    seen = [[(str(r.tp), r.lag_records) for r in PartitionRows(table, table.rows(g), ())] for g in range(3)]
    assert seen == [[("zebra-0", 1)], [("apple-0", 3), ("zebra-0", 1), ("zebra-1", 2)], []]


def test_partition_that_the_coordinator_names_twice_is_one_row_the_later() -> None:
    read = rows((0, 0, 0, 5, None, None), (1, 0, 0, 7, None, None), (0, 0, 0, 6, None, None))
    table = table_of(ONE, answers(*log(0, 0, 0, 9, 9)), read, groups=2)
    assert [[r.committed for r in PartitionRows(table, table.rows(g), ())] for g in range(2)] == [[6], [7]]


def test_total_says_what_it_covers_and_is_unknown_when_it_covers_nothing() -> None:
    catalog = Catalog(("a", "gone"), {"a": (1, 1)})
    ends = answers(*log(0, 0, 10, 50, 50), *log(0, 1, 0, 5, 5))
    read = rows((0, 0, 0, 4, None, None), (0, 0, 1, None, None, None), (1, 1, 0, 4, None, None))
    table = table_of(catalog, ends, read, groups=4)
    assert totals_of(table, [False, True, True, False]) == [
        LagTotal(records=40, known=1, partitions=2, lost_records=6),
        LagTotal(records=None, known=0, partitions=1),
        LagTotal(records=0, known=0, partitions=0, lost_records=0),
        LagTotal(records=None, known=0, partitions=0),  # it could not be read
    ]


def test_slices_and_negative_indexes_of_rows_work_like_a_tuple() -> None:
    two = Catalog(("a",), {"a": (1, 1, 1)})
    table = table_of(two, answers(), rows(*((0, 0, p, p, None, None) for p in range(3))))
    lazy = PartitionRows(table, table.rows(0), ())
    assert [r.tp.partition for r in lazy[1:]] == [1, 2]
    assert lazy[-1].tp.partition == 2
    assert len(lazy) == len(list(lazy)) == 3


OFFSET = st.one_of(st.none(), st.integers(0, 60))


@given(
    ends=st.dictionaries(
        st.tuples(st.integers(0, 3), st.integers(0, 3)), st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=12
    ),
    leaderless=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))),
    commits=st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 5)), OFFSET, max_size=40),
)
def test_every_row_equals_the_definition(
    ends: dict[tuple[int, int], tuple[int, int]],
    leaderless: set[tuple[int, int]],
    commits: dict[tuple[int, int, int], int | None],
) -> None:
    names = ("d", "b", "e", "a", "c")
    leaders = {names[t]: tuple(-1 if (t, p) in leaderless else 1 for p in range(4)) for t in range(4)}
    logs = {key: (start, start + size) for key, (start, size) in ends.items() if key not in leaderless}
    read = [answer for (t, p), (start, end) in logs.items() for answer in log(t, p, start, end, end)]
    table = table_of(
        Catalog(names, leaders),
        answers(*read),
        rows(*((g, t, p, c, None, None) for (g, t, p), c in commits.items())),
        5,
    )
    seen = {
        (g, names.index(row.tp.topic), row.tp.partition): (row.lag_records, row.lost_records, row.problem)
        for g in range(5)
        for row in PartitionRows(table, table.rows(g), ())
    }
    assert seen == {key: defined(c, key[1:], logs, leaderless) for key, c in commits.items()}


def defined(
    committed: int | None,
    key: tuple[int, int],
    logs: dict[tuple[int, int], tuple[int, int]],
    leaderless: set[tuple[int, int]],
) -> tuple[int | None, int | None, P | None]:
    if key[0] > 3 or key[1] > 3:
        return None, None, P.TOPIC_DELETED
    if committed is None:
        return None, None, P.NO_COMMIT
    if key not in logs:
        return None, None, P.LEADERLESS if key in leaderless else P.ERROR
    start, end = logs[key]
    if committed > end:
        return None, None, P.BEYOND_END
    if committed < start:
        return end - start, start - committed, P.BELOW_LOG_START
    return end - committed, 0, None
