"""One group by the minute: rebalances, joins and leaves, and how long rebalances took.

Pure functions on its records and polls. Records from before the recording (`bootstrap`) give the initial state and are
not counted: the topic is compacted, so the time of earlier changes is not known.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from lag.model import GroupType
from lag.records.record_types import Role
from lag.rollup.group_events import GroupRecord
from lag.rollup.lag_minutes import MINUTE_US
from lag.verdict.status import STATUS_CODE, Status

STATES = (
    "Unknown", "Empty", "Stable", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "Dead",
    "NotReady",
)  # fmt: skip
"""Kafka's group states; the column `state` is an index of this tuple. New ones come last."""

_UNKNOWN = STATUS_CODE[Status.UNKNOWN]
STATE_CODE: Mapping[str, int] = {name: code for code, name in enumerate(STATES)}


@dataclass(frozen=True, slots=True)
class Seen:
    """A group in a minute according to commits and polls; None where there are none.

    From commits: `status`, an index of `URGENCY`; `time_lag_max_ms`, the longest time lag or highest lower bound;
    `time_lag_known`: it is known for every partition. The others are of the last poll: `verdict` is the collector's
    status; in `markers` partitions perhaps only transaction markers are left, and `poll_time_lag_ms` is without them;
    `lag` covers `lag_known` of `lag_partitions`.
    """

    status: int | None = None
    time_lag_max_ms: int | None = None
    time_lag_known: bool | None = None
    type: str | None = None
    state: str | None = None
    members: int | None = None
    verdict: int | None = None
    markers: int | None = None
    poll_time_lag_ms: int | None = None
    lag: int | None = None
    lag_known: int | None = None
    lag_partitions: int | None = None

    def judged(self) -> int | None:
        """The status, the collector's if known: it also knows members, open transactions and other partitions."""
        return self.status if self.verdict in (None, _UNKNOWN) and self.status is not None else self.verdict

    def time_lag(self) -> tuple[int | None, bool | None]:
        """The longest, and whether all partitions have one; from the poll where markers would count as records."""
        if self.markers or (self.time_lag_known is None and self.lag_partitions):
            return self.poll_time_lag_ms, self.poll_time_lag_ms is not None
        return self.time_lag_max_ms, self.time_lag_known


class GroupMinute(NamedTuple):
    """A row of `group_health_1m` without its group; None is "not known". `minute` is in microseconds since 1970."""

    minute: int
    type: str
    generation_first: int | None
    generation_last: int | None
    rebalances: int
    members_last: int | None
    members_min: int | None
    members_max: int | None
    joins: int
    leaves: int
    churn: float | None
    rebalance_ms: int | None
    state: int | None
    status: int | None
    time_lag_max_ms: int | None
    time_lag_known: bool | None
    lag: int | None
    lag_known: int | None
    lag_partitions: int | None


@dataclass(slots=True)
class _Now:
    """The state of a group after the records so far.

    `gone`: a group of that type was deleted. `began_us`: the time of an epoch bump whose rebalance has not ended.
    """

    type: GroupType | None = None
    number: int | None = None
    gone: GroupType | None = None
    members: set[str] | None = None
    target: int | None = None
    stable_at: dict[str, int | None] = field(default_factory=dict)
    began_us: int | None = None

    def state(self) -> int | None:
        """Its index in STATES, as far as it follows from records."""
        if self.type is None:
            return None
        if self.gone is not None:
            return STATE_CODE["Dead"]
        if not self.members:
            return STATE_CODE["Empty"]
        if self.type is GroupType.CLASSIC or self.is_settled():
            return STATE_CODE["Stable"]
        return STATE_CODE["Assigning" if self.target != self.number else "Reconciling"]

    def is_settled(self) -> bool:
        """Whether every member has reached the target of the group's epoch."""
        return self.target == self.number and all(
            self.stable_at.get(member) == self.number for member in self.members or ()
        )


@dataclass(slots=True)
class _Tally:
    """Changes in a minute; `counts` are its member counts, beginning with that at its start."""

    first: int | None
    counts: list[int]
    rebalances: int = 0
    joins: int = 0
    leaves: int = 0
    rebalance_ms: int | None = None


