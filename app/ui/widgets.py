"""What several pages share: actions, titles, pickers, tables and their columns, buttons that open a page."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd
import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from app.pages import BY_NAME
from app.ui import downloads, formats, state, verdicts
from app.ui.charts import names
from app.ui.fitting import hidden_note
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY, Status

ROW_PX = 28
PLOTLY = {"displayModeBar": False, "responsive": True}


def line(colour: str, icon: str, head: str, rest: str = "") -> None:
    """A problem on one line."""
    st.markdown(f":small[{colour}[:material/{icon}: {head}{':' if rest else ''}] {rest}]")


def actions(name: str, table: Callable[[], pd.DataFrame]) -> None:
    """Pause, CSV and JSON. The files hold all rows that pass the filters."""
    label, icon = ("Resume", "play_arrow") if state.paused() else ("Pause", "pause")
    help_ = "Keep this snapshot on screen; its age keeps counting"
    plain_button(label, icon, "pause", state.toggle_pause, help=help_)
    downloads.buttons(name, table)


def titled(title: str, legend: str = "") -> None:
    """A section title with its legend beside it, or below it on a phone."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(title, anchor=False, width="content")
        if legend:
            st.markdown(f":small[{legend}]", width="content")


def titled_table(title: str, legend: str, name: str, frame: pd.DataFrame) -> None:
    """A table's title with its legend, and its downloads at the right."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        titled(title, legend)
        st.space("stretch")
        downloads.buttons(name, lambda: frame)


NARROW_PX = 640
"""Streamlit stacks columns in narrower windows."""


def by_width(key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """A container for wide windows and one for narrow ones; only the browser knows its width, so it hides one."""
    names = f"{key}_wide", f"{key}_narrow"
    widths = f"max-width: {NARROW_PX}px", f"min-width: {NARROW_PX + 1}px"
    st.html(
        "<style>"
        + "".join(
            f"@media ({width}) {{ [data-testid=stLayoutWrapper]:has(> .st-key-{name}) {{ display: none }} }}"
            for name, width in zip(names, widths, strict=True)
        )
        + "</style>"
    )
    wide, narrow = (st.container(key=name, gap="xxsmall") for name in names)
    return wide, narrow


def row_count(shown: int, rows: int, what: str) -> None:
    """The note under a table that shows `shown` of `rows` rows: none passes the filters, or not all are shown."""
    if not rows:
        note(f"No {what} passes the filters.")
    elif rows > shown:
        note(f"The first {shown:,} of {rows:,} {what}s. Filter to see others; downloads contain all.")


def picker(
    label: str, options: list[str], chosen: str | None, key: str, choose: Callable[[Any], None], **more: Any
) -> None:
    """A select box that shows `chosen`, also if it is not among the options, and passes a new choice to `choose`."""
    st.session_state[key] = chosen
    st.selectbox(
        label,
        options if chosen is None or chosen in options else [chosen, *options],
        key=key,
        label_visibility="collapsed",
        on_change=lambda: choose(st.session_state[key]),
        **more,
    )


def segments(
    label: str, options: Iterable[str], chosen: str | None, key: str, choose: Callable[[Any], None], **more: Any
) -> None:
    """A segmented control that shows `chosen`, and passes a new choice (None: none) to `choose`."""
    st.session_state[key] = chosen
    st.segmented_control(
        label,
        list(options),
        key=key,
        label_visibility="collapsed",
        on_change=lambda: choose(st.session_state[key]),
        **more,
    )


def text_filter(label: str, key: str, width: int | Literal["stretch"] = 240, live: str = "150ms") -> str:
    """The text of a filter field, which is in the URL. `live` is the delay after a keystroke."""
    text = st.text_input(
        f"{label} contains",
        placeholder=f"{label}…",
        key=key,
        bind="query-params",
        type="search",
        live=live,
        label_visibility="collapsed",
        width=width,
    )
    return text or ""


def containing(frame: pd.DataFrame, text: str, *columns: str) -> pd.DataFrame:
    """The rows with that text in one of the columns, ignoring case."""
    if not text:
        return frame
    found = [frame[column].str.contains(text, case=False, regex=False, na=False) for column in columns]
    return frame[pd.concat(found, axis=1).any(axis=1)]


def swatches(entries: Iterable[tuple[str, str, str]]) -> str:
    """A legend of (glyph, colour, word)."""
    return "\u2003".join(
        f':color[{glyph}]{{foreground="{colour}"}}\u00a0:gray[{word}]' for glyph, colour, word in entries
    )


def verdict_legend(statuses: Collection[Status]) -> str:
    """A legend of verdicts, most urgent first: the symbol of each on its colour, as maps show it, and its word."""
    words = [(s, VERDICTS[s].word.replace(" ", verdicts.NO_BREAK)) for s in URGENCY if s in statuses]
    return "\u2003".join(f"{verdict_tile(s)}{verdicts.NO_BREAK}:gray[{word}]" for s, word in words)


def verdict_tile(status: Status) -> str:
    """The symbol of the verdict on its colour, as Markdown."""
    return verdicts.on_fill(VERDICTS[status].symbol, status, state.palette())


def verdict_badge(status: Status) -> str:
    """The verdict as a Markdown badge."""
    return verdicts.on_fill(VERDICTS[status].label, status, state.palette())


def table(
    frame: pd.DataFrame,
    key: str,
    alt: str,
    columns: Mapping[str, Any] | None = None,
    most: int = 20,
    placeholder: str = formats.DASH,
    width: Literal["stretch", "content"] = "stretch",
    shown: Sequence[str] | None = None,
) -> None:
    """A table with at most `most` rows visible at once; `alt` describes it for screen readers.

    `shown`: the columns that it shows, in this order; the others are in its column menu. None: all.
    """
    st.dataframe(
        frame,
        key=key,
        alt=alt,
        column_config=columns,
        column_order=shown,
        width=width,
        height=ROW_PX * (1 + min(most, max(1, len(frame)))) + 4,
        row_height=ROW_PX,
        hide_index=True,
        placeholder=placeholder,
    )
    if columns and shown and (hidden := hidden_note(columns, shown)):
        note(hidden)


class Column(NamedTuple):
    """How a column of text or whole numbers looks; `width` is in pixels, `help` its tooltip."""

    label: str
    width: int
    help: str | None = None


def columns(frame: pd.DataFrame, looks: Mapping[str, Column], pinned: str | None = None) -> dict[str, Any]:
    """The settings of a table's columns; `pinned` stays visible while the table scrolls, by default the first one."""
    pinned = next(iter(looks)) if pinned is None else pinned
    return {name: _column(frame[name], look, name == pinned) for name, look in looks.items() if name in frame}


