"""What the Group page says beyond the verdict: where the commits live, and advice that follows from live facts."""

from collections.abc import Mapping

from app.ui import formats, verdicts
from app.ui.headlines import predicate
from app.views.group.tables import GroupView
from assignors.advice import Finding, advise_group
from assignors.offsets_partition import DEFAULT_PARTITIONS, OFFSETS_TOPIC, offsets_partition
from lag.generations.explanation import Why
from lag.generations.recorded import Timeouts
from lag.model import ClusterSnapshot, GroupType, Member
from lag.verdict.health import NEVER, GroupHealth, Status

NOT_TOLD = Timeouts(None, None)
_SHARING = (GroupType.CLASSIC, GroupType.CONSUMER)
"""Types whose members each have partitions of their own."""


def home(view: GroupView, snapshot: ClusterSnapshot) -> str:
    """ "Its commits live in `__consumer_offsets-12`, led by broker 2."; says so where the number of 50 is assumed."""
    topic = snapshot.topics.get(OFFSETS_TOPIC)
    count = topic.partitions if topic else 0
    where = offsets_partition(view.group.group_id, count or DEFAULT_PARTITIONS)
    coordinator = view.group.coordinator
    led = "whose leader is not known" if coordinator is None else f"led by broker {coordinator}"
    assumed = "" if count else f", if that topic has {DEFAULT_PARTITIONS} partitions (the default; it cannot be seen)"
    what = "state lives" if view.group.type is GroupType.SHARE else "commits live"
    return f"Its {what} in {formats.code(f'{OFFSETS_TOPIC}-{where}')}, {led}{assumed}."


def now_and_fresh(found: Why) -> str:
    """What a rebalance now would move, and what would stay if members had forgotten what they own; "" if not known."""
    said = []
    if found.moves_now is not None:
        said.append(
            f"a rebalance now would move {found.moves_now:,} of {formats.plural(found.partitions, 'partition')}"
        )
    if found.stay_if_fresh is not None:
        said.append(f"if nobody said what it owns, {found.stay_if_fresh:,} would stay")
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def advice(view: GroupView, timeouts: Mapping[str, Timeouts]) -> list[Finding]:
    """Findings that follow from what is known of a group that is at rest; none while it rebalances or is incomplete.

    Live facts are the members, their instance ids and the partitions, and the timeouts that members joined with, where
    the records of all of them were read. What else members are configured with is not known.
    """
    group = view.group
    at_rest = group.complete and group.state.lower() == "stable"
    if not at_rest or group.type not in _SHARING or not view.lags:
        return []
    told = timeouts if all(its.member_id in timeouts for its in group.members) else {}
    known = {its.member_id: _known(its, told.get(its.member_id, NOT_TOLD)) for its in group.members}
    return advise_group(known, len(view.lags))


def _known(member: Member, timeouts: Timeouts) -> dict[str, str]:
    """The member's settings, as far as they are known."""
    known = {
        "group.instance.id": member.instance_id,
        "session.timeout.ms": timeouts.session_ms,
        "max.poll.interval.ms": timeouts.rebalance_ms,
    }
    return {name: str(value) for name, value in known.items() if value is not None}


def headline(view: GroupView) -> str:
    """The Group page's headline; names member and partitions when one member holds all the trouble."""
    name, finding = formats.code(view.group.group_id), view.health.finding
    affected = view.partitions_with(finding.status)
    owners = {row.member_id for row in view.lags if row.tp in set(affected)}
    topics = {tp.topic for tp in affected}
    if finding.status == Status.STALLED and len(owners) == 1 and len(topics) == 1 and (owner := owners.pop()):
        which = f"partition{'s' if len(affected) > 1 else ''} {formats.listing([tp.partition for tp in affected])}"
        since = f" for {formats.duration((view.group.at_ms - finding.since_ms) / 1000)}" if finding.since_ms else ""
        return f"{name} is stuck: {formats.code(view.names.get(owner, owner))} has not committed {which}{since}"
    return f"{name} {predicate(view.health, view.group.at_ms)}"


def facts(view: GroupView) -> str:
    """The line of numbers under the headline, each with its coverage."""
    group, lag = view.group, view.health.lag
    idle = len(view.idle_members())
    known = formats.coverage(lag.known, lag.partitions)
    parts = [
        f"{formats.plural(lag.records, 'record')} behind, known for {known}"
        if lag.records is not None
        else f"lag not known for any of {formats.plural(lag.partitions, 'partition')}"
        if lag.partitions
        else "no partitions",
        f"{formats.plural(lag.lost_records, 'record')} lost" if lag.lost_records else "",
        _when(view.health) if lag.records else "",
        _oldest(view.health) if lag.records else "",
        formats.plural(len(group.members), "member") + (f", {idle} idle" if idle else ""),
        group.state or "state unknown",
        verdicts.TYPES[group.type] + (f", {formats.md(group.assignor)}" if group.assignor else ""),
        f"epoch {group.epoch}" if group.epoch is not None else "",
        "coordinator unknown" if group.coordinator is None else f"coordinator broker {group.coordinator}",
    ]
    return " · ".join(part for part in parts if part)


def _oldest(health: GroupHealth) -> str:
    if health.time_lag.seconds is not None:
        return f"oldest record {formats.duration(health.time_lag.seconds)} old"
    if health.time_lag.at_least_s:
        return f"oldest record over {formats.duration(health.time_lag.at_least_s)} old"
    return ""


def _when(health: GroupHealth) -> str:
    if health.drain_s is None:
        return "drain time not known"
    return (
        "drains never" if health.drain_s == NEVER else f"drains in {formats.drain(health.drain_s, health.lag.records)}"
    )
