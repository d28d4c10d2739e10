"""The sentences of the Overview, as Markdown."""

from datetime import tzinfo

from app.ui import formats
from app.ui.group_table import GroupTable
from app.ui.groups.headlines import SOURCES, drain_time, growth, predicate
from lag.model import ClusterSnapshot
from lag.verdict.health import GroupHealth, Health
from lag.verdict.status import Status
from lag.verdict.window.rates import NEVER


def headline(snapshot: ClusterSnapshot, health: Health, table: GroupTable, zone: tzinfo) -> str:
    """ "3 of 42 groups need attention: `billing` has not committed since 20:14:05 (14 min 3 s)"."""
    visible = table.frame[~table.frame["hidden"]]
    total, urgent = len(visible), table.attention
    if not total:
        return "No consumer group yet"
    if urgent.empty:
        unknown = int((visible["status"] == Status.UNKNOWN.value).sum())
        fine = f"No group needs attention: {formats.plural(total, 'group')}"
        return f"{fine}, {unknown} of them unknown" if unknown else fine
    name = str(urgent.iloc[0]["group"])
    number = snapshot.by_group[name]
    what = predicate(health.groups[number], snapshot.groups[number].type, snapshot.at_ms, zone)
    verb = "group needs" if len(urgent) == 1 else "groups need"
    of = f" of {total:,}" if total > 1 else ""
    return f"{len(urgent):,}{of} {verb} attention: {formats.code(name)} {what}"


def second_sentence(snapshot: ClusterSnapshot, health: Health, table: GroupTable) -> str:
    """The lag of the most urgent group and where its onset was read; empty when no group needs attention."""
    urgent = table.attention
    if urgent.empty:
        return ""
    its = health.groups[snapshot.by_group[str(urgent.iloc[0]["group"])]]
    onset = its.finding.onset
    source = "" if onset is None else f"The time comes {SOURCES[onset.source]}."
    return f"{lag_of(its)} {source}".strip()


def lag_of(health: GroupHealth) -> str:
    """How far the group is behind, on how many partitions, and whether that grows."""
    lag = health.lag
    if lag.records is None:
        return "Its lag is not known." if lag.partitions else ""
    n = health.unhealthy.get(health.finding.status, 0)
    where = f" on {n:,} of {formats.plural(lag.partitions, 'partition')}" if n and n != lag.partitions else ""
    grows = growth(health)
    if grows:
        end = ", so it never drains" if health.drain_s == NEVER else ""
        return f"It is {formats.plural(lag.records, 'record')} behind, and its lag grows{grows}{where}{end}."
    if not lag.records:
        return f"It has no lag{where}."
    end = ", and its lag does not drain" if health.drain_s == NEVER else drain_time(health)
    return f"It is {formats.plural(lag.records, 'record')} behind{where}{end}."
