"""The checklist: common statements about Kafka's consumer groups, whether they hold, and the stories that show it.

The rows are in `rows.yaml`; `python -m assignors.labs.checklist > docs/stories.md` writes the documentation page.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from assignors.scenario.syntax import read_bundled


class Page(StrEnum):
    """A page that plays stories; the value is its address."""

    PROTOCOL = "protocol"
    DELIVERY = "delivery"
    WATERMARK = "watermark"
    CALLS = "calls"
    WHATIF = "whatif"


@dataclass(frozen=True, slots=True)
class Play:
    """A story on a page, as the URL parameters that open it."""

    page: Page
    parameters: Mapping[str, Any]

    @property
    def story(self) -> str:
        """The story's name; on What-if the example's."""
        return str(self.parameters["example" if self.page is Page.WHATIF else "story"])

    @property
    def link(self) -> str:
        """Path and query, without the dashboard's address."""
        return f"/{self.page}?{urlencode(self.parameters)}"


@dataclass(frozen=True, slots=True)
class Row:
    """A statement (`claim`), what holds in Kafka 4.3 (`fact`), and the stories that show it.

    What Kafka has `removed` has no story; there `fact` names the replacement.
    """

    row_id: str
    claim: str
    fact: str
    plays: tuple[Play, ...]
    removed: bool


def _plays(row: Mapping[str, Any]) -> Iterator[Play]:
    for page in Page:
        for entry in row.get(page, ()):
            yield Play(page, {"story": entry} if isinstance(entry, str) else entry)


def _row(row_id: str, row: Mapping[str, Any]) -> Row:
    return Row(row_id, row["claim"], row["fact"], tuple(_plays(row)), row.get("removed", False))


SECTIONS: Mapping[str, tuple[Row, ...]] = {
    title: tuple(_row(row_id, row) for row_id, row in rows.items())
    for title, rows in read_bundled(Path(__file__).with_name("rows.yaml")).items()
}
ROWS: tuple[Row, ...] = tuple(row for rows in SECTIONS.values() for row in rows)


def rows_of(page: Page, story: str) -> tuple[Row, ...]:
    """The rows that a story plays."""
    return tuple(row for row in ROWS if any((play.page, play.story) == (page, story) for play in row.plays))
