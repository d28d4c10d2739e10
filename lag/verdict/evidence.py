"""Findings as sentences for the engineer on call: which partition, how many records, for how many polls."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from assignors.counts import plural
from assignors.durations import duration
from assignors.model import TopicPartition
from lag.model import GroupSnapshot, LagTotal
from lag.offsets import PROBLEM_CODES, UNKNOWN, PartitionProblem
from lag.verdict.catalogue import VERDICTS
from lag.verdict.health import Finding
from lag.verdict.offset_terms import COMMIT, OffsetTerms, offset_terms
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.rules.no_partitions import IdleFinding, is_read
from lag.verdict.rules.status_rules import MARKERS_ONLY, Rules
from lag.verdict.status import Status

_REASONS: dict[PartitionProblem | None, str] = {
    PartitionProblem.LEADERLESS: "{tp} has no leader, so its log end is unknown",
    PartitionProblem.UNAUTHORIZED: "not authorised to read the offsets of {tp}",
    PartitionProblem.TIMEOUT: "the broker did not answer for {tp} in time",
    PartitionProblem.ERROR: "the broker answered with an error for {tp}",
}


def rule(status: Status, terms: OffsetTerms = COMMIT) -> str:
    """The rule that gives the status."""
    return VERDICTS[status].rule.format(**terms._asdict())


def no_offset(terms: OffsetTerms) -> str:
    """Why a partition has no time lag."""
    return f"the {terms.offset} or the log end is unknown"


class RowFacts(NamedTuple):
    """The numbers of one row: those of `CurrentRows` and `WindowStats`, in their order, as plain numbers."""

    tp: TopicPartition
    now_ms: int
    rules: Rules
    terms: OffsetTerms
    topic_exists: bool
    committed: int
    lag: int
    problem: int
    log_start: int
    log_end: int
    last_stable: int
    remainder: int
    samples: int
    first_ms: int
    run_samples: int
    run_since_ms: int
    run_is_whole: bool
    arrived: int
    held: bool
    quiet: bool
    silent_ms: int
    usual_ms: int
    undecided: bool
    watched: bool
    lately: bool
    is_new: bool
    jumped: bool
    moved_ms: int
    peak: int
    consume: float
    produce: float
    after_burst: bool
    falls: bool
    at_commit: int
    early: float
    late: float
    jitter: float
    noise: float


def of_row(row: RowFacts, status: Status, onset: Onset | None) -> Finding:
    """The finding about one partition; `onset`: since when records wait under its committed offset."""
    return Finding(status, rule(status, row.terms), _SENTENCES[status](row), onset if status in _QUIET else None)


def of_group(
    group: GroupSnapshot,
    status: Status,
    total: LagTotal,
    affected: int,
    worst: RowFacts | None,
    onset: Onset | None,
    idle: IdleFinding | None = None,
    missing: str = "",
) -> Finding:
    """The finding about a group; `affected` partitions have its status, `worst` is the one with the most records.

    `idle`: why it has no partition to read; `missing`: which of its topics do not exist, "" if all do.
    """
    its_rule = rule(status, offset_terms(group.type))
    if idle is not None and status is idle.status:
        return Finding(status, its_rule, idle.evidence, onset)
    if worst is None:
        return Finding(status, its_rule, _without_rows(group), onset)
    if status is Status.OK:
        return Finding(status, its_rule, _calm(total, worst) + (f"; {missing}" if missing else ""))
    about = Finding(status, its_rule, _SENTENCES[status](worst), onset)
    if status is Status.UNKNOWN and group.problems:
        return replace(about, evidence=group.problems[0].cause, onset=_last_read(group, worst))
    if about_group(status, total, affected):
        why = f"{idle.evidence}; " if idle is not None and idle.status is Status.NO_PARTITIONS else ""
        return replace(about, evidence=why + _of_all(group, status, total, affected, worst))
    others = f"; the worst of {plural(affected, 'partition')}" if affected > 1 else ""
    if others and status is Status.LOST and total.lost_records is not None:
        others += f", which lost {plural(total.lost_records, 'record')} in total"
    return replace(about, evidence=about.evidence + others)


def too_early(row: RowFacts) -> Finding:
    """The finding about a group that is ok so far; `row` is its partition with the highest lag."""
    seen = f"too early after {plural(row.samples, 'poll')} in {_watched(row)}"
    needed = f"a verdict needs {row.rules.trend_samples} in {duration(row.rules.min_s)}"
    if row.samples >= row.rules.trend_samples and row.now_ms - row.first_ms >= 1000 * row.rules.min_s:
        needed = f"the {row.terms.offset} has not moved yet, and {_usually(row)}"
    evidence = f"{seen}: {needed}; {plural(row.lag, 'record')} behind on {row.tp}"
    return Finding(Status.UNKNOWN, "too early for a verdict", evidence)


def _usually(row: RowFacts) -> str:
    if row.usual_ms == UNKNOWN:
        return "how long it usually takes is not known"
    return f"it usually moves within {duration(row.usual_ms / 1000)}"


def _last_read(group: GroupSnapshot, row: RowFacts) -> Onset | None:
    """When a group from an earlier poll was last read."""
    return Onset(group.at_ms, True, OnsetSource.WINDOW) if group.at_ms < row.now_ms else None


def about_group(status: Status, total: LagTotal, affected: int) -> bool:
    """Whether the finding is about the whole group, not about its worst partition."""
    if status is Status.NEVER_COMMITTED:
        return total.known == 0 and affected == total.partitions
    return status in {Status.STOPPED, Status.NO_PARTITIONS, Status.NO_MEMBERS, Status.OK}


def _polls(row: RowFacts) -> str:
    """Like "in 12 of 12 polls (2 min)" or "in the last 5 of 12 polls (40 s)"."""
    run, samples = row.run_samples, row.samples
    time = duration((row.now_ms - row.run_since_ms) / 1000)
    return f"in {'' if run == samples else 'the last '}{run} of {samples} polls ({time})"


def _watched(row: RowFacts) -> str:
    return duration((row.now_ms - row.first_ms) / 1000)


def _arrived(row: RowFacts) -> str:
    arrived, waiting = row.arrived, row.lag
    if arrived:
        return f"while {plural(arrived, 'record')} arrived on {row.tp}"
    return f"while {plural(waiting, 'record')} waited on {row.tp} and none arrived"


def _unmoved(row: RowFacts) -> str:
    return f"{row.terms.offset} unchanged at {row.committed:,} {_polls(row)} {_arrived(row)}"


def _lost(row: RowFacts) -> str:
    committed, start = row.committed, row.log_start
    lost = plural(start - committed, "record")
    return (
        f"{row.terms.offset} {committed:,} is below the log start {start:,} of {row.tp}: {lost} deleted before being "
        "read"
    )


def _beyond_end(row: RowFacts) -> str:
    committed, end = row.committed, row.log_end
    return (
        f"{row.terms.offset} {committed:,} is {plural(committed - end, 'record')} beyond the log end {end:,} of "
        f"{row.tp}: the topic was recreated or truncated afterwards"
    )


def _rewound(row: RowFacts) -> str:
    committed, peak = row.committed, row.peak
    return (
        f"{row.terms.offset} of {row.tp} went back from {peak:,} within the last {_watched(row)} and is at "
        f"{committed:,}: {plural(peak - committed, 'record')} to be {row.terms.done} again"
    )


def _changed(row: RowFacts) -> str:
    early, late = row.early, row.late
    return (
        f"lag on {row.tp} {'grew' if late > early else 'shrank'} from {early:,.0f} to {late:,.0f} records in "
        f"{_watched(row)} (medians of the first and last third of {plural(row.samples, 'poll')}), "
        f"{row.lag:,} now: {row.produce:,.1f} records/s arrive, "
        f"{row.consume:,.1f} are {row.terms.done}"
    )


def _never_committed(row: RowFacts) -> str:
    start, end = row.log_start, row.log_end
    if UNKNOWN in (start, end):
        return f"no {row.terms.offset} on {row.tp}, whose log could not be read"
    records = plural(end - start, "record")
    return f"no {row.terms.offset} on {row.tp}, which has offsets {start:,} to {end:,} ({records})"


def _unusual(row: RowFacts) -> str:
    if row.committed == UNKNOWN:
        return f"{_never_committed(row)}: it is new, and {_usually(row)}"
    if not row.watched:
        return f"lag on {row.tp} rose to {plural(row.lag, 'record')} with the last poll"
    silent = duration(row.silent_ms / 1000)
    return f"{row.terms.offset} {row.committed:,} of {row.tp} unchanged for {silent} {_arrived(row)}; {_usually(row)}"


def _held(row: RowFacts) -> str:
    stable, end = row.last_stable, row.log_end
    where = f"{stable:,} of {row.tp} is {plural(end - stable, 'record')} below the log end {end:,}"
    if stable == UNKNOWN:
        where = f"of {row.tp} was below the log end, and could not be read at the last poll"
    return (
        f"last stable offset {where}: an open transaction holds back read_committed consumers; {row.terms.offset} "
        f"{row.committed:,} unchanged {_polls(row)}"
    )


def _waits(row: RowFacts) -> str:
    if row.committed == UNKNOWN:
        wait = f"{plural(row.log_end - row.log_start, 'record')} wait on {row.tp}, which has no {row.terms.offset}"
    else:
        wait = f"{plural(row.lag, 'record')} wait on {row.tp}"
    return f"{wait}, and the group has no members"


def _deleted(row: RowFacts) -> str:
    committed = row.committed
    return f"{_gone(row)} no longer exists; " + (
        f"the group has no {row.terms.offset} on {row.tp}"
        if committed == UNKNOWN
        else f"the {row.terms.offset} {committed:,} on {row.tp} remains"
    )


def _gone(row: RowFacts) -> str:
    return f"partition {row.tp.partition} of topic {row.tp.topic}" if row.topic_exists else f"topic {row.tp.topic}"


def _unknown(row: RowFacts) -> str:
    problem = PROBLEM_CODES[row.problem]
    return _REASONS.get(problem, "the offsets of {tp} are not known").format(tp=row.tp)


def _ok(row: RowFacts) -> str:
    if row.committed == UNKNOWN:
        return f"no {row.terms.offset} on {row.tp}, and no records"
    unit = "offset" if row.remainder == MARKERS_ONLY else "record"
    return f"{plural(row.lag, unit)} behind on {row.tp}; {_why_ok(row)}"


def _why_ok(row: RowFacts) -> str:
    if row.lag <= row.rules.lag_floor:
        return f"{row.terms.offset} {row.committed:,}"
    if row.remainder == MARKERS_ONLY:
        return (
            f"only transaction markers or aborted records are left between {row.terms.offset} {row.committed:,} and "
            f"log end {row.log_end:,}: a read_committed consumer reads none of them"
        )
    if row.quiet:
        return f"{_unmoved(row)}: possibly only a transaction marker"
    if row.samples < row.rules.min_samples:
        return f"{row.samples} of {row.rules.min_samples} polls needed for a verdict"
    return f"no rule fired in {plural(row.samples, 'poll')}"


_QUIET = {Status.STOPPED, Status.STALLED, Status.HELD}

_SENTENCES: dict[Status, Callable[[RowFacts], str]] = {
    Status.LOST: _lost,
    Status.STOPPED: lambda row: f"{_unmoved(row)}; no other {row.terms.offset} of the group moved",
    Status.STALLED: lambda row: f"{_unmoved(row)}; other {row.terms.offset}s of the group moved",
    Status.BEYOND_END: _beyond_end,
    Status.REWOUND: _rewound,
    Status.FALLING_BEHIND: _changed,
    Status.NEVER_COMMITTED: _never_committed,
    Status.HELD: _held,
    Status.NO_MEMBERS: _waits,
    Status.WATCHING: _unusual,
    Status.CATCHING_UP: _changed,
    Status.TOPIC_DELETED: _deleted,
    Status.UNKNOWN: _unknown,
    Status.OK: _ok,
}


def _behind(total: LagTotal) -> str:
    coverage = f"(known for {total.known:,} of {total.partitions:,} partitions)"
    if total.records is None:
        return f"its lag is unknown {coverage}"
    return f"{plural(total.records, 'record')} behind {coverage}"


def _calm(total: LagTotal, worst: RowFacts) -> str:
    """The evidence for OK, without the lag of the group, which pages show beside its verdict."""
    if total.records == 0:
        return f"no rule fired in {plural(worst.samples, 'poll')}"
    if total.records is None:
        return _ok(worst)
    return _why_ok(worst) if total.partitions == 1 else f"largest: {_ok(worst)}"


def _of_all(group: GroupSnapshot, status: Status, total: LagTotal, affected: int, worst: RowFacts) -> str:
    partitions = plural(affected, "partition")
    if status is Status.NEVER_COMMITTED:
        members = plural(len(group.members), "member")
        return f"{members}, and no {worst.terms.offset} on any of {partitions}; {_never_committed(worst)}"
    if status is Status.NO_MEMBERS:
        return f"the group is {group.state} and {_behind(total)}; largest: {_waits(worst)}"
    gone = "" if group.members else "the group has no members any more; "
    return f"{gone}no {worst.terms.offset} of the group moved, and it is {_behind(total)}; {_unmoved(worst)}"


def _without_rows(group: GroupSnapshot) -> str:
    if group.problems:
        return group.problems[0].cause
    if not is_read(group):
        return "the partitions of the group could not be read"
    members = plural(len(group.members), "member")
    offset = offset_terms(group.type).offset
    return f"the group has {members} and no partitions: nothing is assigned, and there is no {offset}"


def no_time_lag(seconds: float | None, at_least_s: float | None, absent: str) -> str | None:
    """Why there is no time lag; `absent` if there is no lower bound either."""
    if seconds is not None:
        return None
    if at_least_s is None:
        return absent
    if at_least_s == 0:
        return "one poll so far, two are needed"
    return f"the record is older than the first poll, {duration(at_least_s)} ago"


def no_position(status: Status, total: LagTotal, worst: RowFacts | None) -> str:
    """Why a group has no time lag."""
    if worst is None:
        return "the group has no partitions"
    if status is Status.OK and not total.known:
        return _ok(worst)
    return "the remaining offsets may be transaction markers only" if total.known else no_offset(worst.terms)
