"""The results of the calls: one at a time with its picture, and all as a table."""

from collections.abc import Mapping, Sequence

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.charts import limits, ruler
from app.ui.labs.story import legend
from app.views.labs.calls import charts, records, strips, tables, text
from app.views.labs.calls.records import Change
from assignors.labs.calls import PartitionOffsets, Turn

MOST_ROWS, ROWS_PX = 40, 1200
"""A longer table scrolls in a field of this height."""


def sentences(turns: Sequence[Turn], at: int) -> None:
    """The call, its result, and what it changes."""
    turn = turns[at]
    icon, colour = ("block", "red") if turn.error else ("check", "green")
    st.markdown(f"{formats.code(turn.call.text)} :{colour}[:material/{icon}:] {formats.md(turn.outcome)}")
    if (meaning := text.meaning(turn.error)) is not None:
        st.markdown(f":small[{formats.md(meaning)}]")
    if turn.offsets:
        st.markdown(f"**{formats.md(text.moved(turns, at))}**")
    changes, rest = tables.changed(turns, at), tables.unchanged(turns, at)
    for name, (before, after) in changes.items():
        was = f" :gray[was {formats.md(before)}]" if before else ""
        st.markdown(f":small[:gray[{name}:] {formats.md(after or tables.NONE)}{was}]")
    if rest:
        widgets.note("Unchanged: " + " · ".join(f"{name} {formats.md(value)}" for name, value in rest.items()))


def picture(turns: Sequence[Turn], at: int) -> None:
    """The offsets of a consumer, or the calls to a coordinator; other machines have none."""
    if turns[-1].offsets and not records.most_records(turns):
        _assignments(turns, at)
    elif turns[-1].offsets:
        _offsets(turns, at)
    elif strips.GROUP in turns[at].state:
        _requests(turns, at)


def _offsets(turns: Sequence[Turn], at: int) -> None:
    drawn, partitions = records.shown(turns, at, limits.LOGS), len(turns[at].offsets)
    some = f"{len(drawn)} of {partitions} partitions, changed ones first" if partitions > len(drawn) else ""
    if limits.record_tiles(records.most_records(turns)):
        _tiles(turns, at, drawn, f" :gray[{some}]" if some else "")
    else:
        widgets.titled("Offsets", f":gray[distances are not to scale{'; ' if some else ''}{some}]")
        for change in drawn:
            _ruler(turns, at, *change)


def _tiles(turns: Sequence[Turn], at: int, drawn: Sequence[Change], some: str) -> None:
    colours, codes = state.palette(), {code for change in drawn for code in records.classify(*change)}
    looks, kinds = charts.styles(colours), [kind for code, kind in enumerate(records.KINDS) if code in codes]
    widgets.titled("Offsets", legend((looks[kind], kind) for kind in kinds) + some)
    alt = text.offsets(turns, at, [its for _, its in drawn])
    widgets.chart(charts.offsets(turns, drawn, colours), "calls_offsets", alt)


def _ruler(turns: Sequence[Turn], at: int, before: PartitionOffsets | None, its: PartitionOffsets) -> None:
    old = None if before is None else records.marked(before)
    st.markdown(f":small[{formats.code(str(its.partition))}]")
    fig = ruler.figure(records.marked(its), state.palette(), old)
    widgets.chart(fig, f"calls_ruler_{its.partition}", text.offsets(turns, at, [its]))


def _assignments(turns: Sequence[Turn], at: int) -> None:
    colours = state.palette()
    marks = [("+", colours.gained, "assigned by this call"), ("✓", colours.kept, "still assigned")]
    widgets.titled("Assignment", widgets.swatches([*marks, ("✕", colours.revoked, "refused")]))
    widgets.chart(strips.assignments(turns, at, colours), "calls_assignments", text.assignments(turns, at))


def _requests(turns: Sequence[Turn], at: int) -> None:
    colours = state.palette()
    states = ((letter, colours.text, name) for name, letter in strips.letters(turns).items())
    widgets.titled(
        "Calls",
        widgets.swatches([*states, ("✓", colours.kept, "accepted"), ("✕", colours.revoked, "refused")]),
    )
    widgets.chart(strips.requests(turns, at, colours), "calls_requests", text.requests(turns, at))


def table(turns: Sequence[Turn], at: int) -> None:
    """All calls with the result of each and what it changed; the downloads hold the state after each."""
    widgets.titled_table("All calls", ":gray[▸ shown above, ✕ refused]", "calls", tables.turns_frame(turns))
    rows = [_row(turns, row, row == at) for row in range(len(turns))]
    st.table(
        rows,
        border="horizontal",
        height=ROWS_PX if len(rows) > MOST_ROWS else "content",
        hide_index=True,
        alt=f"{formats.plural(len(rows), 'call')}, the result of each, and what it changed",
    )


def _row(turns: Sequence[Turn], at: int, is_shown: bool) -> Mapping[str, str]:
    turn, changed = turns[at], tables.changed_text(turns, at)
    result = f"{':red[✕] ' if turn.error else ''}{formats.md(turn.outcome)}"
    return {
        "Step": f"**{at + 1}\u00a0▸**" if is_shown else f"{at + 1}",
        "Call": formats.code(turn.call.text),
        "Result and change": f"{result}\u2003:small[:gray[{formats.md(changed)}]]" if changed else result,
    }
