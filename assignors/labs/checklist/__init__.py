"""The checklist: what is said of Kafka's consumer groups, row by row, what holds, and the story that plays it.

`docs/stories.md` is made from it: `python -m assignors.labs.checklist > docs/stories.md`.
"""

from assignors.labs.checklist import cases, groups, offsets, protocol
from assignors.labs.checklist.model import Page, Play, Row

SECTIONS: dict[str, tuple[Row, ...]] = {
    "Groups, subscriptions, API": groups.ROWS,
    "Assignors": cases.ROWS,
    "Rebalances and coordinators": protocol.ROWS,
    "Offsets, lag, watermarks": offsets.ROWS,
}
ROWS: tuple[Row, ...] = tuple(row for rows in SECTIONS.values() for row in rows)


def rows_of(page: Page, story: str) -> tuple[Row, ...]:
    """The rows that a story plays."""
    return tuple(row for row in ROWS if any((play.page, play.story) == (page, story) for play in row.plays))


__all__ = ["ROWS", "SECTIONS", "Page", "Play", "Row", "rows_of"]
