"""Problems of a scenario file, and where they are."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from assignors.model import AssignorError
from assignors.spelling import shown

Path = tuple[str | int, ...]
MOST_PROBLEMS = 20
_PLAIN = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error or a warning: its line (from 1; None = the whole file), its path, and a sentence."""

    line: int | None
    path: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.line and f"line {self.line}", self.path, self.message) if part)


class ScenarioError(AssignorError):
    """A file is not a valid scenario. `problems` has the first 20 errors, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)[:MOST_PROBLEMS]
        super().__init__("\n".join(map(str, self.problems)))


def first(found: Iterable[tuple[Path, str]]) -> dict[Path, str]:
    """The first sentence of each path, at most 20: more are of no use, and suggestions take time."""
    by_path: dict[Path, str] = {}
    for path, sentence in found:
        by_path.setdefault(path, sentence)
        if len(by_path) == MOST_PROBLEMS:
            break
    return by_path


def path_text(path: Path) -> str:
    """A path as text.

    >>> path_text(("members", 2, "owned", "orders.v1", 0))
    'members[2].owned["orders.v1"][0]'
    """
    return "".join(map(_step, path)).removeprefix(".")


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN.fullmatch(part) else f'["{shown(part)}"]'
