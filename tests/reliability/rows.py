"""What the suite found, a row a fault: kept in `measured.json`, and from there in `docs/reliability.md`."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

MEASURED = Path(__file__).with_name("measured.json")
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
_HEAD = """\
# Reliability

`make reliability` breaks something under a running `groupscope serve` and looks at what a user sees of it. There are
three real brokers, a network of its own between them and the dashboard, and groups whose verdicts are known from Kafka
itself, asked with its Java client. The suite fails if the page does not answer, if a verdict is wrong, if a row of the
history is missing or there twice, or if the verdicts are not right again within two polls. It allows three where
earlier polls do not count, since its policy asks for three polls and 3 s: after a restart, after the clock went back,
and for groups that were not listed. It writes this page.
"""
_COLUMNS = """\
- **Seen**: what the API showed during the fault, and what the server logged of its history.
- **Right after**: from the end of the fault until all groups had the right verdict, and resting groups the right lag.
  Kafka's own recovery is part of it (sessions, elections, rebalances), and so is the pause before the next try, which
  grows up to 60 s while no broker is reachable.
- **Polls**: how many polls that took, counted from when Kafka itself gave the whole answer; 0: it was right before.
- **Wrong**: verdicts that were true at no time. A verdict that is not known is shown as Unknown, and is not wrong.
- **Lost**, **twice**: rows of the history, compared with the polls that the API showed, or the commits at the brokers.
- **Page**: whether page, metrics and API answered every time they were asked, three times a second.
"""


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One fault. `seconds` and `polls` until the verdicts were right again; None where nothing had to become right."""

    fault: str
    made: str
    seen: str
    seconds: float | None
    polls: int | None
    wrong: int
    lost: int
    doubled: int
    page_up: bool
    measured: str

    def shortcomings(self, most_polls: int = 2) -> list[str]:
        """What the suite does not accept."""
        found = {
            "the page did not always answer": not self.page_up,
            f"{self.wrong} wrong verdicts": self.wrong > 0,
            f"{self.lost} rows lost": self.lost > 0,
            f"{self.doubled} rows twice": self.doubled > 0,
            f"right again only after {self.polls} polls": self.polls is not None and self.polls > most_polls,
        }
        return [what for what, holds in found.items() if holds]


def render(rows: Sequence[FaultRow], machine: str) -> str:
    """The page. Rows are as they were measured; the last column has the day."""
    head = "| Fault | How it is made | Seen | Right after | Polls | Wrong | Lost | Twice | Page | Measured |"
    lines = [_HEAD, f"Measured on {machine}.\n", head, "|---|---|---|---|---|---|---|---|---|---|"]
    lines += [_line(row) for row in rows]
    return "\n".join([*lines, "", _COLUMNS])


def _line(row: FaultRow) -> str:
    seconds = "–" if row.seconds is None else f"{row.seconds:.1f} s"
    polls = "–" if row.polls is None else str(row.polls)
    page = "up" if row.page_up else "down"
    cells = (row.fault, row.made, row.seen, seconds, polls, row.wrong, row.lost, row.doubled, page, row.measured)
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def read(path: Path = MEASURED) -> list[FaultRow]:
    """The rows so far."""
    return [FaultRow(**row) for row in json.loads(path.read_text())] if path.exists() else []


def keep(row: FaultRow, order: Sequence[str], path: Path = MEASURED, page: Path = PAGE) -> None:
    """Store a row in place of an earlier one of the same fault, and write the page."""
    rows = {kept.fault: kept for kept in read(path)} | {row.fault: row}
    sorted_rows = [rows[fault] for fault in order if fault in rows]
    path.write_text(json.dumps([asdict(kept) for kept in sorted_rows], indent=1, ensure_ascii=False) + "\n")
    page.write_text(render(sorted_rows, machine()))


def machine() -> str:
    """The machine, as far as it matters."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    return f"{os.cpu_count()} cores and {memory} GB, shared with other work"


def shown_on(page: str) -> str:
    """The machine that a page names."""
    _, _, rest = page.partition("\nMeasured on ")
    return rest.partition(".\n")[0]
