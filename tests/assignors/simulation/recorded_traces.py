"""What Kafka 4.3.1's coordinators did, as recorded: chapters of lines."""

from dataclasses import dataclass
from pathlib import Path

FIXTURE = Path(__file__).parents[2] / "fixtures" / "coordinator_traces_431.txt"
CONSUMER = "S7"
"""How the chapters of the consumer protocol (KIP-848) begin; the others are of the classic one."""


@dataclass(frozen=True)
class Chapter:
    """A story's part: its title and its lines."""

    title: str
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.title.split()[0]

    @property
    def is_consumer(self) -> bool:
        return self.name.startswith(CONSUMER)


def chapters() -> list[Chapter]:
    """All of the fixture's, without its headings within a chapter."""
    found: list[tuple[str, list[str]]] = []
    for line in FIXTURE.read_text().splitlines():
        if not line.startswith(" "):
            found.append((line, []))
        elif not line.startswith("  -- "):
            found[-1][1].append(line)
    return [Chapter(title, tuple(lines)) for title, lines in found]
