"""The History page of one group: the conclusion, its lag over time with rebalances, its hours, partitions, budgets."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.ui import formats, state, widgets
from app.ui.charts import lag
from app.ui.table_limits import MAX_ROWS
from app.views.history import charts, parts, tables, text
from app.views.history import state as state_history
from app.views.history.state import TROUBLE, Past
from lag.errors import HistoryError
from lag.history.results import DAY, HOUR, MINUTE, LagLine, PartitionPast, Place, Span, Verdicts
from lag.history.trouble_periods import Spell, spells

MOST_MARKS = 60
"""More would hide the line: then rebalances are marked by the hour, or by the day."""

MOST_OPTIONS = 5_000


def draw(past: Past, place: Place, span: Span, newest: datetime | None) -> None:
    """Everything about one group; what cannot be read is said in its place."""
    title = st.container(gap="xxsmall")
    tools = _controls(past, place, span)
    line, verdicts, found = _line(past, place, span), _verdicts(past, place, span), _partitions(past, place, span)
    mine = None if verdicts is None else spells(verdicts, TROUBLE)
    with title:
        st.header(text.group(place, line, verdicts, mine, parts.shown(span)), anchor=False)
        parts.status_line(past, span, newest, text.facts(line, found, verdicts))
    with tools:
        widgets.downloads("lag", lambda: tables.points(line))
    left, right = st.columns([0.56, 0.44], gap="medium")
    with left, st.container(gap="xxsmall"):
        _lag(place, line, verdicts, mine, span)
    with right, st.container(gap="xxsmall"):
        _time_lag(place, line, span)
    left, right = st.columns(2, gap="medium")
    with left, st.container(gap="xxsmall"):
        _hours(tables.hours(line, verdicts, span, TROUBLE), span)
    with right, st.container(gap="xxsmall"):
        _worst(tables.partitions(found))
    with st.container(gap="xxsmall"), parts.in_place():
        _burns(past, place, span)


# -- what is asked -----------------------------------------------------------------------------------------------------


def _line(past: Past, place: Place, span: Span) -> LagLine:
    try:
        return state_history.lag(past, place, span)
    except HistoryError as error:
        parts.refused(error)
        at_us = span.times(span.step)
        unknown = np.full(len(at_us), np.nan)
        return LagLine(at_us, unknown, unknown, np.zeros(len(at_us), np.int64), 0)


def _verdicts(past: Past, place: Place, span: Span) -> Verdicts | None:
    try:
        return state_history.verdicts(past, place.group_id, span)
    except HistoryError as error:
        parts.refused(error)
        return None


def _partitions(past: Past, place: Place, span: Span) -> Sequence[PartitionPast]:
    try:
        return state_history.partitions(past, place, span)
    except HistoryError as error:
        parts.refused(error)
        return []


# -- controls ----------------------------------------------------------------------------------------------------------


def _controls(past: Past, place: Place, span: Span) -> DeltaGenerator:
    """Which time, which group, topic and partition; what is left at the end of the line."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        parts.ranges(span)
        with parts.in_place():
            names = state_history.names(past, span)[:MOST_OPTIONS]
            _select("history_group", "Group", "All groups", names, place.group_id, None)
            _narrow(past, place, span)
        for label, icon, target in (("Group", "group", "group"), ("Generations", "timeline", "generations")):
            if st.button(label, icon=f":material/{icon}:", type="tertiary", key=f"history_to_{target}"):
                widgets.go(target, {"group": place.group_id})
        st.space("stretch")
        return st.container(horizontal=True, gap="small", width="content")


def _narrow(past: Past, place: Place, span: Span) -> None:
    topics = state_history.topics(past, place.group_id, span)
    whole = Place(place.group_id)
    _select("history_topic", "Topic", "All topics", topics, place.topic, whole)
    if place.topic is not None:
        numbers = [str(n) for n in state_history.numbers(past, place.group_id, place.topic, span)[:MOST_OPTIONS]]
        chosen = None if place.partition is None else str(place.partition)
        _select("history_partition", "Partition", "All partitions", numbers, chosen, replace(whole, topic=place.topic))


def _select(key: str, label: str, all_: str, options: Sequence[str], chosen: str | None, within: Place | None) -> None:
    """One of the options, or none: then what `within` names."""
    st.session_state[key] = chosen

    def changed() -> None:
        value = st.session_state[key]
        state_history.choose(within if value is None else _narrowed(key, value, within))

    st.selectbox(
        label,
        options if chosen is None or chosen in options else [chosen, *options],
        key=key,
        placeholder=all_,
        label_visibility="collapsed",
        width=220,
        on_change=changed,
    )


def _narrowed(key: str, value: str, within: Place | None) -> Place:
    if within is None:
        return Place(value)
    return replace(within, topic=value) if key == "history_topic" else replace(within, partition=int(value))


# -- pictures ----------------------------------------------------------------------------------------------------------


