"""The History page of one group: the conclusion, then its charts and tables."""

from dataclasses import replace
from datetime import datetime

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.ui import downloads, required_report, widgets
from app.ui.cluster_history import ClusterHistory
from app.ui.table_limits import MAX_OPTIONS
from app.views.history import group_charts, group_tables, parts, tables, text
from app.views.history import state as state_history
from app.views.history.state import TROUBLE, ask
from lag.history import frames
from lag.history.queries import HistoryQueries
from lag.history.span import Scope, Span
from lag.history.trouble_periods import TroublePeriod, trouble_periods, with_onset


def draw(history: ClusterHistory, scope: Scope, span: Span, newest: datetime | None) -> None:
    """The whole page; an error is shown in place of what it concerns."""
    title = st.container(gap="xxsmall")
    tools = _controls(history, scope, span)
    series = frames.lag(span, frames.empty(frames.LAG))
    health, partitions = frames.empty(frames.HEALTH), frames.empty(frames.PARTITIONS)
    with parts.show_errors():
        series = ask(history, HistoryQueries.lag, scope, span)
    with parts.show_errors():
        health = ask(history, HistoryQueries.health_series, scope.group_id, span)
    with parts.show_errors():
        partitions = ask(history, HistoryQueries.partitions, scope, span)
    periods = _periods(health, scope, span)
    with title:
        st.title(text.group(scope, series, health, periods, parts.shown_time(span)), anchor=False)
        parts.status_line(history, span, newest, text.facts(series, partitions, health))
    with tools:
        downloads.buttons("lag", lambda: tables.points(series))
    left, right = st.columns([0.56, 0.44], gap="medium")
    with left, st.container(gap="xxsmall"):
        group_charts.lag(scope, series, health, periods, span)
    with right, st.container(gap="xxsmall"):
        group_charts.time_lag(scope, series, span)
    with st.container(gap="xxsmall"):
        group_tables.cells(tables.cells(series, health, span, TROUBLE), span)
    with st.container(gap="xxsmall"):
        group_tables.partitions(partitions)
    with st.container(gap="xxsmall"), parts.show_errors():
        group_tables.burn_rates(ask(history, HistoryQueries.burn_rates, span, scope.group_id), scope, span)


def _periods(health: pd.DataFrame, scope: Scope, span: Span) -> list[TroublePeriod] | None:
    """The periods of trouble; the one that goes on has the onset of the live verdict, as on the other pages."""
    periods = trouble_periods(health, TROUBLE, span.until)
    live = required_report.require_report().report.health.group(scope.group_id)
    if periods is None or live is None or state_history.until() is not None:
        return periods
    return with_onset(periods, live.finding)


def _controls(history: ClusterHistory, scope: Scope, span: Span) -> DeltaGenerator:
    """Range, group, topic and partition, links; returns the container at the end of the line."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        parts.range_controls(span)
        with parts.show_errors():
            group_ids = state_history.group_ids(history, span)[:MAX_OPTIONS]
            _select("history_group", "Group", "All groups", group_ids, scope.group_id, None)
            _select_topic(history, scope, span)
        its = {"group": scope.group_id}
        for label, icon, page in (("Group", "group", "group"), ("Generations", "timeline", "generations")):
            widgets.page_button(label, page, lambda: its, icon=f":material/{icon}:", key=f"history_to_{page}")
        st.space("stretch")
        return st.container(horizontal=True, gap="small", width="content")


def _select_topic(history: ClusterHistory, scope: Scope, span: Span) -> None:
    group = Scope(scope.group_id)
    topics = ask(history, HistoryQueries.topics, scope.group_id, span)
    _select("history_topic", "Topic", "All topics", topics, scope.topic, group)
    if scope.topic is not None:
        numbers = ask(history, HistoryQueries.partition_numbers, scope.group_id, scope.topic, span)[:MAX_OPTIONS]
        chosen, topic = None if scope.partition is None else str(scope.partition), replace(group, topic=scope.topic)
        _select("history_partition", "Partition", "All partitions", [str(n) for n in numbers], chosen, topic)


def _select(key: str, label: str, all_: str, options: list[str], chosen: str | None, within: Scope | None) -> None:
    """A select box; when it is cleared the page shows `within`."""

    def choose(value: str | None) -> None:
        state_history.set_scope(within if value is None else _narrowed(key, value, within))

    widgets.picker(label, options, chosen, key, choose, placeholder=all_, width=220)


def _narrowed(key: str, value: str, within: Scope | None) -> Scope:
    if within is None:
        return Scope(value)
    return replace(within, topic=value) if key == "history_topic" else replace(within, partition=int(value))
