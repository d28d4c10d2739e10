"""Movement without motion: generations x partitions."""

import numpy as np
import plotly.graph_objects as go

from app.ui.charts import base, limits
from app.ui.formats import joined
from app.ui.movement import sentences
from app.ui.movement.blocks import Blocks, blocks, names, topic_starts
from app.ui.movement.encoding import Picture, looks, scale, short_title, what_happened
from app.ui.movement.steps import KEPT, Kinds, Steps
from app.ui.theme import Palette

ROW_PX = 26
LABEL_PX = 15
MOST_PX = 480
SANS_CHAR_PX = 6.6
LABEL_CHARS = 20
SYMBOL_COLUMNS = 60
HAIRLINE_COLUMNS = 150
SYMBOLS = 1_500
HOVER_CELLS = 12_000
TICKS_PX = 210
"""Labels under the columns must fit side by side on a phone."""
LETTER_PX = 12
SEPARATORS = 60


def generations_by_partitions(steps: Steps, current: int, colours: Palette) -> Picture:
    """Rows: generations; columns: partitions by topic; colour and symbol: what the generation did to it."""
    first, last = limits.window(len(steps), current, limits.STILL_ROWS)
    shown, row = steps.window(first, last), current - first
    columns = blocks(shown, limits.STILL_COLUMNS)
    kinds = shown.all_kinds()
    cells = columns.worst(kinds)
    fig = _rows(shown, row, colours)
    _heat(fig, shown, columns, kinds, cells, colours)
    if len(columns) <= SYMBOL_COLUMNS:
        _symbols(fig, names(shown, columns), shown, cells, colours)
    letters = _topic_ticks(fig, shown, columns, colours)
    base.outline(fig, colours, x=(-0.5, len(columns) - 0.5), y=(row - 0.5, row + 0.5))
    block = f"each column stands for up to {columns.size:,} partitions, coloured by the most significant change"
    caption = joined(block if columns.size > 1 else "", letters, window_note(first, last, len(steps)))
    return Picture(fig, caption, sentences.stills(shown, row))


def _rows(steps: Steps, row: int, colours: Palette) -> go.Figure:
    titles = [steps.title(at) for at in range(len(steps))]
    labels = [short_title(*pair, LABEL_CHARS) for pair in zip(steps.names, steps.events, strict=True)]
    height = row_px(len(steps)) * len(steps)
    left = round(SANS_CHAR_PX * max(map(len, labels)) + 14)
    fig = base.figure(colours, height + 26, left=left, right=4, top=4, bottom=22)
    shown = thinned(len(steps), row, height // LABEL_PX)
    fig.update_xaxes(type="category")
    fig.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=titles,
        range=[len(steps) - 0.5, -0.5],
        showgrid=False,
        tickvals=shown,
        ticktext=[f"<b>{labels[at]}</b>" if at == row else labels[at] for at in shown],
        tickfont={"size": 12, "color": colours.text},
    )
    return fig


def row_px(rows: int) -> int:
    """Height of a row: as high as reads well, lower where there are many."""
    return max(4, min(ROW_PX, MOST_PX // max(1, rows)))


def thinned(n: int, keep: int, room: int) -> list[int]:
    """Positions that get a label when only `room` of `n` can have one: evenly spread, `keep` always among them."""
    gap = max(1, -(-n // max(1, room)))
    return [at for at in range(n) if at == keep or (at % gap == 0 and abs(at - keep) >= gap)]


def _heat(fig: go.Figure, steps: Steps, columns: Blocks, kinds: Kinds, cells: Kinds, colours: Palette) -> None:
    single = columns.size == 1
    in_words = single and cells.size <= HOVER_CELLS
    fig.add_heatmap(
        z=cells,
        x=names(steps, columns),
        y=[steps.title(at) for at in range(len(steps))],
        **scale(colours),
        xgap=1 if len(columns) <= SYMBOL_COLUMNS else 0.5 if len(columns) <= HAIRLINE_COLUMNS else 0,
        ygap=2 if len(steps) <= 40 else 1 if len(steps) <= 80 else 0,
        customdata=_words(steps, kinds) if in_words else None if single else columns.changed(kinds),
        hovertemplate="%{x} · %{y}"
        + (" · %{customdata}" if in_words else "" if single else f" · %{{customdata}} of up to {columns.size} changed")
        + "<extra></extra>",
    )


def _words(steps: Steps, kinds: Kinds) -> list[list[str]]:
    """Per cell what happened: "c1 kept", "c1 → c2 moved"."""
    rows = []
    for at in range(len(steps)):
        owners = zip(steps.before(at).tolist(), steps.owners[at].tolist(), kinds[at].tolist(), strict=True)
        rows.append([what_happened(steps, before, after, kind) for before, after, kind in owners])
    return rows


def _symbols(fig: go.Figure, at: list[str], steps: Steps, cells: Kinds, colours: Palette) -> None:
    """The second channel beside colour, while there is room for it."""
    changed = (cells > KEPT).sum()
    for kind, look in looks(colours).items() if changed <= SYMBOLS else ():
        rows, cols = np.nonzero(cells == kind)
        if kind != KEPT and len(rows):
            fig.add_scatter(
                x=[at[col] for col in cols.tolist()],
                y=[steps.title(row) for row in rows.tolist()],
                mode="markers",
                marker={"symbol": look.symbol, "size": 5, "color": look.ink, "line": {"width": 0}},
                hoverinfo="skip",
            )


def _topic_ticks(fig: go.Figure, steps: Steps, columns: Blocks, colours: Palette) -> str:
    """Partition numbers under a single topic; else names of topics, or letters where names have no room.

    Returns what the letters stand for: "a orders, b payments".
    """
    tops = np.searchsorted(columns.starts, topic_starts(steps)).tolist()
    fig.update_xaxes(range=[-0.5, len(columns) - 0.5])
    if len(tops) <= 1:
        shown = base.spread(len(columns), 6)
        fig.update_xaxes(tickvals=shown, ticktext=[f"{steps.numbers[columns.starts[at]]:,}" for at in shown])
        return ""
    line = {"color": colours.dim, "width": 1}
    below = {"type": "line", "y0": 0, "y1": -0.02, "yref": "paper", "line": line}
    at = tops[1:] if len(tops) <= SEPARATORS else []
    fig.update_layout(shapes=[{**below, "x0": top - 0.5, "x1": top - 0.5} for top in at])
    ends = [*tops[1:], len(columns)]
    text, note = topic_labels([steps.topics[steps.topic_of[columns.starts[top]]] for top in tops], tops, ends)
    middles = [(a + b - 1) / 2 for a, b in zip(tops, ends, strict=True)]
    fig.update_xaxes(tickvals=middles if text else [], ticktext=text)
    return note


def topic_labels(topics: list[str], starts: list[int], ends: list[int]) -> tuple[list[str], str]:
    """Labels that fit under topics of these widths on a phone, and the key to them where they are letters."""
    px = [TICKS_PX * (b - a) / max(1, ends[-1]) for a, b in zip(starts, ends, strict=True)]
    if all(len(name) * SANS_CHAR_PX < room for name, room in zip(topics, px, strict=True)):
        return topics, ""
    letters = base.letters(topics)
    if not letters or min(px) < LETTER_PX:
        return [], f"{len(topics):,} topics in order of name"
    return [f"<b>{letters[topic]}</b>" for topic in topics], base.letter_key(letters)


def window_note(first: int, last: int, of: int) -> str:
    """Which generations are drawn, where not all are."""
    return "" if last - first == of else f"generations {first + 1:,} to {last:,} of {of:,}"