def _column(values: pd.Series, look: Column, is_pinned: bool) -> Any:
    if pd.api.types.is_numeric_dtype(values):
        return integer(*look)
    return st.column_config.TextColumn(look.label, width=look.width, help=look.help, pinned=is_pinned)


def chart(figure: Figure, key: str, alt: str, **more: Any) -> Any:
    """A Plotly figure; `alt` describes it for screen readers. Returns what is selected in it, if `more` allows that."""
    return st.plotly_chart(names.as_text(figure), theme=None, config=PLOTLY, key=key, alt=alt, **more)


def opener(label: str, key: str, width: int, on_click: Callable[[], None]) -> Any:
    """A column of names to click; `st.session_state[key].row` is the row that was clicked."""
    return st.column_config.ButtonColumn(
        f"\u2002{label}", type="tertiary", key=key, alignment="left", pinned=True, width=width, on_click=on_click
    )


def as_tags(labels: pd.Series) -> pd.Series:
    """Verdict labels for a verdict column: lists of one; None and NaN stay."""
    return labels.map(lambda label: [label], na_action="ignore")


def verdict_column(width: int = 128, label: str = "Verdict", extra: Iterable[tuple[str, str]] = ()) -> Any:
    """Verdicts with symbol, word and colour."""
    colours = state.palette()
    options = [(VERDICTS[s].label, verdicts.tint(s, colours)) for s in URGENCY] + list(extra)
    return st.column_config.MultiselectColumn(
        label,
        options=[o for o, _ in options],
        color=[c for _, c in options],
        width=width,
        help="Sorts by urgency. “What the verdicts mean” below explains each verdict",
    )


