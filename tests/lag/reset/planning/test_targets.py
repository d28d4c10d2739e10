"""Where each specification puts a committed offset. The broker tests compare the same with Kafka's own tool."""

from hypothesis import given
from hypothesis import strategies as st

from assignors.model import TopicPartition
from lag.offsets import PartitionProblem
from lag.reset.asked.specification import (
    Current,
    Earliest,
    Exact,
    Latest,
    Listed,
    Shift,
    SkippedRecords,
    Specification,
    Time,
    parse_skip,
)
from lag.reset.model import Position, RecordHead
from lag.reset.planning.targets import BLOCKING, Found, Target, skipped, target, within
from tests.lag.reset.make import ORDERS, position

NOTHING = Found({}, {})
NUMBERS = st.integers(-1_000, 1_000)


def goal(specification: Specification, at: Position, found: Found = NOTHING) -> Target:
    return target(specification, ORDERS, at, found)


def test_each_specification_of_kafkas_tool() -> None:
    at = position(40, 10, 100)
    assert goal(Earliest(), at) == Target(10)
    assert goal(Latest(), at) == Target(100)
    assert goal(Current(), at) == Target(40)
    assert goal(Shift(-5), at) == Target(35)
    assert goal(Exact(77), at) == Target(77)
    assert goal(Listed({ORDERS: 50}, "file"), at) == Target(50)
    assert goal(Time(5), at, Found({ORDERS: 60}, {})) == Target(60)
    assert goal(Time(5), at, Found({ORDERS: -1}, {})) == Target(100)


def test_an_offset_outside_of_the_log_becomes_its_nearest_end() -> None:
    at = position(40, 10, 100)
    assert goal(Shift(-50), at) == Target(10, asked=-10)
    assert goal(Shift(61), at) == Target(100, asked=101)
    assert goal(Exact(9), at) == Target(10, asked=9)


def test_without_a_commit_current_is_the_end_and_a_shift_is_not_planned() -> None:
    assert goal(Current(), position(None)) == Target(100)
    assert goal(Shift(1), position(None)).offset is None


def test_current_keeps_an_offset_beyond_the_end() -> None:
    assert goal(Current(), position(120, problem=PartitionProblem.BEYOND_END)) == Target(120)


def test_what_cannot_be_read_is_not_planned_and_says_why() -> None:
    for problem, reason in BLOCKING.items():
        assert goal(Earliest(), position(5, None, None, problem=problem)) == Target(None, reason)
    assert (
        target(Earliest(), TopicPartition("orders", 9), None, NOTHING).reason
        == BLOCKING[PartitionProblem.TOPIC_DELETED]
    )
    assert goal(Time(5), position(5), Found({ORDERS: "RequestTimedOutError"}, {})) == Target(
        None, "RequestTimedOutError"
    )


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_clamped_offset_is_inside_of_the_log_and_nearest(asked: int, start: int, size: int) -> None:
    end = start + abs(size)
    found = within(asked, start, end)
    assert found.offset is not None
    assert start <= found.offset <= end
    assert abs(found.offset - asked) == min(abs(offset - asked) for offset in range(start, end + 1))
    assert (found.asked is None) == (found.offset == asked)


def heads(*offsets: int, markers: tuple[int, ...] = ()) -> tuple[RecordHead, ...]:
    return tuple(RecordHead(offset, 0, is_marker=offset in markers) for offset in sorted({*offsets, *markers}))


def test_the_next_record_is_skipped_also_after_a_gap_or_a_marker() -> None:
    assert skipped(SkippedRecords(ORDERS, 7, 7), 7, 20, heads(7, 8)) == Target(8)
    assert skipped(SkippedRecords(ORDERS, 7, 7), 4, 20, heads(7, 8)) == Target(8)
    assert skipped(SkippedRecords(ORDERS, 7, 9), 6, 20, heads(7, 9, markers=(6,))) == Target(10)


def test_a_record_is_not_skipped_where_others_would_be_skipped_with_it() -> None:
    assert "5" in skipped(SkippedRecords(ORDERS, 7, 7), 5, 20, heads(5, 6, 7)).reason
    assert skipped(SkippedRecords(ORDERS, 7, 7), 8, 20, heads(8)).offset is None
    assert skipped(SkippedRecords(ORDERS, 7, 7), None, 20, heads(7)).offset is None
    assert skipped(SkippedRecords(ORDERS, 7, 7), 7, 7, ()).offset is None
    assert skipped(SkippedRecords(ORDERS, 7, 8), 7, 20, heads(7, 9)).offset is None
    assert skipped(SkippedRecords(ORDERS, 7, 7), 7, 20, "CorruptRecordError").offset is None


@given(st.sets(st.integers(0, 30), min_size=1), st.integers(0, 30), st.integers(0, 30), st.integers(0, 3))
def test_skipping_passes_exactly_the_records_that_were_named(
    offsets: set[int], committed: int, first: int, more: int
) -> None:
    following = heads(*(offset for offset in offsets if offset >= committed))
    found = skipped(SkippedRecords(ORDERS, first, first + more), committed, max(offsets) + 1, following)
    if found.offset is not None:
        passed = {offset for offset in offsets if committed <= offset < found.offset}
        assert passed == {offset for offset in offsets if first <= offset <= first + more}
        assert {first, first + more} <= passed


def test_skip_is_read_from_texts() -> None:
    assert goal(parse_skip(["orders:0:7"]), position(7), Found({}, {ORDERS: heads(7)})) == Target(8)