def _lag(place: Place, line: LagLine, verdicts: Verdicts | None, mine: Sequence[Spell] | None, span: Span) -> None:
    """The lag over time; rebalances on the same axis."""
    per = "by the minute" if span.step == MINUTE else "the highest minute of each hour"
    widgets.titled("Lag", f":gray[records behind, {per}]")
    known = int((~np.isnan(line.lag_records)).sum())
    if known < 2:
        st.markdown(f":gray[A line needs two points, {known} so far in this time.]")
        return
    marks, said = _marks(verdicts, span)
    times = [parts.local(at // 1000) for at in line.at_us.tolist()]
    notes = [_note(line, at, span) for at in range(len(times))]
    since = parts.local(mine[-1].since_us // 1000) if mine and mine[-1].goes_on else None
    fig = lag.over_time(times, line.lag_records, since, state.palette(), marks, charts.RECORDS, notes)
    alt = text.lag_alt(place, line, f"; {said}" if said else "", parts.shown(span).clock)
    st.plotly_chart(fig, theme=None, config=widgets.PLOTLY, key="history_lag", alt=alt)
    if said:
        st.markdown(f":small[{widgets.swatches([('▼', state.palette().gained, formats.md(said))])}]")


def _note(line: LagLine, at: int, span: Span) -> str:
    seen = int(line.known[at])
    part = "" if seen == line.partitions else f"<br>known for {formats.known_for(seen, line.partitions)}"
    return f"{parts.hover(int(line.at_us[at]), span.step)}{part}"


def _marks(verdicts: Verdicts | None, span: Span) -> tuple[list[lag.Mark], str]:
    """The rebalances of the span, by the minute if there are few; and how many there are."""
    if verdicts is None or not verdicts.rebalances.any():
        return [], ""
    length, at_us = _binned(verdicts)
    frame = pd.DataFrame({"at": at_us, "n": verdicts.rebalances, "joins": verdicts.joins, "leaves": verdicts.leaves})
    sums = frame[verdicts.rebalances > 0].groupby("at").sum()
    marks = [
        lag.Mark(parts.local(at // 1000), parts.local(at // 1000) + length, _mark(at, length, n, joins, leaves))
        for at, n, joins, leaves in sums.itertuples()
    ]
    total, last = int(verdicts.rebalances.sum()), int(verdicts.at_us[verdicts.rebalances > 0][-1])
    by = {MINUTE: "", HOUR: ", marked by the hour", DAY: ", marked by the day"}[length]
    return marks, f"{formats.plural(total, 'rebalance')}{by}; the last at {parts.shown(span).clock(last)}"


def _binned(verdicts: Verdicts) -> tuple[timedelta, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The shortest time by which there are not too many marks, and of each minute where its time begins."""
    for length in (MINUTE, HOUR, DAY):
        size = round(length.total_seconds() * 1e6)
        at_us = verdicts.at_us // size * size
        if len(np.unique(at_us[verdicts.rebalances > 0])) <= MOST_MARKS:
            break
    return length, at_us


def _mark(at_us: int, length: timedelta, n: int, joins: int, leaves: int) -> str:
    moved = [f"{joins:,} joined" if joins else "", f"{leaves:,} left" if leaves else ""]
    members = ", ".join(part for part in moved if part)
    return "<br>".join(part for part in (parts.hover(at_us, length), formats.plural(n, "rebalance"), members) if part)


def _time_lag(place: Place, line: LagLine, span: Span) -> None:
    widgets.titled("Time lag", ":gray[age of the oldest record not yet committed]")
    known = line.time_lag_s[~np.isnan(line.time_lag_s)]
    if len(known) < 2:
        st.markdown(":gray[Not known in this time: it is read off samples of the log's end, two hours back at most.]")
        return
    times = [parts.local(at // 1000) for at in line.at_us.tolist()]
    notes = [
        f"{parts.hover(at, span.step)}<br>{formats.duration(seconds)}"
        for at, seconds in zip(line.at_us.tolist(), line.time_lag_s.tolist(), strict=True)
    ]
    fig = lag.over_time(times, line.time_lag_s, None, state.palette(), (), charts.SECONDS, notes)
    alt = text.time_lag_alt(place, line)
    st.plotly_chart(fig, theme=None, config=widgets.PLOTLY, key="history_time_lag", alt=alt)


# -- tables ------------------------------------------------------------------------------------------------------------


def _hours(frame: pd.DataFrame, span: Span) -> None:
    """How often, cell by cell."""
    unit = parts.CELLS[span.cell]
    widgets.titled_table(
        f"By {unit}", ":gray[newest first, days of UTC]" if span.cell == DAY else ":gray[newest first]",
        "hours", tables.hours_export(frame),
    )  # fmt: skip
    judged = "rank" in frame
    begins = partial(parts.begins, length=span.cell)
    view = frame.assign(at=tables.local(frame["at_us"], begins), oldest=widgets.timedeltas(frame["time_lag_s"]))
    if judged:
        view["v"] = tables.labels(frame["rank"]).map(lambda label: [label], na_action="ignore")
        view["trouble"] = widgets.timedeltas(60 * frame["trouble_minutes"].astype("float"))
    c = st.column_config
    more = ["v", "trouble", "rebalances", "joins", "leaves"] if judged else []
    widgets.table(
        view[["at", "most_records", "oldest", *more]],
        key="history_hours",
        most=12,
        alt=f"{formats.plural(len(view), 'row')} by {unit}: most lag, oldest record, verdict, trouble, rebalances",
        columns={
            "at": c.DatetimeColumn("From", format="D MMM" if span.cell == DAY else "D MMM HH:mm", width=92),
            "most_records": widgets.integer("Most lag", 68, "Records"),
            "oldest": widgets.seconds_column("Oldest record", 88),
            "v": widgets.verdict_column(122, "Worst"),
            "trouble": widgets.seconds_column("In trouble", 76),
            "rebalances": widgets.integer("Rebalances", 80),
            "joins": widgets.integer("Joins", 48),
            "leaves": widgets.integer("Leaves", 54),
        },
    )
    if not judged:
        widgets.note("Verdicts and rebalances of this group are not computed yet.")


def _worst(frame: pd.DataFrame) -> None:
    """How bad, partition by partition."""
    shown = frame.head(MAX_ROWS)
    widgets.titled_table(
        "Partitions",
        f":gray[{formats.count(len(frame))}, most lag first]",
        "partitions",
        tables.partitions_export(frame),
    )
    if frame.empty:
        st.markdown(":gray[Nothing is rolled up of its partitions in this time.]")
        return
    bounded = list(map(_oldest, shown["time_lag_s"], shown["at_least_s"]))
    view = shown.assign(at=tables.local(shown["most_at_us"], parts.local), oldest=bounded)
    said = [name for name in ("lost_records", "rewinds", "owner_member") if _says(shown[name])]
    c = st.column_config
    widgets.table(
        view[["topic", "partition", "most_records", "at", "last_records", "oldest", *said]],
        key="history_partitions",
        most=12,
        alt=f"{formats.plural(len(view), 'partition')}, most lag first: when, lag at the end, oldest record",
        columns={
            "topic": c.TextColumn("Topic", width=130, pinned=True),
            "partition": c.NumberColumn("Partition", width=64),
            "most_records": widgets.integer("Most lag, records", 108),
            "at": c.DatetimeColumn("At", format="D MMM HH:mm", width=100),
            "last_records": widgets.integer("Lag at the end", 88),
            "oldest": c.TextColumn("Oldest record", width=100, alignment="right"),
            "lost_records": widgets.integer("Lost, records", 92, "Deleted before the group read them"),
            "rewinds": widgets.integer("Rewinds", 68, "How often the commit went back"),
            "owner_member": c.TextColumn("Owner at the end", width=130),
        },
    )
    if len(frame) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(frame):,} partitions. Choose a topic to see others.")


def _says(column: pd.Series) -> bool:
    """Whether it has anything but zeros and blanks."""
    return bool(column.notna().any() and (column.dropna() != 0).any())


def _oldest(seconds: float, at_least: float) -> str:
    if not np.isnan(at_least) and not seconds > at_least:
        return f"over {formats.duration(at_least)}"
    return formats.duration(seconds)


def _burns(past: Past, place: Place, span: Span) -> None:
    """How fast the error budget goes."""
    found = state_history.burns(past, span, place.group_id)
    if not found:
        widgets.titled("Error budget")
        st.markdown(":gray[No objective was evaluated for this group in this time.]")
        return
    frame = tables.burns(found)
    legend = ":gray[newest figures of each objective and window]"
    widgets.titled_table("Error budget", legend, "burn", tables.burns_export(frame))
    c = st.column_config
    words = [text.burn(one, span.until, parts.shown(span).clock) for one in found]
    view = frame.assign(
        at=tables.local(frame["at_us"], parts.local),
        window=widgets.timedeltas(frame["window_s"]),
        threshold=widgets.timedeltas(frame["threshold_s"]),
        said=words,
    )
    columns = ["objective", "target_percent", "threshold", "window", "burn", "said", "budget_left_percent"]
    widgets.table(
        view[[*columns, "bad_minutes", "unknown_minutes", "total_minutes", "at"]],
        key="history_burn",
        most=8,
        alt=f"Error budget of {place.group_id}: {words[0]} in the shortest window",
        columns={
            "objective": c.TextColumn("Objective", width=140, pinned=True),
            "target_percent": c.NumberColumn("Target", format="%.2f %%", width=80),
            "threshold": widgets.seconds_column("Time lag up to", 104),
            "window": widgets.seconds_column("Window", 80),
            "burn": c.NumberColumn(
                "Burn rate", format="%.2f", width=84, help="1: the budget is just used up at its end"
            ),
            "said": c.TextColumn("Which is", width=190),
            "budget_left_percent": c.NumberColumn("Budget left", format="%.1f %%", width=90),
            "bad_minutes": widgets.integer("Bad minutes", 92),
            "unknown_minutes": widgets.integer("Unknown", 76, "A minute without a known time lag is not a good one"),
            "total_minutes": widgets.integer("Of minutes", 84),
            "at": c.DatetimeColumn("As of", format="D MMM HH:mm", width=100, help="The end of the window"),
        },
    )
