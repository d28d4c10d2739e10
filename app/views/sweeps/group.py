"""The Sweeps page of one group: its cases as a heat map, as a frontier and as a table."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from app.ui import formats, link_values, state, widgets
from app.ui.table_limits import MAX_ROWS
from app.ui.widgets import Column
from app.views.sweeps import charts, tables, text
from app.views.sweeps import state as state_sweeps
from app.views.sweeps.tables import Measure
from lag.sweeps.gains import records

MAX_MAP_ROWS = 24
"""More do not fit on a screen."""


def picker(frame: pd.DataFrame, group_id: str) -> None:
    """Back to all groups, or to another group."""
    widgets.plain_button("All groups", "arrow_back", "all_groups", state.set_url, "group", None)
    ids = list(frame["group_id"].head(MAX_ROWS))
    widgets.picker("Group", ids, group_id, "sweep_group", partial(state.set_url, "group"), width=260)


def one_group(row: dict[str, Any], every: pd.DataFrame) -> None:
    """Heat map and frontier of one group, and all its cases."""
    if every.empty:  # the headline says so
        return
    failures = [key for key in text.FAILURES if (every["failure"] == key).any()]
    failure = _pills("failure", failures, text.FAILURES.__getitem__, "none")
    cells = every[every["failure"] == failure]
    if cells["reason"].notna().all():
        st.markdown(f":gray[No case is possible: {formats.md(cells['reason'].mode()[0])}]")
        _cases(cells)
        return
    now = None if failure != "none" else (row["assignor"], row["members"])
    left, right = st.columns([0.62, 0.38], gap="medium")
    with left, st.container(gap="xxsmall"):
        _map(cells, row["members"], now)
    with right, st.container(gap="xxsmall"):
        _frontier(cells, row if now else None)
    _cases(cells)


def _pills(key: str, options: list[str], label: Callable[[str], str], default: str) -> str:
    """One of several options, in the URL under `key`; not drawn if there is only one."""
    chosen = link_values.one_of(key, options) or (default if default in options else options[0])
    if len(options) > 1:
        widgets.segments(key, options, chosen, f"sweep_{key}", partial(state.set_url, key), format_func=label)
    return chosen


def _map(cells: pd.DataFrame, members: int, now: tuple[str, int] | None) -> None:
    known = [one.key for one in tables.MEASURES if cells[one.key].notna().any()] or ["moved"]
    has_now = now is not None and bool(((cells["assignor"] == now[0]) & (cells["members"] == now[1])).any())
    framed = "; framed: now" if has_now else ""
    widgets.titled("Members × assignor", f":gray[click a cell to open it in What if{framed}]")
    measure = tables.BY_KEY[_pills("measure", known, lambda key: tables.BY_KEY[key].label, "hot_share")]
    grid = tables.grid(cells[cells["members"].isin(_shown_members(cells, members))], measure)
    say, brief = partial(text.value, measure), partial(text.brief, measure)
    colours = state.palette()
    fig = charts.heat_map(grid, say, brief, now, colours)
    key, alt = f"sweep_map_{measure.key}", text.map_alt(cells, measure)
    picked = widgets.chart(fig, key, alt, on_select="rerun", selection_mode="points")
    unit = ", in %" if measure.is_share else ""
    widgets.note(f"{measure.help}{unit}. {'Brighter' if colours.is_dark else 'Darker'} is more.")
    _follow_click(picked, cells)


def _shown_members(cells: pd.DataFrame, members: int) -> list[int]:
    """At most MAX_MAP_ROWS member counts: those in the URL, else those around the present number."""
    every = sorted(set(cells["members"]))
    pages = {str(every[at]): every[at : at + MAX_MAP_ROWS] for at in range(0, len(every), MAX_MAP_ROWS)}
    if len(pages) == 1:
        return every
    around = next((key for key, page in reversed(pages.items()) if page[0] <= members), next(iter(pages)))
    chosen = link_values.one_of("members", pages) or around
    widgets.picker(
        "Members",
        list(pages),
        chosen,
        "sweep_members",
        partial(state.set_url, "members"),
        format_func=lambda key: f"{pages[key][0]:,} to {pages[key][-1]:,} members",
        width=220,
    )
    return pages[chosen]


def _follow_click(picked: Any, cells: pd.DataFrame) -> None:
    points = picked["selection"]["points"] if picked else []
    if points and (place := points[0].get("customdata")):
        first = cells.iloc[0]
        state_sweeps.choose(first["group_id"], str(place[0]), int(place[1]), first["failure"])
        st.rerun()


def _frontier(cells: pd.DataFrame, row: dict[str, Any] | None) -> None:
    known = [key for key in tables.VALUES if cells[key].notna().any()] or ["hot_share"]
    widgets.titled("Effect of more members", ":gray[down and to the left is better]")
    measure = tables.BY_KEY[_pills("value", known, lambda key: tables.BY_KEY[key].label, "hot_share")]
    best = tables.frontier(cells, measure)
    say = partial(text.value, measure)
    now = None if row is None else _present_point(row, measure)
    steps = STEPS_S if measure.is_time else STEPS
    every = _points(tables.finite(cells, measure), measure)
    fig = charts.frontier(every, _points(best, measure), now, say, steps, state.palette())
    widgets.chart(fig, f"sweep_frontier_{measure.key}", text.frontier_alt(best, measure))
    colours = state.palette()
    marks = [("●", colours.gained, "best with this many members or fewer"), ("✖", colours.revoked, "now")]
    st.markdown(f":small[{widgets.swatches(marks if now else marks[:1])}]")


def _points(cells: pd.DataFrame, measure: Measure) -> list[charts.Point]:
    columns = (cells["assignor"], cells["members"].astype(int), cells[measure.key].astype(float))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _present_point(row: dict[str, Any], measure: Measure) -> charts.Point | None:
    value = row[measure.key]
    return (row["assignor"], row["members"], float(value)) if pd.notna(value) and value != float("inf") else None


STEPS = (0.05, 0.1, 0.2)
STEPS_S = (1, 10, 60, 300, 600, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400, 172_800, 604_800, 2_592_000)

CASES = {
    "members": Column("Members", 74),
    "moved": Column("Moves", 62),
    "stayed": Column("Stayed", 62),
    "paused": Column("Paused", 62),
    "rebalances": Column("Rebalances", 84),
    "idle": Column("Idle", 46),
    "spread": Column("Spread", 62),
    "busiest": Column("Busiest", 76),
    "who": Column("Busiest member", 150),
    "drains": Column("Drains in", 100),
    "racks": Column("Rack matches", 84),
    "why": Column("Reason", 260),
}
COUNTS = ("moved", "stayed", "paused", "rebalances", "idle", "spread")


def _cases(cells: pd.DataFrame) -> None:
    view = cells[["assignor", "members", *COUNTS]].astype(dict.fromkeys(COUNTS, "Int64"))
    view = view.assign(
        busiest=100 * cells["hot_share"].astype(float),
        who=cells["hot_member"],
        drains=cells["drain_s"].map(text.drains),
        racks=pd.Series(list(map(_racks, records(cells))), cells.index, dtype=object),
        why=cells["reason"].where(cells["reason"].notna(), cells["drain_reason"].where(cells["drain_s"].isna())),
    )
    widgets.titled_table("Every case", f":gray[{len(view):,}; a click opens it in What if]", "cases", view)
    shown = ["assignor", "members", *(name for name in list(CASES)[1:] if view[name].notna().any())]
    places = list(cells[["group_id", "assignor", "members", "failure"]].itertuples(index=False, name=None))
    own = {
        "assignor": widgets.opener(
            "\u2002Assignor", "open_case", 160, lambda: state_sweeps.choose(*places[st.session_state["open_case"].row])
        ),
        "busiest": st.column_config.NumberColumn("Busiest", format="%.1f %%", width=76),
    }
    widgets.table(
        view[shown],
        key="sweep_cases",
        most=12,
        alt=f"{formats.plural(len(view), 'case')}: assignor, members and result",
        columns=widgets.columns(view[shown], CASES) | own,
    )


def _racks(row: dict[str, Any]) -> str | None:
    return None if pd.isna(row["rack_hits"]) else f"{row['rack_hits']:.0f} of {row['rack_known']:.0f}"
