"""What can be wrong with a scenario file, and where."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from assignors.model import AssignorError

Path = tuple[str | int, ...]
MOST_PROBLEMS = 20
_PLAIN = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_SHOWN = 60
_FEW = 16


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or odd: its line (from 1; None: the file as a whole), its path, and a sentence."""

    line: int | None
    path: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.line and f"line {self.line}", self.path, self.message) if part)


class ScenarioError(AssignorError):
    """A file is no scenario. `problems` says why, the first 20 in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)[:MOST_PROBLEMS]
        super().__init__("\n".join(map(str, self.problems)))


def path_text(path: Path) -> str:
    """A path as people write it.

    >>> path_text(("members", 2, "owned", "orders.v1", 0))
    'members[2].owned["orders.v1"][0]'
    """
    return "".join(map(_step, path)).removeprefix(".")


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN.fullmatch(part) else f'["{shown(part)}"]'


def shown(text: str) -> str:
    """A text of a stranger, short enough for a sentence."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def nearest(word: str, words: Iterable[str]) -> str:
    """` Did you mean 'topics'?`; where no word is near, all of them if they are few."""
    known = list(words)
    if close := get_close_matches(word, known, n=1):
        return f" Did you mean {shown(close[0])!r}?"
    return f" There {'are' if known[1:] else 'is'} {', '.join(map(shown, known))}." if 0 < len(known) <= _FEW else ""
