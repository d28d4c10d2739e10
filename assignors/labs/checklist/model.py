"""A row of the checklist, and where it is played."""

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlencode


class Page(StrEnum):
    """A page that plays stories; the value is its address."""

    PROTOCOL = "protocol"
    DELIVERY = "delivery"
    WATERMARK = "watermark"
    CALLS = "calls"
    WHATIF = "whatif"


@dataclass(frozen=True, slots=True)
class Play:
    """A story on a page; of What-if an example, opened with `assignor` (None: the example's own) at a generation.

    `generation` 0 is the first assignment, None the rebalance after the first event.
    """

    page: Page
    story: str
    assignor: str | None = None
    generation: int | None = None

    @property
    def link(self) -> str:
        """Path and query, from the dashboard's address on."""
        name = "example" if self.page is Page.WHATIF else "story"
        said = {name: self.story, "assignor": self.assignor, "gen": self.generation}
        return f"/{self.page}?{urlencode({key: value for key, value in said.items() if value is not None})}"


@dataclass(frozen=True, slots=True)
class Row:
    """What is often said of consumer groups (`says`), what holds in Kafka 4.3 (`holds`), and the stories that play it.

    What was removed from Kafka has no story: there `holds` says what replaced it.
    """

    row_id: str
    says: str
    holds: str
    plays: tuple[Play, ...] = ()
    removed: bool = False


def protocol(*stories: str) -> tuple[Play, ...]:
    """Stories of the Protocol lab."""
    return tuple(Play(Page.PROTOCOL, name) for name in stories)


def delivery(*stories: str) -> tuple[Play, ...]:
    """Stories of the Delivery lab."""
    return tuple(Play(Page.DELIVERY, name) for name in stories)


def watermark(*stories: str) -> tuple[Play, ...]:
    """Stories of the Watermark lab."""
    return tuple(Play(Page.WATERMARK, name) for name in stories)


def calls(*stories: str) -> tuple[Play, ...]:
    """Stories of the Call lab."""
    return tuple(Play(Page.CALLS, name) for name in stories)


def whatif(*examples: str, assignor: str | None = None, generation: int | None = None) -> tuple[Play, ...]:
    """Examples of What-if."""
    return tuple(Play(Page.WHATIF, name, assignor, generation) for name in examples)
