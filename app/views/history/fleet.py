"""The History page of all groups: which of them were in trouble, and when."""

from datetime import datetime

import pandas as pd
import streamlit as st

from app.ui import downloads, formats, state, widgets
from app.ui.cluster_history import ClusterHistory
from app.ui.table_limits import MAX_ROWS
from app.views.history import charts, parts, tables, text
from app.views.history import state as state_history
from app.views.history.state import TROUBLE
from lag.history import frames
from lag.history.queries import HistoryQueries
from lag.history.span import DAY, Scope, Span
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY, Status

NOT_COMPUTED = "Verdicts are not computed yet. `groupscope pipeline rollup` computes them from recorded group events."


def draw(history: ClusterHistory, span: Span, newest: datetime | None) -> None:
    """Conclusion, map of groups and times, table of groups."""
    title = st.container(gap="xxsmall")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        parts.range_controls(span)
        filter_text = widgets.text_filter("Group", "history_q")
        st.space("stretch")
        tools = st.container(horizontal=True, gap="small", width="content")
    cells, lags = frames.empty(frames.HEALTH_CELLS), frames.empty(frames.GROUP_LAGS)
    with parts.show_errors():
        cells = state_history.ask(history, HistoryQueries.health_cells, span, TROUBLE)
    with parts.show_errors():
        lags = state_history.ask(history, HistoryQueries.group_lags, span)
    if others := tuple(sorted(set(cells["group_id"]) - set(lags["group_id"]))):
        with parts.show_errors():
            polled = state_history.ask(history, HistoryQueries.polled_group_lags, span, others)
            lags = frames.join_days([lags, polled])
    frame = tables.fleet(cells, lags)
    with title:
        st.title(text.fleet(frame, parts.shown_time(span), parts.has_errors()), anchor=False)
        parts.status_line(history, span, newest, text.fleet_facts(frame, span))
    rows = widgets.containing(frame, filter_text, "group")
    _map(rows, cells, span)
    _table(rows.head(MAX_ROWS))
    if len(rows) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(rows):,} groups. Filter to see others.")
    with tools:
        downloads.buttons("history", lambda: tables.fleet_export(rows))


def _map(rows: pd.DataFrame, cells: pd.DataFrame, span: Span) -> None:
    """Groups x times, the worst groups on top."""
    drawn = list(rows["group"].head(charts.MAX_GROUPS))
    unit = parts.CELLS[span.cell] + (" (UTC)" if span.cell == DAY else "")
    more = f", the {len(drawn)} worst of {len(rows):,}" if len(rows) > len(drawn) else ""
    with st.container(gap="xxsmall"):
        widgets.titled("Health", f":gray[groups by {unit}, the worst verdict of each{more}]")
        if cells.empty:
            st.markdown(f":gray[{NOT_COMPUTED}]")
            return
        tiles = _tiles(drawn, cells, span)
        local = state.local()
        columns = {at: parts.cell_start(at // 1000, span.cell, local) for at in span.times(span.cell).tolist()}
        troubled = rows["trouble_minutes"].fillna(0) > 0
        alt = text.health_alt(len(rows), int(troubled.sum()), drawn[0] if drawn else "")
        fig = charts.health(tiles, columns, span.cell, state.palette())
        widgets.chart(fig, "health", alt)
        seen = {tile.worst for row in tiles.values() for tile in row.values()}
        st.markdown(f":small[{widgets.verdict_legend(seen)}]")


def _tiles(drawn: list[str], cells: pd.DataFrame, span: Span) -> dict[str, dict[int, charts.Tile]]:
    """By group and start of the cell in microseconds; cells without a known status are missing."""
    tiles: dict[str, dict[int, charts.Tile]] = {name: {} for name in drawn}
    drawn_cells = cells[cells["group_id"].isin(drawn) & cells["rank"].notna()]
    local = state.local()
    for group, at_us, rank, _, trouble, rebalances, _ in drawn_cells.itertuples(index=False):
        worst, at = URGENCY[rank], parts.hover_time(at_us, span.cell, local)
        tiles[group][at_us] = charts.Tile(worst, _hover(worst, trouble, rebalances, at))
    return tiles


def _hover(worst: Status, trouble_minutes: int, rebalances: int, at: str) -> str:
    trouble = f" · in trouble for {formats.duration(60 * trouble_minutes)}" if trouble_minutes else ""
    rebalanced = f" · {formats.plural(rebalances, 'rebalance')}" if rebalances else ""
    return f"{at}<br>{VERDICTS[worst].label}{trouble}{rebalanced}"


def _table(rows: pd.DataFrame) -> None:
    if rows.empty:
        st.markdown(":gray[No group matches this filter, or none had lag in this time range.]")
        return
    view = rows.assign(
        v=widgets.as_tags(tables.labels(rows["rank"])),
        trouble=widgets.timedeltas(60 * rows["trouble_minutes"].astype("float")),
        oldest=widgets.timedeltas(rows["time_lag_s"]),
        most_at=tables.local(rows["most_at_us"], state.local()),
    )
    names = list(rows["group"])
    c = st.column_config
    widgets.table(
        view[["group", "v", "trouble", "most_records", "most_at", "last_records", "oldest", "rebalances"]],
        key="history_groups",
        most=22,
        alt=f"{formats.plural(len(view), 'group')}, longest in trouble first: worst verdict, highest lag, rebalances",
        columns={
            "group": widgets.opener(
                "Group",
                "open_history",
                160,
                lambda: state_history.set_scope(Scope(names[st.session_state["open_history"].row])),
            ),
            "v": widgets.verdict_column(116, label="Worst"),
            "trouble": widgets.seconds_column("In trouble", 84, "Minutes with a verdict that needs attention"),
            "most_records": widgets.integer("Highest lag, records", 130, "The highest of any minute, over all topics"),
            "most_at": c.DatetimeColumn("At", format="D MMM HH:mm", width=100),
            "last_records": widgets.integer("Lag at the end", 104),
            "oldest": widgets.seconds_column(
                "Oldest record",
                110,
                "The longest time lag: the age of a record that was not committed, or a lower bound",
            ),
            "rebalances": widgets.integer("Rebalances", 84),
        },
    )
