"""The result: each record's counts and the steps as pictures, the records and all strategies as tables."""

from collections.abc import Mapping

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.labs.story import legend
from app.ui.widgets import Column
from app.views.labs.delivery import charts, labels, tables, text
from app.views.labs.delivery.tables import Fate, Mark
from assignors.labs.delivery import Lab, Ledger, Strategy
from assignors.labs.delivery.compare import Outcome


def pictures(lab: Lab, ledger: Ledger) -> None:
    """How often each record was delivered, processed and committed, and in which steps."""
    colours, rows = state.palette(), tables.steps(lab, ledger)
    fates, marks = charts.fates(colours), charts.marks(colours)
    seen = {tables.fate(ledger, record) for record in ledger.records}
    drawn = {mark for row in rows for mark in row.marks.values()}
    with st.container(gap="xxsmall"):
        words = legend((fates[fate], fate) for fate in Fate if fate in seen)
        widgets.titled("Ledger", f"{words}\u2003:gray[how often each record is delivered, processed, committed]")
        alt = f"Ledger of {formats.plural(len(ledger.records), 'record')}: {text.headline(ledger)}"
        widgets.chart(charts.ledger(lab, ledger, colours), "delivery_ledger", alt)
    with st.container(gap="xxsmall"):
        words = legend((marks[mark], mark) for mark in Mark if mark in drawn)
        widgets.titled("Step by step", f"{words}{text.consumers(ledger)}")
        alt = f"{text.headline(ledger)}: {formats.few([row.label for row in rows], 12)}"
        widgets.chart(charts.steps(ledger.records, rows, colours), "delivery_steps", alt)


def records(lab: Lab, ledger: Ledger) -> None:
    """The records as a table."""
    frame = tables.records(lab, ledger)
    widgets.titled_table("Record by record", "", "ledger", frame)
    widgets.table(
        frame,
        key="ledger",
        most=12,
        width="content",
        alt="Each record with how often it was delivered, processed and committed, and its result",
        columns=widgets.columns(frame, RECORD_COLUMNS),
    )


def strategies(ledgers: Mapping[Strategy, Ledger], worst: Mapping[Strategy, Outcome], own: Strategy) -> None:
    """All strategies under this failure."""
    frame = tables.strategies(ledgers, worst)
    widgets.titled_table("All strategies under this failure", ":gray[▸ the one above]", "strategies", frame)
    shown = frame.assign(short=[f"{'▸ ' if it is own else ''}{labels.SHORT[it]}" for it in ledgers])
    optional = [name for name in ("waiting", "out_of_order") if frame[name].any()]
    widgets.table(
        shown[["short", "twice", "lost", *optional, "most_twice", "most_lost", "guarantee", "strategy"]],
        key="strategies",
        alt=f"{len(frame)} commit strategies: records processed twice and lost, now and at worst, and the guarantee",
        columns=widgets.columns(shown, STRATEGY_COLUMNS),
    )
    widgets.note(
        "Twice and Lost: the failure happens after as many polls and processed records as above. "
        "At worst: it happens at the worst moment."
    )


RECORD_COLUMNS = {
    "record": Column("Record", 70),
    "delivered": Column("Delivered", 80),
    "processed": Column("Processed", 80),
    "committed": Column("Committed", 80, "How often the committed offset moved past it"),
    "result": Column("Result", 90),
}
STRATEGY_COLUMNS = {
    "short": Column("Commits", 136),
    "twice": Column("Twice", 52, "Records processed more than once"),
    "lost": Column("Lost", 48, "Records never processed, although a later offset is committed"),
    "waiting": Column("Stuck", 48, "Records that the group cannot reach"),
    "out_of_order": Column("Out of order", 86, "Records processed after a later one of their partition"),
    "most_twice": Column("At worst twice", 98, "The most records processed twice, for any moment of this failure"),
    "most_lost": Column("At worst lost", 92, "The most records lost, for any moment of this failure"),
    "guarantee": Column("Guarantee", 100, "What holds for any moment of this failure"),
    "strategy": Column("Strategy", 330),
}
