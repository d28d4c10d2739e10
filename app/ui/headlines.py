"""The conclusion of a page, in one sentence. Pure: health in, Markdown out; ids stand in monospace."""

import pandas as pd

from app.ui import formats, verdicts
from app.views.group.tables import GroupView
from app.views.overview.tables import Overview
from lag.model import ClusterSnapshot, Problem, Scope, Topic
from lag.verdict.health import NEVER, GroupHealth, Health, Status


def overview(snapshot: ClusterSnapshot, health: Health, table: Overview) -> str:
    """ "3 of 42 groups need attention: `billing` has not committed for 14 min 3 s"."""
    visible = table.frame[~table.frame["hidden"]]
    total, urgent = len(visible), table.attention
    if not total:
        return "No consumer group yet"
    if urgent.empty:
        unknown = int((visible["status"] == Status.UNKNOWN.value).sum())
        calm = f"No group needs attention: {formats.plural(total, 'group')}"
        return f"{calm}, {unknown} of them not known" if unknown else calm
    name = str(urgent.iloc[0]["group"])
    worst = health.groups[snapshot.by_group[name]]
    verb = "group needs" if len(urgent) == 1 else "groups need"
    of = f" of {total:,}" if total > 1 else ""
    return f"{len(urgent):,}{of} {verb} attention: {formats.code(name)} {predicate(worst, snapshot.at_ms)}"


def predicate(health: GroupHealth, now_ms: int) -> str:
    """What is the matter, to follow the group's name."""
    finding, lag = health.finding, health.lag
    for_ = f" for {formats.duration((now_ms - finding.since_ms) / 1000)}" if finding.since_ms else ""
    n = health.unhealthy.get(finding.status, 0)
    on = f" {n} of {lag.partitions}" if n and n != lag.partitions else " all" if n > 1 else " its"
    noun = "partitions" if lag.partitions > 1 else "partition"
    match finding.status:
        case Status.LOST:
            lost = formats.plural(lag.lost_records, "record") if lag.lost_records else "records"
            return f"lost {lost}: Kafka deleted them before they were read"
        case Status.STOPPED:
            return f"has lag and has not committed{for_}"
        case Status.STALLED:
            return f"is stuck: no commit on{on} {noun}{for_}"
        case Status.BEYOND_END:
            return f"is beyond the end of{on} {noun}: the topic was recreated or truncated"
        case Status.REWOUND:
            return f"went back on{on} {noun} and reads records again"
        case Status.FALLING_BEHIND:
            return f"falls behind{_growth(health)}"
        case Status.NEVER_COMMITTED:
            return f"has never committed{on} {noun}"
        case Status.HELD:
            return f"is held back by an open transaction{for_}"
        case Status.NO_MEMBERS:
            return f"has no members, {formats.plural(lag.records, 'record')} wait" if lag.records else "has no members"
        case Status.CATCHING_UP:
            return f"is catching up{_drains(health)}"
        case Status.TOPIC_DELETED:
            return "keeps commits for a deleted topic"
        case Status.UNKNOWN:
            return "is not known"
        case Status.OK:
            return "is OK" if not lag.records else f"is OK, {formats.plural(lag.records, 'record')} behind"


def _growth(health: GroupHealth) -> str:
    if health.produce_rate is None or health.consume_rate is None or health.produce_rate <= health.consume_rate:
        return ""
    return f" by {formats.rate(health.produce_rate - health.consume_rate)} records/s"


def _drains(health: GroupHealth) -> str:
    return "" if health.drain_s in (None, NEVER) else f", done in {formats.duration(health.drain_s)}"


def consequence(health: GroupHealth) -> str:
    """The second sentence: how far behind, which way it goes, how many partitions it concerns."""
    lag = health.lag
    if lag.records is None:
        return "Its lag is not known." if lag.partitions else ""
    n = health.unhealthy.get(health.finding.status, 0)
    where = f" on {n:,} of {formats.plural(lag.partitions, 'partition')}" if n and n != lag.partitions else ""
    growth = _growth(health)
    if growth:
        end = ", so it never drains" if health.drain_s == NEVER else ""
        return f"It is {formats.count(lag.records)} records behind, and the lag grows{growth}{where}{end}."
    if not lag.records:
        return f"No lag is measured{where}."
    end = ", and does not drain" if health.drain_s == NEVER else _drains(health)
    return f"It is {formats.plural(lag.records, 'record')} behind{where}{end}."


def group(view: GroupView) -> str:
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


_ICONS = {
    Scope.BROKER: "error",
    Scope.CLUSTER: "error",
    Scope.GROUP: "warning",
    Scope.TOPIC: "warning",
    Scope.PARTITION: "warning",
}


