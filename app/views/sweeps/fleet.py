"""Which sweep is looked at, and what each of its groups would gain."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.server import source
from app.ui import formats, state, widgets
from app.ui.table_limits import MAX_ROWS
from app.views.sweeps import state as state_sweeps
from app.views.sweeps import tables
from app.views.sweeps import text as sentences_sweeps
from app.views.sweeps.state import Sweep
from app.views.sweeps.tables import Gain
from lag.errors import HistoryError

LABELS = {
    Gain.DRAINS: "Would drain",
    Gain.STUCK: "Never drains",
    Gain.ASSIGNOR: "Another assignor",
    Gain.FEWER: "Fewer members",
    Gain.NONE: "Nothing",
    Gain.UNKNOWN: "Not known",
}


def none_yet(root: str | None) -> None:
    """Without a sweep: what one says, and the one command that makes one."""
    st.header("Which assignor and how many members for my fleet?", anchor=False)
    st.markdown(
        "A sweep tries every assignor and number of members on every group of a cluster, and shows which groups would "
        "gain, and what it costs. Nothing is changed on the cluster. One command makes one:"
    )
    st.code(f"groupscope sweep --bootstrap-server {_servers()} --history {root or 'PATH'}", language="bash")
    if root is None:
        st.markdown("This dashboard keeps no history. Start it with: `groupscope serve --history PATH …`")
        return
    st.markdown(":gray[This page then shows it within 10 s. A snapshot's file or scenario files will do as well.]")
    st.button("Look again", icon=":material/refresh:", key="look_again", on_click=state_sweeps.clear)


@contextmanager
def readable(title: DeltaGenerator) -> Iterator[None]:
    """A history that cannot be read is said in the place of the title, and the page ends there."""
    try:
        yield
    except HistoryError as error:
        with title:
            st.header("The history cannot be read", anchor=False)
            widgets.line(":red", "error", formats.md(error.cause), formats.md(error.hint))
        st.stop()


def not_opened(error: Exception) -> None:
    """A case that was clicked, and cannot be opened."""
    widgets.line(":red", "error", "This case cannot be opened in What if", sentences_sweeps.refusal(error))


def _servers() -> str:
    """Where the chosen cluster is."""
    name = state.cluster()
    clusters = source.current().settings.clusters
    return next((its.bootstrap_servers for its in clusters if its.name == name), "HOST:9092")


def which(found: list[Sweep]) -> Sweep:
    """The sweep of the URL, else the newest; a picker where there are several."""
    by_id = {its.sweep_id: its for its in found}
    chosen = by_id.get(state.url("sweep") or "", found[0])
    if len(found) > 1:
        titles = {name: _title(its) for name, its in by_id.items()}
        st.session_state["sweep_pick"] = chosen.sweep_id
        st.selectbox(
            "Sweep",
            list(by_id),
            key="sweep_pick",
            format_func=titles.__getitem__,
            label_visibility="collapsed",
            width=360,
            on_change=lambda: state.set_url("sweep", st.session_state["sweep_pick"]),
        )
    return chosen


def _title(its: Sweep) -> str:
    at = formats.moment(_ms(its), state.zone())
    return f"{its.cluster}, {at:%Y-%m-%d %H:%M}, {formats.plural(its.cases, 'case')}"


def _ms(its: Sweep) -> int:
    return round(its.at.astimezone(UTC).timestamp() * 1000)


def about(its: Sweep, groups: int) -> None:
    """What the sweep covers, and how old it is."""
    covers = f"{formats.plural(its.cases, 'case')} of {formats.plural(groups, 'group')} of {formats.code(its.cluster)}"
    age = formats.age(_ms(its), state.now_ms())
    st.markdown(f":small[{covers} :gray[· {age} · sweep {formats.md(its.sweep_id)}]]", help=formats.utc(_ms(its)))
    asked = state.url("sweep")
    if asked is not None and asked != its.sweep_id:
        told = f"Sweep {formats.code(formats.cut(asked))} is not in this history"
        widgets.line(":orange", "search_off", told, "this is the newest one")


# -- the fleet ---------------------------------------------------------------------------------------------------------


def fleet(frame: pd.DataFrame) -> None:
    """Every group, most to gain first."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        rows = _filtered(frame)
        st.space("stretch")
        widgets.downloads("sweep", lambda: rows)
    _fleet_table(rows.head(MAX_ROWS))
    if len(rows) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(rows):,} groups. Filter to see others.")
    widgets.note(
        "Busiest: the largest share of a group's load on one member, by rate if known, otherwise by weight, lag or "
        f"partitions. Another assignor is recommended from {tables.LEAST_OFF:.0%} less; fewer members do "
        "as well when none of them has more than the busiest has now."
    )


def _filtered(frame: pd.DataFrame) -> pd.DataFrame:
    text = widgets.text_filter("Group", "sweep_q", 260)
    counts = frame["gain"].value_counts()
    there = [kind.value for kind in Gain if kind.value in counts.index]
    chosen = state.chips("Gain", there, lambda kind: f"{LABELS[Gain(kind)]} {counts[kind]:,}", "gain")
    rows = frame[frame["gain"].isin(chosen)] if chosen else frame
    return widgets.containing(rows, text, "group_id")


def _fleet_table(rows: pd.DataFrame) -> None:
    told = tables.records(rows)
    view = pd.DataFrame(
        {
            "group": rows["group_id"],
            "do": [sentences_sweeps.do(row) for row in told],
            "now": [f"{row['assignor']} × {row['members']:,}" for row in told],
            "busiest": 100 * rows["hot_share"].astype(float),
            "then": 100 * rows["to_share"].astype(float),
            "moved": rows["moved"].astype("Int64"),
            "idle": rows["idle"].astype("Int64"),
            "drains": rows["drain_s"].map(sentences_sweeps.drains),
            "partitions": rows["partitions"].astype("Int64"),
        }
    )
    c = st.column_config
    percent = partial(c.NumberColumn, format="%.1f %%", width=84)
    widgets.table(
        view,
        key="sweep_fleet",
        most=22,
        alt=f"{formats.plural(len(view), 'group')}: what each would gain, most to gain first",
        columns={
            "group": widgets.opener("Group", "open_sweep", 190, _open_group(list(rows["group_id"]))),
            "do": c.TextColumn("Recommendation", width=450),
            "now": c.TextColumn("Now", width=190, help="Assignor × members"),
            "busiest": percent("Busiest", help="Share of the load that the busiest member has now"),
            "then": percent("Then", help="The same, in the recommended case"),
            "moved": widgets.integer("Moved", 66, "Partitions that change owner to get there"),
            "idle": widgets.integer("Idle", 46, "Members without a partition now"),
            "drains": c.TextColumn("Drains in", width=100, help="Now; a dash where rates or lag are unknown"),
            "partitions": widgets.integer("Partitions", 84),
        },
    )


def _open_group(ids: list[str]) -> Callable[[], None]:
    """A click opens the group on this page."""
    st.session_state["_open_sweep_ids"] = ids
    return lambda: state.set_url("group", st.session_state["_open_sweep_ids"][st.session_state["open_sweep"].row])