def minutes(
    records: Sequence[GroupRecord], seen: Mapping[int, Seen], since_us: int, until_us: int
) -> list[GroupMinute]:
    """The minutes of [since, until), in microseconds since 1970, with a record or an entry in `seen`.

    `records` are in order; those before `since` give the state at `since`.
    """
    by_minute: dict[int, list[GroupRecord]] = defaultdict(list)
    now = _Now()
    for record in records:
        if record.at_us < since_us:
            _take(now, record, _Tally(None, []))
        elif record.at_us < until_us:
            by_minute[record.at_us // MINUTE_US * MINUTE_US].append(record)
    every = sorted(by_minute.keys() | {minute for minute in seen if since_us <= minute < until_us})
    return [_minute(minute, now, by_minute[minute], seen.get(minute, Seen())) for minute in every]


def _minute(minute: int, now: _Now, records: Iterable[GroupRecord], seen: Seen) -> GroupMinute:
    tally = _Tally(now.number, [] if now.members is None else [len(now.members)])
    for record in records:
        _take(now, record, tally)
    counts = tally.counts or ([] if seen.members is None else [seen.members])
    mean = fmean(counts) if counts else 0
    state = now.state() if seen.state is None else STATE_CODE.get(seen.state, 0)
    time_lag_ms, time_lag_known = seen.time_lag()
    return GroupMinute(
        minute=minute,
        type=str(now.type or seen.type or GroupType.UNKNOWN),
        generation_first=tally.first,
        generation_last=now.number,
        rebalances=tally.rebalances,
        members_last=counts[-1] if counts else None,
        members_min=min(counts, default=None),
        members_max=max(counts, default=None),
        joins=tally.joins,
        leaves=tally.leaves,
        churn=(tally.joins + tally.leaves) / mean if mean else None,
        rebalance_ms=tally.rebalance_ms,
        state=state,
        status=seen.judged(),
        time_lag_max_ms=time_lag_ms,
        time_lag_known=time_lag_known,
        lag=seen.lag,
        lag_known=seen.lag_known,
        lag_partitions=seen.lag_partitions,
    )


def _take(now: _Now, record: GroupRecord, tally: _Tally) -> None:
    """Apply the record to the state, and count the changes."""
    joined, left = _members(now, record)
    bumped = _bumps(now, record)
    now.type = record.type
    if tally.first is None:
        tally.first = now.number
    if now.members is not None:
        tally.counts.append(len(now.members))
    settled_ms = _settled_ms(now, record)
    if not record.bootstrap:
        tally.joins += joined
        tally.leaves += left
        tally.rebalances += bumped
        if settled_ms is not None:
            tally.rebalance_ms = max(settled_ms, tally.rebalance_ms or 0)


def _members(now: _Now, record: GroupRecord) -> tuple[int, int]:
    """How many members joined and left. The replacement of a static member counts as a join and a leave."""
    before = set(now.members or ())
    if record.role is Role.GROUP and record.members is not None:
        now.members = set(record.members)
    elif record.role is Role.MEMBER and record.member_id is not None:
        there = {record.member_id}
        now.members = before - there if record.tombstone else before | there
    elif now.members is None:
        now.members = set()
    return len((now.members or set()) - before), len(before - (now.members or set()))


def _bumps(now: _Now, record: GroupRecord) -> int:
    """By how many generations or epochs the group advanced, including those whose records were compacted."""
    if record.role not in (Role.GROUP, Role.EPOCH):
        return 0
    if record.tombstone or record.number is None:
        now.gone = record.type
        return 0
    before, number = now.number, record.number
    is_new = before is None or number < before or record.type == now.gone
    bumps = _since_birth(record) if is_new else number - (before or 0)
    now.number, now.gone = number, None
    if bumps and record.role is Role.EPOCH:  # without members there is no assignment
        now.began_us = (now.began_us or record.at_us) if now.members else None
    return bumps


def _since_birth(record: GroupRecord) -> int:
    """A classic group begins at generation 0, others at epoch 1, which the first member usually bumps at once."""
    number = record.number or 0
    return number if record.role is Role.GROUP else max(1, number - 1)


def _settled_ms(now: _Now, record: GroupRecord) -> int | None:
    """Duration of the rebalance that ends with this record (KIP-848), from the first epoch bump until all members are
    reconciled.
    """
    if record.role is Role.TARGET_EPOCH and not record.tombstone:
        now.target = record.number
    elif record.role is Role.CURRENT and record.member_id is not None:
        now.stable_at[record.member_id] = record.number if record.stable else None
    if now.began_us is None or not now.is_settled():
        return None
    took_ms, now.began_us = (record.at_us - now.began_us) // 1000, None
    return took_ms
