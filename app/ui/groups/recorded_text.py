"""Sentences on the generations of a live group: how they are known, when they were, how long they took."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from html import escape

from app.ui import formats
from app.ui.charts.base import clip
from assignors.model import Member
from assignors.whatif.rebalance_protocol import is_classic, protocol_of
from lag.generations.cause_kind import CauseKind, cause_kinds
from lag.generations.recorded import (
    MemberState,
    Origin,
    ReconciliationStep,
    RecordedGeneration,
    Recording,
)

MAX_HOVER_LENGTH = 90
BADGES = {
    Origin.RECORDED: ":green-badge[:material/history: Recorded]",
    Origin.INFERRED: ":blue-badge[:material/visibility: Inferred]",
}
SIMULATED = ":gray-badge[:material/function: Simulated]"
ORIGINS = {
    Origin.RECORDED: "recorded in `__consumer_offsets`",
    Origin.INFERRED: "inferred from polls, which miss what happens in between",
}


def rebalances(recording: Recording) -> Sequence[RecordedGeneration]:
    """All generations but the first, which is the starting point."""
    return recording.generations[1:]


def facts(generations: Sequence[RecordedGeneration], at: int, zone: tzinfo, now_ms: int) -> str:
    """When generation `at` was, and how long it took: "10:31:05 · took 3.1 s in 4 steps"."""
    one = generations[at]
    parts = [formats.clock_and_day(one.generation.at_ms, now_ms, zone)]
    if at:
        parts += filter(None, (duration(one, is_last=at == len(generations) - 1), _skipped(one)))
    return " · ".join(parts)


def duration(one: RecordedGeneration, *, is_last: bool) -> str:
    """How long it took, if known."""
    if one.began_ms is None or not one.generation.quality.rebalances:
        return ""
    if is_classic(protocol_of(one.generation.assignor)):
        return _planned(one)
    if one.settled_ms is None:
        return "not finished yet" if is_last else "replaced by the next one before all members reached it"
    steps = f" in {formats.plural(len(one.steps), 'step')}" if one.steps else ""
    return f"took {formats.brief(one.settled_ms - one.began_ms)}{steps}"


def _planned(one: RecordedGeneration) -> str:
    """The first record of a classic group is written when all members have joined."""
    if one.settled_ms is None or one.began_ms is None or not one.generation.members:
        return ""
    took = formats.brief(max(0, one.settled_ms - one.began_ms))
    joined = CauseKind.JOINED in cause_kinds(one.generation.event)
    who = "the last member had joined" if joined else "all members had rejoined"
    return f"assigned {took} after {who} (how long the group waited for them is not recorded)"


def departures(generations: Sequence[RecordedGeneration], at: int, names: Mapping[str, str]) -> str:
    """How long the partitions of members that are gone had no consumer before the rebalance, if they timed out.

    "" if no member is gone whose timeouts are recorded.
    """
    one = generations[at].generation
    if not at or not one.quality.rebalances:
        return ""
    back = {member.instance_id for member in one.members} - {None}
    present = {member.member_id for member in one.members}
    by_session: dict[int | None, list[Member]] = {}
    for member in generations[at - 1].generation.members:
        timeouts = generations[at].departed.get(member.member_id)
        if timeouts is not None and member.member_id not in present and member.instance_id not in back:
            by_session.setdefault(timeouts.session_ms, []).append(member)
    return "; ".join(_departure(session_ms, gone, names) for session_ms, gone in by_session.items())


def _departure(session_ms: int | None, gone: Sequence[Member], names: Mapping[str, str]) -> str:
    first, partitions = names.get(gone[0].member_id, gone[0].member_id), sum(len(member.owned) for member in gone)
    who, whose = (first, "its") if len(gone) == 1 else (f"{first} and {len(gone) - 1:,} more", "their")
    timeout = "the group's session timeout" if session_ms is None else formats.duration(session_ms / 1000)
    note = "" if session_ms is None else "session timeout; "
    return (
        f"If {who} timed out, {whose} {formats.plural(partitions, 'partition')} had no consumer for up to {timeout} "
        f"before the rebalance ({note}{whose} last heartbeat is not recorded)"
    )


def _skipped(one: RecordedGeneration) -> str:
    if not one.skipped:
        return ""
    word = "generation" if is_classic(protocol_of(one.generation.assignor)) else "epoch"
    return f"{formats.plural(one.skipped, word)} before it had no assignment"


def hover(one: RecordedGeneration, how: Origin, names: Mapping[str, str], is_last: bool) -> str:
    """One rebalance on a time axis: "Generation 7: c3 left"; how long it took; how it is known."""
    event = " ".join(names.get(word, word) for word in one.generation.event.split(" "))
    lines = [f"Generation {one.generation.number}: {event}", duration(one, is_last=is_last), how.value]
    return "<br>".join(escape(clip(line, MAX_HOVER_LENGTH), quote=False) for line in lines if line)


def summary(rebalances: Sequence[RecordedGeneration], how: Origin, zone: tzinfo) -> str:
    """ "2 rebalances, recorded; the last at 10:31:05: c3 left"."""
    last = rebalances[-1].generation
    count = f"{formats.plural(len(rebalances), 'rebalance')}, {how}"
    when = f"{'the last ' if len(rebalances) > 1 else ''}at {formats.clock(last.at_ms, zone)}"
    return f"{count}; {when}: {clip(last.event, MAX_HOVER_LENGTH)}"


def step(one: ReconciliationStep) -> str:
    """What a member did in a step of the reconciliation."""
    has = f"has {formats.plural(one.partitions, 'partition')}"
    match one.state:
        case MemberState.UNREVOKED:
            return f"{has}, revokes {one.leaving:,}"
        case MemberState.UNRELEASED:
            return f"{has}, waits for partitions of other members"
        case MemberState.STABLE:
            return has
    return f"{has}, state unknown"