def problem_lines(snapshot: ClusterSnapshot, most: int = 5) -> list[tuple[str, str, str]]:
    """(icon, head, rest) per problem; topics without a leader are gathered with their names."""
    gathered: dict[tuple[str, Scope, str], list[Problem]] = {}
    for p in snapshot.problems:
        gathered.setdefault((p.kind, p.scope, "" if p.kind == "leaderless" else p.subject), []).append(p)
    lines = [_line(these) for these in gathered.values()]
    leaderless = [t for t in snapshot.topics.values() if t.leaderless]
    if leaderless and not any(p.kind == "leaderless" for p in snapshot.problems):
        n = sum(len(t.leaderless) for t in leaderless)
        names = ", ".join(formats.code(t.name) for t in leaderless[:3])
        lines.append(
            ("warning", f"{formats.plural(n, 'partition')} without a leader", f"in {names}: their lag is not known")
        )
    extra = len(lines) - most
    return lines if extra <= 0 else [*lines[:most], ("more_horiz", f"{extra} more", "see About")]


def _line(these: list[Problem]) -> tuple[str, str, str]:
    p = these[0]
    icon = "lock" if p.kind == "unauthorized" else _ICONS[p.scope]
    if p.scope in {Scope.BROKER, Scope.CLUSTER}:
        tail = f" ({formats.count(p.affected)} lags unknown)" if p.affected else ""
        return icon, formats.md(p.cause) + tail, formats.md(p.mend)
    names = ", ".join(formats.code(q.subject) for q in these[:3]) + (
        f" and {len(these) - 3} more" if len(these) > 3 else ""
    )
    return icon, _head(p, len(these)), f"{names}: {formats.md(p.mend)}" if p.mend else names


def _head(p: Problem, topics: int) -> str:
    """How many groups or topics have it, and what it is; `topics` are those without a leader, which come one by one."""
    number = topics if p.kind == "leaderless" else p.affected or 1
    counted = formats.plural(number, p.scope.value)
    if number > 1 and p.kind == "unauthorized":
        return f"Not authorised for {counted}"
    return f"{counted} leaderless" if topics > 1 else f"{counted}: {formats.md(p.cause)}"


def topics(frame: pd.DataFrame) -> str:
    """ "2 of 21 topics have partitions without a leader", or who is furthest behind where."""
    own = frame[~frame["internal"]]
    broken = own[own["leaderless"] > 0]
    if len(broken):
        verb = "topic has" if len(broken) == 1 else "topics have"
        name = formats.code(str(broken.iloc[0]["topic"]))
        return f"{len(broken)} of {len(own)} {verb} partitions without a leader: {name}"
    behind = own[own["worst_lag"].fillna(0) > 0].sort_values("worst_lag", ascending=False)
    if not len(own):
        return "No topic yet"
    if behind.empty:
        return f"{formats.plural(len(own), 'topic')}, and no group is behind on any"
    worst = behind.iloc[0]
    return (
        f"{formats.code(str(worst['worst_group']))} is furthest behind: {formats.count(worst['worst_lag'])} records "
        f"on {formats.code(str(worst['topic']))}"
    )


def topics_more(frame: pd.DataFrame) -> str:
    """How many are read, unread and deleted."""
    own = frame[~frame["internal"]]
    read, deleted = int((own["groups"] > 0).sum()), int((own["state"] == "○ Deleted").sum())
    gone = f", {deleted} of them deleted" if deleted else ""
    return f"{formats.plural(len(own), 'topic')}{gone}; {read} read by at least one group."


def losing(topic: str, soon: pd.DataFrame) -> str:
    """Who is about to lose records of the topic; the rows of `soon` stand in the order in which they do."""
    first, more = soon.iloc[0], len(soon) - 1
    others = f"; {formats.plural(more, 'more group')} within the hour" if more else ""
    who = formats.code(str(first["group"]))
    if first["lost"]:
        return f"{who} loses records of {topic}: Kafka deletes them before they are read{others}"
    word = "within" if pd.isna(first["left_s"]) else "in"
    when = f"{word} {formats.duration(first['within_s'])}" if first["within_s"] > 0 else "at any moment"
    return f"{who} is about to lose records of {topic}: deletion may reach its position {when}{others}"


def topic(name: str, its: Topic | None, readers: pd.DataFrame, soon: pd.DataFrame) -> str:
    """One topic's conclusion: gone, leaderless, unread, about to be deleted unread, or who is behind."""
    shown = formats.code(name)
    if its is None:
        left = f": {formats.plural(len(readers), 'group')} still keep commits for it" if len(readers) else ""
        return f"{shown} does not exist{left}"
    if its.leaderless:
        return f"{shown} has {formats.plural(len(its.leaderless), 'partition')} without a leader"
    if readers.empty:
        return f"No group reads {shown}"
    if not soon.empty:
        return losing(shown, soon)
    behind = readers[readers["lag"].fillna(0) > 0].sort_values("lag", ascending=False)
    read = f"{shown} is read by {formats.plural(len(readers), 'group')}"
    if behind.empty:
        return f"{read}, none behind"
    worst = behind.iloc[0]
    who = "it" if len(readers) == 1 else formats.code(str(worst["group"]))
    return f"{read}; {who} is {formats.plural(int(worst['lag']), 'record')} behind"
