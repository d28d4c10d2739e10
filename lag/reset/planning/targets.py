"""The offset that each partition would get, as `kafka-consumer-groups --reset-offsets` computes it. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from assignors.model import TopicPartition
from lag.offsets import PartitionProblem
from lag.reset.asked.specification import (
    Current,
    Delete,
    Earliest,
    Exact,
    FromGroup,
    Latest,
    Listed,
    Shift,
    Skip,
    SkippedRecords,
    Specification,
    Time,
)
from lag.reset.model import Position, RecordHead

BLOCKING = {
    PartitionProblem.TOPIC_DELETED: "the topic or partition does not exist",
    PartitionProblem.LEADERLESS: "the partition has no leader: its log cannot be read",
    PartitionProblem.UNAUTHORIZED: "not authorised to describe the topic: grant DESCRIBE on it",
    PartitionProblem.TIMEOUT: "its leader does not answer",
    PartitionProblem.ERROR: "its offsets could not be read",
}
"""Problems with which the log of a partition is not known, and so where its committed offset could go."""


class Target(NamedTuple):
    """The offset to commit, None if there is none: `reason` says why. `asked` is set if the log does not reach it."""

    offset: int | None
    reason: str = ""
    asked: int | None = None


class Found(NamedTuple):
    """What was looked up in the log: offsets by timestamp, and the next records of partitions."""

    offsets: Mapping[TopicPartition, int | str]
    records: Mapping[TopicPartition, tuple[RecordHead, ...] | str]


def target(specification: Specification, tp: TopicPartition, position: Position | None, found: Found) -> Target:
    """Where the committed offset of a partition goes."""
    if position is None:
        return Target(None, BLOCKING[PartitionProblem.TOPIC_DELETED])
    lag = position.lag
    if lag.problem in BLOCKING:
        return Target(None, BLOCKING[lag.problem])
    if lag.log_start is None or lag.log_end is None:
        return Target(None, BLOCKING[PartitionProblem.ERROR])
    match specification:
        case Earliest():
            return Target(lag.log_start)
        case Latest():
            return Target(lag.log_end)
        case Current():
            return Target(lag.log_end if lag.committed is None else lag.committed)
        case Time():
            return _at_time(found.offsets.get(tp, "it was not looked up"), lag.log_end)
        case Shift(by):
            if lag.committed is None:
                return Target(None, "there is no committed offset to shift")
            return within(lag.committed + by, lag.log_start, lag.log_end)
        case Exact(offset):
            return within(offset, lag.log_start, lag.log_end)
        case Listed(offsets):
            return within(offsets[tp], lag.log_start, lag.log_end)
        case Skip(records):
            asked = next(each for each in records if each.tp == tp)
            return skipped(asked, lag.committed, lag.log_end, found.records.get(tp, "it was not read"))
        case Delete() | FromGroup():
            raise ValueError(f"{specification.text} has no offsets of its own")


def within(asked: int, log_start: int, log_end: int) -> Target:
    """The offset, or the end of the log that is nearer if it is outside of the log."""
    offset = log_end if asked > log_end else max(asked, log_start)
    return Target(offset, asked=None if offset == asked else asked)


def _at_time(found: int | str, log_end: int) -> Target:
    if isinstance(found, str):
        return Target(None, found)
    return Target(log_end if found < 0 else found)


def skipped(
    asked: SkippedRecords, committed: int | None, log_end: int, records: tuple[RecordHead, ...] | str
) -> Target:
    """The offset after the records, if the first of them is the next that the group reads. `records` are the next."""
    if committed is None:
        return Target(None, "nothing is committed, so it is not known which record comes next")
    if asked.last >= log_end:
        return Target(None, f"the log ends at {log_end:,}: there is no record at {asked.last:,}")
    if committed > asked.first:
        return Target(None, f"the group is at {committed:,}, beyond offset {asked.first:,}")
    if isinstance(records, str):
        return Target(None, f"its records could not be read: {records}")
    offsets = [each.offset for each in records if not each.is_marker]
    if not offsets or offsets[0] != asked.first:
        following = f"the next record is at {offsets[0]:,}" if offsets else "no record was found"
        return Target(
            None, f"the group is at {committed:,}, where {following}: skipping {asked.first:,} would skip others"
        )
    if asked.last not in offsets:
        return Target(None, f"there is no record at {asked.last:,} among the next {len(offsets):,}")
    return Target(asked.last + 1)
