"""What comes of the story: the lanes of all protocols over one time axis, and their sums as tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.charts.lanes import CLEAR
from app.ui.scenario import story_state as state_protocol
from app.ui.scenario.played import NAMES, Played
from app.ui.scenario.story_link import PROTOCOLS, Told
from app.views.labs.protocol import bars as lanes
from app.views.labs.protocol import charts, tables, text
from assignors.whatif.rebalance_protocol import RebalanceProtocol

BEFORE_MS = 2_000
"""How much of the time before the first event is shown at first."""
GLYPHS = {"": "■", ".": "░", "/": "▨", "x": "▩", "+": "▦", "\\": "▧", "-": "▤", "|": "▥"}


STATES = """
- joining: waits for its place in the group, and has nothing to lose
- rejoining: consumes what it keeps while the group rebalances
- paused: gave up what it had, and waits for the end of the rebalance
- idle: has its place, and no partition
- split: consumes what it has; no message passes between it and the coordinator
- stalled: does not poll; its heartbeats go on
- frozen: the whole process stands still
- zombie: consumes what is no longer its own
- down, failed: closed or dead; died of an error that Kafka's consumer throws
"""


def problems(found: Mapping[RebalanceProtocol, Played | str]) -> None:
    """What could not be played, what never came to rest, and who died of what."""
    for protocol, its in found.items():
        name = NAMES[protocol]
        if isinstance(its, str):
            widgets.line(":red", "error", f"{name} cannot play this story:", formats.md(its))
            continue
        if its.timeline.unsettled is not None:
            widgets.line(":orange", "all_inclusive", f"{name} never comes to rest:", formats.md(its.timeline.unsettled))
        for failure in its.timeline.failures[:3]:
            when = f"{failure.at_ms / 1000:g} s"
            widgets.line(":orange", "error", f"{name}: {formats.md(failure.member)} dies at {when}:", failure.error)


def window(its: Told, played: Sequence[Played]) -> tuple[int, int]:
    """The part of the time to show, in milliseconds, within the story."""
    first_ms = its.scenario.events[0].at_ms if its.scenario.events else 0
    adopted = any(member.owned for member in its.scenario.members)
    last_ms = max(line.timeline.end_ms for line in played)
    from_ms = max(0, first_ms - BEFORE_MS) if adopted else 0
    asked_from, asked_to = its.window
    start_ms = min(from_ms if asked_from is None else asked_from, last_ms - 1)
    return start_ms, max(start_ms + 1, min(last_ms if asked_to is None else asked_to, last_ms))


def picture(its: Told, played: Sequence[Played]) -> None:
    """All lanes, with the messages of one protocol if asked for."""
    if not played:
        return
    shown = window(its, played)
    of = next((line for line in played if line.protocol is its.messages), None)
    messages = charts.shown(of.timeline.messages, shown) if of else []
    _look(its, played, shown)
    if len(messages) > charts.MOST_ARROWS:
        messages = []
        widgets.note(f"More than {charts.MOST_ARROWS} messages: choose a shorter time to see them.")
    fig = charts.lanes(played, its.scenario.events, shown, messages, of, state.palette())
    st.plotly_chart(fig, theme=None, config=widgets.PLOTLY, key="protocol_lanes", alt=text.picture(played))
    widgets.note(formats.md(text.course(its.scenario.events)))
    st.markdown(f":small[{_legend(played, shown)}]", help=STATES)
    if lanes.left_out(played):
        widgets.note(
            f"Of each protocol the {lanes.MOST_MEMBERS} members and {lanes.MOST_LANES} partitions that wait longest "
            "are drawn; the table has all."
        )


def _look(its: Told, played: Sequence[Played], shown: tuple[int, int]) -> None:
    """Which part of the time, and whose messages."""
    end_ms = max(line.timeline.end_ms for line in played)
    st.session_state["protocol_window"] = (shown[0] / 1000, shown[1] / 1000)
    st.session_state["protocol_messages"] = its.messages
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
            on_change=_messages,
            help="Who sends what to whom, as arrows",
        )


def _window() -> None:
    start_s, end_s = st.session_state["protocol_window"]
    state_protocol.look(round(start_s * 1000), round(end_s * 1000))


def _messages() -> None:
    state_protocol.show_messages(st.session_state["protocol_messages"])


def _legend(played: Sequence[Played], shown: tuple[int, int]) -> str:
    seen = {
        bar.look
        for block in lanes.blocks(played)
        for bar in lanes.bars(block)
        if bar.start_ms < shown[1] and bar.end_ms > shown[0]
    }
    styles = {name: look for name, look in charts.looks(state.palette()).items() if name in seen - {lanes.STABLE}}
    return widgets.swatches((_glyph(look), _ink(look), name) for name, look in styles.items())


def _glyph(look: charts.Look) -> str:
    return "□" if not look.hatch and look.fill == CLEAR else GLYPHS[look.hatch]


def _ink(look: charts.Look) -> str:
    pale = {state.palette().kept_fill: state.palette().kept, CLEAR: look.ink}
    return pale.get(look.fill, look.fill)


def side_by_side(played: Sequence[Played]) -> None:
    """A row per protocol."""
    frame = tables.summary(played)
    widgets.titled_table("Side by side", ":gray[ms]", "protocols", frame)
    widgets.table(
        frame,
        key="protocols",
        alt="Per protocol: rebalances, partitions moved, how long members were paused and partitions down, and records "
        "processed twice or lost",
        columns={name: _column(name) for name in LOOKS} | {"assignor": None},  # it stands above the lanes
    )
    widgets.note(
        "Paused: a member gave up its partitions and waits. Down: no member of the group consumes a partition. "
        "Moved: how often a partition went from one member to another. Twice, lost: records, at the rates of the "
        "scenario, else 10 a second in each partition (assumed)."
    )


LOOKS: dict[str, tuple[str, int, str | None]] = {
    "protocol": ("Protocol", 96, None),
    "rebalances": ("Rebalances", 88, "How often the group became Stable at a new generation or epoch"),
    "moved": ("Moved", 60, None),
    "paused_max_ms": ("Paused, worst", 104, "The member that was paused longest, in all; ms"),
    "paused_sum_ms": ("Paused, sum", 96, "All members together; ms"),
    "down_max_ms": ("Down, worst", 96, "The partition without a consumer longest, in all; ms"),
    "down_sum_ms": ("Down, sum", 92, "All partitions together; ms"),
    "twice": ("Twice", 64, "Records processed again, with Kafka's auto-commit"),
    "lost": ("Lost", 56, "Records that nobody got: auto.offset.reset skips what came before a partition was found"),
}
"""Column -> label, width in pixels, what it counts."""


def _column(name: str) -> Any:
    label, width, help_ = LOOKS[name]
    if name == "protocol":
        return st.column_config.TextColumn(label, width=width, pinned=True)
    return widgets.integer(label, width, help_)


def waits(played: Sequence[Played]) -> None:
    """A row per member and partition."""
    frame = tables.waits(played)
    widgets.titled_table("Each member and partition", ":gray[ms]", "waits", frame)
    widgets.table(
        frame,
        key="waits",
        most=12,
        alt="How long each member was paused and each partition was down under each protocol, in milliseconds",
        columns={
            "what": st.column_config.TextColumn("", width=80),
            "name": st.column_config.TextColumn("Name", width=110, pinned=True),
            **{NAMES[its.protocol]: widgets.integer(NAMES[its.protocol], 96, "ms") for its in played},
        },
    )
