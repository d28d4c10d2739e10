"""What comes of it: the ledger and the course as pictures, the ledger and all strategies as tables."""

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.charts.lanes import Style
from app.views.labs.delivery import charts, tables, text
from app.views.labs.delivery.tables import Fate, Mark
from assignors.labs.delivery import Lab, Ledger, Strategy
from assignors.labs.delivery.closed_form import Outcome


def pictures(lab: Lab, ledger: Ledger) -> None:
    """How often each record was delivered, processed and committed, and the steps that led to it."""
    colours, rows = state.palette(), tables.course(lab, ledger)
    fates, marks = charts.fates(colours), charts.marks(colours)
    seen = {tables.fate(ledger, record) for record in ledger.records}
    told = {mark for row in rows for mark in row.marks.values()}
    with st.container(gap="xxsmall"):
        widgets.titled("Ledger", _legend((charts.GLYPHS[fate], fate, fates[fate]) for fate in Fate if fate in seen))
        st.plotly_chart(
            charts.ledger(lab, ledger, colours),
            theme=None,
            config=widgets.PLOTLY,
            key="delivery_ledger",
            alt=f"Ledger of {formats.plural(len(ledger.records), 'record')}: {text.headline(ledger)}",
        )
    with st.container(gap="xxsmall"):
        widgets.titled(
            "Step by step", _legend((charts.LETTERS[mark], mark, marks[mark]) for mark in Mark if mark in told)
        )
        st.plotly_chart(
            charts.course(ledger.records, rows, colours),
            theme=None,
            config=widgets.PLOTLY,
            key="delivery_course",
            alt=f"{formats.plural(len(rows), 'row')}: {'; '.join(row.said for row in rows[:12])}",
        )


def _legend(entries: Iterable[tuple[str, str, Style]]) -> str:
    colours = state.palette()
    ink = {colours.kept_fill: colours.kept}  # a fill that is too pale for a letter
    return widgets.swatches(
        (glyph, look.outline or ink.get(look.fill, look.fill), word) for glyph, word, look in entries
    )


def records(lab: Lab, ledger: Ledger) -> None:
    """The ledger as a table."""
    frame = tables.records(lab, ledger)
    widgets.titled_table("Record by record", "", "ledger", frame)
    c = st.column_config
    widgets.table(
        frame,
        key="ledger",
        most=12,
        alt="Each record with how often it was delivered, processed and committed, and what became of it",
        columns={
            "record": c.TextColumn("Record", width=70, pinned=True),
            "delivered": c.NumberColumn("Delivered", width=80),
            "processed": c.NumberColumn("Processed", width=80),
            "committed": c.NumberColumn("Committed", width=80, help="How often the committed offset moved past it"),
            "became": c.TextColumn("Became", width=90),
        },
    )


def strategies(ledgers: Mapping[Strategy, Ledger], worst: Mapping[Strategy, Outcome], own: Strategy) -> None:
    """All strategies under this failure, side by side."""
    frame = tables.strategies(ledgers, worst)
    widgets.titled_table("All strategies under this failure", ":gray[▸ the one above]", "strategies", frame)
    names = [tables.SHORT[Strategy(name)] for name in frame["strategy"]]
    shown = frame.assign(
        short=[
            f"{'▸ ' if name == own.value else ''}{short}" for name, short in zip(frame["strategy"], names, strict=True)
        ]
    )
    optional = [name for name in ("waiting", "out_of_order") if frame[name].any()]
    widgets.table(
        shown[["short", "twice", "lost", *optional, "most_twice", "most_lost", "promise", "strategy"]],
        key="strategies",
        alt=f"{len(frame)} commit strategies: records twice and lost now and at the worst moment, and what each keeps",
        columns={name: _look(name) for name in LOOKS},
    )
    widgets.note(
        "Twice and lost: the failure comes when the consumer has polled as often and processed as many records as "
        "above. At worst: whenever it comes."
    )


LOOKS: dict[str, tuple[str, int, str | None]] = {
    "short": ("Commits", 136, None),
    "twice": ("Twice", 52, "Records processed more than once"),
    "lost": ("Lost", 48, "Records never processed, and committed past"),
    "waiting": ("Wait", 48, "Records that the group does not come to"),
    "out_of_order": ("Out of order", 86, "Records processed after a later one of their partition"),
    "most_twice": ("At worst twice", 98, "The most records twice, whenever this failure comes"),
    "most_lost": ("At worst lost", 92, "The most records lost, whenever this failure comes"),
    "promise": ("So it is", 100, "What holds under this failure whenever it comes"),
    "strategy": ("In full", 330, None),
}
"""Column -> label, width in pixels, what it counts."""


def _look(name: str) -> Any:
    label, width, help_ = LOOKS[name]
    if name in ("short", "promise", "strategy"):
        return st.column_config.TextColumn(label, width=width, help=help_, pinned=name == "short")
    return widgets.integer(label, width, help_)
