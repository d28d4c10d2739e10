"""The sentences of the Group page, and advice from live facts."""

from collections.abc import Mapping
from datetime import tzinfo

from app.ui import formats, verdicts
from app.ui.groups.headlines import SAYS_LAG, predicate, since
from app.views.group.view import GroupView
from assignors.advice import Finding, advise_group
from assignors.offsets_partition import DEFAULT_PARTITIONS, OFFSETS_TOPIC, offsets_partition
from lag.generations.explanation import Explanation
from lag.generations.recorded import Timeouts
from lag.model import ClusterSnapshot, GroupType, Member
from lag.verdict.health import GroupHealth
from lag.verdict.status import Status
from lag.verdict.window.rates import NEVER

UNKNOWN_TIMEOUTS = Timeouts(None, None)
_EXCLUSIVE = (GroupType.CLASSIC, GroupType.CONSUMER)
"""Types in which a partition has one owner."""


def offsets_location(view: GroupView, snapshot: ClusterSnapshot) -> str:
    """ "Its offsets are in `__consumer_offsets-12`, led by broker 2."; with a note if 50 partitions are assumed."""
    topic = snapshot.topics.get(OFFSETS_TOPIC)
    count = topic.partitions if topic else 0
    where = offsets_partition(view.group.group_id, count or DEFAULT_PARTITIONS)
    coordinator = view.group.coordinator
    led = "whose leader is unknown" if coordinator is None else f"led by broker {coordinator}"
    assumed = "" if count else f" (for {DEFAULT_PARTITIONS} partitions, the default; the topic is not visible)"
    what = "group metadata is" if view.group.type is GroupType.SHARE else "offsets are"
    return f"Its {what} in {formats.code(f'{OFFSETS_TOPIC}-{where}')}, {led}{assumed}."


def rebalance_now(found: Explanation, type_: GroupType) -> str:
    """How many partitions a rebalance now would move, and how many would stay without claims; "" if unknown.

    Members of a share group claim nothing.
    """
    partitions = formats.plural(found.partitions, "partition")
    sentences = []
    if found.moves_now is not None:
        also = f" and assign {found.assigns_now:,} that have no owner" if found.assigns_now else ""
        sentences.append(f"A rebalance now would move {found.moves_now:,} of {partitions}{also}.")
    if found.stay_if_fresh is not None and type_ is not GroupType.SHARE:
        stay = f"{found.stay_if_fresh:,} would keep their owner"
        sentences.append(f"If all members rejoined without claiming their partitions, {stay}.")
    return " ".join(sentences)


def not_read(view: GroupView) -> str:
    """ "Its members, assignment and partitions are not known: not authorised to describe it." """
    why = "; ".join(problem.cause for problem in view.group.problems)
    return f"Its members, assignment and partitions are not known{why and f': {formats.md(why)}'}."


def idle_reason(view: GroupView) -> str:
    """Why a member has no partition."""
    if view.group.type is not GroupType.SHARE and len(view.group.members) > len(view.lags):
        return f"{formats.plural(len(view.group.members), 'member')}, {formats.plural(len(view.lags), 'partition')}"
    return "no partition"


def advice(view: GroupView, timeouts: Mapping[str, Timeouts]) -> list[Finding]:
    """Findings about a stable group of which everything is known; else none.

    The known settings are the members' instance ids, and the timeouts they joined with if those of all are recorded.
    """
    group = view.group
    is_stable = group.complete and group.state.lower() == "stable"
    if not is_stable or group.type not in _EXCLUSIVE or not view.lags:
        return []
    known = timeouts if all(m.member_id in timeouts for m in group.members) else {}
    settings = {m.member_id: _settings(m, known.get(m.member_id, UNKNOWN_TIMEOUTS)) for m in group.members}
    return advise_group(settings, len(view.lags))


def _settings(member: Member, timeouts: Timeouts) -> dict[str, str]:
    """The known settings of a member."""
    known = {
        "group.instance.id": member.instance_id,
        "session.timeout.ms": timeouts.session_ms,
        "max.poll.interval.ms": timeouts.rebalance_ms,
    }
    return {name: str(value) for name, value in known.items() if value is not None}


def headline(view: GroupView, zone: tzinfo) -> str:
    """The headline; with member and partitions if one member owns all stalled partitions."""
    name, finding = formats.code(view.group.group_id), view.health.finding
    affected = view.partitions_with(finding.status)
    owners = {row.member_id for row in view.lags if row.tp in set(affected)}
    topics = {tp.topic for tp in affected}
    if finding.status == Status.STALLED and len(owners) == 1 and len(topics) == 1 and (owner := owners.pop()):
        which = f"partition{'s' if len(affected) > 1 else ''} {formats.listing([tp.partition for tp in affected])}"
        when = since(finding.onset, view.group.at_ms, zone)
        comma = "," if when else ""
        return f"{name} is stuck: {formats.code(view.names.get(owner, owner))} has not committed {which}{comma}{when}"
    return f"{name} {predicate(view.health, view.group.type, view.group.at_ms, zone)}"


def facts(view: GroupView) -> str:
    """The line of numbers under the headline, each with its coverage."""
    group, lag = view.group, view.health.lag
    idle = len(view.idle_members())
    waits = lag.records and not view.health.is_markers_only
    known = formats.coverage(lag.known, lag.partitions)
    if view.health.finding.status in SAYS_LAG and lag.records:
        behind = f"lag known for {known}"
    elif lag.records is not None and lag.partitions:
        behind = f"{formats.plural(lag.records, 'record')} behind, known for {known}"
    else:
        behind = f"lag not known for any of {formats.plural(lag.partitions, 'partition')}" if lag.partitions else ""
    members = formats.plural(len(group.members), "member") + (f", {idle} idle" if idle else "")
    parts = [
        behind or ("no partitions" if view.is_read else "lag unknown"),
        f"{formats.plural(lag.lost_records, 'record')} lost" if lag.lost_records else "",
        _when(view.health) if waits else "",
        _oldest(view.health) if waits else "",
        members if view.is_read or group.has_no_members else "members unknown",
        group.state or "state unknown",
        verdicts.TYPES[group.type] + (f", {formats.md(group.assignor)}" if group.assignor else ""),
        f"epoch {group.epoch}" if group.epoch is not None else "",
        "coordinator unknown" if group.coordinator is None else f"coordinator: broker {group.coordinator}",
    ]
    return formats.joined(*parts)


def _oldest(health: GroupHealth) -> str:
    if health.time_lag.seconds is not None:
        return f"oldest record {formats.duration(health.time_lag.seconds)} old"
    if health.time_lag.at_least_s:
        return f"oldest record more than {formats.duration(health.time_lag.at_least_s)} old"
    return ""


def _when(health: GroupHealth) -> str:
    if health.drain_s == NEVER:
        return "never drains"
    when = formats.drain(health.drain_s, health.lag.records)
    return "drain time unknown" if when is None else f"drains in {when}"
