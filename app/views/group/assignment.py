"""The assignment of a group: who owns what, why, and advice."""

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.advice.findings import show_finding
from app.ui.charts import limits
from app.ui.groups import recordings
from app.views.group import charts, tables, text
from app.views.group.charts import letter_legend
from app.views.group.state import explanation
from app.views.group.view import GroupView, Tile
from lag.generations.explanation import Comparison, Explanation
from lag.model import GroupType
from lag.verdict.rules.no_partitions import assigns_partitions
from lag.verdict.status import Status

MAX_DIFFERENCES = 100
TITLE = "Assignment"
ICONS = {
    Comparison.SAME: (":green", "check_circle"),
    Comparison.DIFFERS: (":orange", "rule"),
    Comparison.CANNOT: (":gray", "help"),
}


def chart(view: GroupView) -> None:
    """Tiles, or counts where there are too many tiles."""
    lanes, colours = view.lanes(), state.palette()
    members, idle = len(view.group.members), len(view.idle_members())
    if not members:
        widgets.titled(TITLE)
        st.markdown(":gray[The group has no members.]")
        return
    if not assigns_partitions(view.group):
        widgets.titled(TITLE)
        st.markdown(":gray[Its members do not share partitions.]")
        return
    owned = sum(map(len, lanes.values()))
    if limits.assignment_tiles(len(lanes), owned, max(map(len, lanes.values()))):
        widgets.titled(TITLE, _legend(view))
        figure = charts.tiles(lanes, view.statuses(), text.idle_reason(view), colours)
    else:
        widgets.titled(TITLE, ":gray[partitions per member and topic]")
        figure = charts.matrix(lanes, colours)
    alt = f"{formats.plural(members, 'member')} own {formats.plural(owned, 'partition')}"
    alt += f", {idle} own{'s' if idle == 1 else ''} none" if idle else ""
    widgets.chart(figure, "owners", alt)


def _legend(view: GroupView) -> str:
    """The kinds of tiles, and the letters of topics."""
    tiles = [tile for lane in view.lanes().values() for tile in lane]
    kinds, styles = {kind for _, kind in tiles}, charts.styles(state.palette())
    looks: list[Tile | Status] = [kind for kind in charts.WORDS if kind in kinds]
    looks += view.troubles() if Tile.BAD in kinds else []
    shown = [(styles[look], charts.word(look)) for look in looks]
    legend = widgets.swatches(("□" if s.outline else "■", s.outline or s.fill, word) for s, word in shown)
    is_share = view.group.type == GroupType.SHARE
    shared = "\u2003:gray[share group: members can read the same partition]" if is_share else ""
    return f"{legend}\u2003{letter_legend(sorted({tp.topic for tp, _ in tiles}))}{shared}"


def explain(page: state.Shown, view: GroupView) -> None:
    """Whether the group's assignor gives this assignment; if not, where it differs and why."""
    found = explanation(page, view.group.group_id)
    if found is None or not view.group.members:
        return
    colour, icon = ICONS[found.verdict]
    widgets.line(colour, icon, "Why this assignment", formats.md(found.sentence))
    for note in (*found.reasons, text.rebalance_now(found, view.group.type)):
        widgets.note(formats.md(note))
    if found.differences:
        _differences(found, view)


def _differences(found: Explanation, view: GroupView) -> None:
    frame = tables.differences(found.differences[:MAX_DIFFERENCES], view.names)
    c = st.column_config
    widgets.table(
        frame,
        key="differences",
        most=6,
        alt="Partitions with a different owner than the assignor computes: actual and computed owner",
        columns={
            "topic": c.TextColumn("Topic", width=140),
            "partition": c.NumberColumn("Partition", width=72),
            "actual": c.TextColumn("Owner", width=140),
            "computed": c.TextColumn("Computed owner", width=150, help="The owner that the assignor would choose now"),
        },
    )
    if len(found.differences) > len(frame):
        widgets.note(f"The first {len(frame)} of {formats.plural(len(found.differences), 'difference')}.")


def advice(page: state.Shown, view: GroupView) -> None:
    """Advice on the members, their partitions, and the timeouts they joined with."""
    recording = recordings.recording(page, view.group.group_id)
    findings = text.advice(view, {} if recording is None else recording.timeouts)
    if findings:
        widgets.titled("Advice")
    for finding in findings:
        show_finding(finding, "now")
