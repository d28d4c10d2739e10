"""The result of the story: the lanes of all protocols over one time axis, and their sums as tables."""

from collections.abc import Mapping, Sequence

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.charts.lanes import CLEAR
from app.ui.scenario.played import NAMES, Played
from app.ui.scenario.story_link import PROTOCOLS, ProtocolStory
from app.ui.scenario.story_state import LAB
from app.ui.widgets import Column
from app.views.labs.protocol import bars as lanes
from app.views.labs.protocol import charts, tables, text
from assignors.whatif.rebalance_protocol import RebalanceProtocol

BEFORE_MS = 2_000
"""How much time before the first event is shown by default."""
GLYPHS = {"": "■", ".": "░", "/": "▨", "x": "▩", "+": "▦", "\\": "▧", "-": "▤", "|": "▥"}

STATES = """
- joining: waits for its first assignment
- rejoining: keeps consuming its partitions while the group rebalances
- paused: has given up its partitions and waits for the end of the rebalance
- idle: is a member without partitions
- split: consumes its partitions, but cannot reach the coordinator
- stalled: does not poll; its heartbeats continue
- frozen: the whole process is paused
- zombie: consumes partitions that belong to other members
- down: closed or dead; failed: stopped by an exception in Kafka's consumer
"""


def problems(found: Mapping[RebalanceProtocol, Played | str]) -> None:
    """Protocols that cannot play the story, groups that never become stable, and members that failed with an error."""
    for protocol, its in found.items():
        name = NAMES[protocol]
        if isinstance(its, str):
            widgets.line(":red", "error", f"{name} cannot play this story:", formats.md(its))
            continue
        if its.timeline.unsettled is not None:
            widgets.line(
                ":orange", "all_inclusive", f"{name} never becomes stable:", formats.md(its.timeline.unsettled)
            )
        for failure in its.timeline.failures[:3]:
            when = f"{failure.at_ms / 1000:g} s"
            widgets.line(":orange", "error", f"{name}: {formats.md(failure.member)} dies at {when}:", failure.error)


def window(story: ProtocolStory, played: Sequence[Played]) -> tuple[int, int]:
    """The time range to show, in milliseconds."""
    first_ms = story.scenario.events[0].at_ms if story.scenario.events else 0
    adopted = any(member.owned for member in story.scenario.members)
    last_ms = max(line.timeline.end_ms for line in played)
    default_ms = max(0, first_ms - BEFORE_MS) if adopted else 0
    start_ms = min(default_ms if story.from_ms is None else story.from_ms, last_ms - 1)
    return start_ms, max(start_ms + 1, min(last_ms if story.to_ms is None else story.to_ms, last_ms))


def picture(story: ProtocolStory, played: Sequence[Played]) -> None:
    """All lanes, with the messages of one protocol if asked for."""
    if not played:
        return
    shown = window(story, played)
    of = next((line for line in played if line.protocol is story.messages), None)
    messages = charts.shown(of.timeline.messages, shown) if of else []
    _look(story, played, shown)
    if len(messages) > charts.MOST_ARROWS:
        messages = []
        widgets.note(f"More than {charts.MOST_ARROWS} messages: choose a shorter time range to see them.")
    fig = charts.lanes(played, story.scenario.events, shown, messages, of, state.palette())
    widgets.chart(fig, "protocol_lanes", text.picture(played))
    widgets.note(formats.md(text.events(story.scenario.events)))
    st.markdown(f":small[{_legend(played, shown)}]", help=STATES)
    if lanes.left_out(played):
        widgets.note(
            f"For each protocol, the {lanes.MOST_MEMBERS} members and {lanes.MOST_LANES} partitions that wait longest "
            "are drawn; the table lists all."
        )


def _look(story: ProtocolStory, played: Sequence[Played], shown: tuple[int, int]) -> None:
    """The time range, and the protocol whose messages are drawn."""
    end_ms = max(line.timeline.end_ms for line in played)
    st.session_state["protocol_window"] = (shown[0] / 1000, shown[1] / 1000)
    st.session_state["protocol_messages"] = story.messages
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.slider(
            "Time shown, in seconds",
            0.0,
            end_ms / 1000,
            step=0.1,
            format="%.1f",
            key="protocol_window",
            on_change=_window,
            width=420,
        )
        st.segmented_control(
            "Messages of",
            PROTOCOLS,
            key="protocol_messages",
            format_func=NAMES.__getitem__,
            on_change=lambda: LAB.change({"messages": st.session_state["protocol_messages"]}),
            help="Requests and responses as arrows",
        )


def _window() -> None:
    start_s, end_s = st.session_state["protocol_window"]
    LAB.change({"from": round(start_s * 1000), "to": round(end_s * 1000)})


def _legend(played: Sequence[Played], shown: tuple[int, int]) -> str:
    seen = {
        bar.look
        for block in lanes.blocks(played)
        for bar in lanes.bars(block)
        if bar.start_ms < shown[1] and bar.end_ms > shown[0]
    }
    styles = {name: look for name, look in charts.looks(state.palette()).items() if name in seen - {lanes.STABLE}}
    marks = []
    for name, look in styles.items():
        inks = {state.palette().kept_fill: state.palette().kept, CLEAR: look.ink}  # else too pale for a letter
        glyph = "□" if look.fill == CLEAR and not look.hatch else GLYPHS[look.hatch]
        marks.append((glyph, inks.get(look.fill, look.fill), name))
    return widgets.swatches(marks)


def side_by_side(played: Sequence[Played]) -> None:
    """A row per protocol."""
    frame = tables.summary(played)
    widgets.titled_table("Side by side", ":gray[ms]", "protocols", frame)
    widgets.table(
        frame,
        key="protocols",
        alt="Per protocol: rebalances, moves, pauses of members, downtime of partitions, and records "
        "processed twice or lost",
        columns=widgets.columns(frame, SUMMARY_COLUMNS) | {"assignor": None},  # shown in the picture
    )
    widgets.note(
        "Paused: a member has given up its partitions and waits. Down: no member of the group consumes the partition. "
        "Moves: how often a partition moved from one member to another. Twice, lost: records, at the rates of the "
        "scenario or an assumed 10 records/s per partition."
    )


SUMMARY_COLUMNS = {
    "protocol": Column("Protocol", 96),
    "rebalances": Column("Rebalances", 88, "How often the group became Stable with a new generation or epoch"),
    "moved": Column("Moves", 60),
    "paused_max_ms": Column("Paused, worst", 104, "The total pause of the member that was paused longest, ms"),
    "paused_sum_ms": Column("Paused, sum", 96, "All members together, ms"),
    "down_max_ms": Column("Down, worst", 96, "The total downtime of the partition that was down longest, ms"),
    "down_sum_ms": Column("Down, sum", 92, "All partitions together, ms"),
    "twice": Column("Twice", 64, "Records processed twice, with auto-commit"),
    "lost": Column(
        "Lost",
        56,
        "Records never consumed: auto.offset.reset=latest skips records produced before a new partition is assigned",
    ),
}


def waits(played: Sequence[Played]) -> None:
    """A row per member and partition."""
    frame = tables.waits(played)
    looks = {
        "what": Column("", 80),
        "name": Column("Name", 110),
        **{NAMES[its.protocol]: Column(NAMES[its.protocol], 96) for its in played},
    }
    widgets.titled_table("Each member and partition", ":gray[ms]", "waits", frame)
    widgets.table(
        frame,
        key="waits",
        most=12,
        alt="How long each member was paused and each partition was down under each protocol, in milliseconds",
        columns=widgets.columns(frame, looks, pinned="name"),
    )