def since_column(width: int = 132) -> Any:
    """The times when verdicts began, as `headlines.clocks` gives them."""
    return st.column_config.TextColumn(
        "Since", width=width, help="When the verdict began. “or earlier”: no available data reaches further back"
    )


def integer(label: str, width: int, help_: str | None = None) -> Any:
    """Whole numbers with the thousands separator of the viewer's language."""
    return st.column_config.NumberColumn(label, format="localized", width=width, help=help_)


PIN = "Puts the time range shown into the URL, so that the link shows the same data later"


def note(text: str) -> None:
    """A small grey remark under a table."""
    st.markdown(f":small[:gray[{text}]]")


def seconds_column(label: str, width: int, help_: str | None = None) -> Any:
    """Durations. The data is a timedelta, so the column sorts by duration."""
    return st.column_config.NumberColumn(label, format="localized", width=width, help=help_)


def timedeltas(seconds: pd.Series) -> pd.Series:
    """Seconds (float, NaN: unknown) as whole-second timedeltas (NaT: unknown).

    `pandas.to_timedelta` reads uninitialised memory where a value is missing.
    """
    whole = seconds.astype("float").fillna(0).round().astype("int64").astype("timedelta64[s]")
    return whole.astype("timedelta64[ns]").where(seconds.notna())


def page_opener(label: str, key: str, width: int, ids: Iterable[str], target: str, parameter: str) -> Any:
    """A column of names to click: `follow` then opens the page `target` with that row's id as `parameter`."""
    st.session_state[f"_{key}_ids"] = list(ids)

    def clicked() -> None:
        st.session_state["_follow"] = target, {parameter: st.session_state[f"_{key}_ids"][st.session_state[key].row]}

    return opener(label, key, width, clicked)


def follow() -> None:
    """Open the page of the last click in a table or on a page button, if any. Every page calls it first."""
    if wanted := st.session_state.pop("_follow", None):
        go(*wanted)


def page_button(label: str, target: str, parameters: Callable[[], dict[str, str]], **options: Any) -> None:
    """A button that opens another page; `parameters` are asked for at the click.

    The click is kept in a callback: the value of a button is lost when another run of the page interrupts this one.
    """

    def clicked() -> None:
        st.session_state["_follow"] = target, parameters()

    st.button(label, type="tertiary", on_click=clicked, **options)


def plain_button(label: str, icon: str, key: str, on_click: Callable[..., None], *args: Any, **options: Any) -> None:
    """A button without a frame; `icon` is the name of its Material icon."""
    st.button(label, key, icon=f":material/{icon}:", type="tertiary", on_click=on_click, args=args, **options)


def clicked(label: str, key: str, **options: Any) -> bool:
    """A button, and whether it was clicked since it was last drawn: a run that ends before it loses no click.

    Unlike a callback it answers after the widgets above it have their new values, which may arrive with the click.
    """
    kept = f"{key}_clicked"
    st.button(label, key=key, on_click=st.session_state.__setitem__, args=(kept, True), **options)
    return bool(st.session_state.pop(kept, False))


def go(target: str, parameters: dict[str, str]) -> None:
    """Open another page with those URL parameters, on the same cluster."""
    if (name := state.url("cluster")) is not None:
        parameters = {"cluster": name, **parameters}
    st.switch_page(BY_NAME[target].script, query_params=parameters)


def explain_verdicts() -> None:
    """The meaning of each verdict, and what to do about it."""
    with st.expander("What the verdicts mean", icon=":material/help:"):
        rows = [f"| {verdict_badge(s)} | {VERDICTS[s].meaning} | {VERDICTS[s].advice} |" for s in URGENCY]
        st.markdown("\n".join(["| Verdict | Meaning | What to do |", "|---|---|---|", *rows]))
        urgent = [VERDICTS[s].word for s in URGENCY if verdicts.needs_attention(s)]
        note(f"Groups from {urgent[0]} to {urgent[-1]}, the most urgent first, need attention; the others do not.")
        note("A share group commits no offsets: its start offset takes their place.")
