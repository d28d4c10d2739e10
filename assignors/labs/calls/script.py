"""A script: one call on each line, such as `A: commit orders-0 5 generation=1`; `#` starts a comment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assignors.model import TopicPartition

MOST_LINES = 60
MOST_WAIT_MS = 30 * 24 * 3_600_000

_CALL = re.compile(r"(?:(?P<who>[\w.-]+):\s+)?(?P<verb>[a-z-]+)(?P<rest>(?:\s.*)?)")
_OPTION = re.compile(r"(?P<name>[a-z]+)=(?P<value>.*)")
_TIME = re.compile(r"(\d{1,10})(ms|s|min|h|d)")
_UNITS_MS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_PARTITION = re.compile(r"([\w.-]{1,249})-(\d{1,6})")
_MOST_DIGITS = 12


class ScriptError(ValueError):
    """A line that cannot be simulated; names the line and says what it takes."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"Line {line}: {why}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Call:
    """One line: the caller ("" if the line names none), the verb, its words and its `name=value` options."""

    line: int
    text: str
    who: str
    verb: str
    words: tuple[str, ...]
    options: Mapping[str, str]

    def wrong(self, why: str) -> ScriptError:
        return ScriptError(self.line, why)

    def number(self, at: int) -> int:
        """The word there as a whole number. Raises ScriptError."""
        return self._whole(self.words[at])

    def count(self, option: str, default: int) -> int:
        """That option as a whole number. Raises ScriptError."""
        return self._whole(self.options[option]) if option in self.options else default

    def _whole(self, text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS):
            raise self.wrong(f"{text[:40]!r} is not a whole number.")
        return int(text)

    def partition(self, at: int) -> TopicPartition:
        """The word there, such as orders-0. Raises ScriptError."""
        found = _PARTITION.fullmatch(self.words[at])
        if found is None:
            raise self.wrong(f"{self.words[at][:40]!r} is not a partition. Write it like orders-0.")
        return TopicPartition(found[1], int(found[2]))

    def partitions(self) -> tuple[TopicPartition, ...]:
        """All words as partitions. Raises ScriptError."""
        return tuple(self.partition(at) for at in range(len(self.words)))

    def ms(self, text: str) -> int:
        """A time such as 500ms, 45s, 9min, 7d; at most 30 days. Raises ScriptError."""
        found = _TIME.fullmatch(text)
        if found is None or (ms := int(found[1]) * _UNITS_MS[found[2]]) > MOST_WAIT_MS:
            raise self.wrong(f"{text[:40]!r} is not a time up to 30d. Write it like 500ms, 45s, 9min, 7d.")
        return ms

    def time(self, option: str, default_ms: int) -> int:
        """That option in milliseconds. Raises ScriptError."""
        return self.ms(self.options[option]) if option in self.options else default_ms


def parse(text: str) -> tuple[Call, ...]:
    """The calls of a script. Raises ScriptError.

    >>> [(call.who, call.verb, call.words, dict(call.options)) for call in parse("A: join static=i1  # again")]
    [('A', 'join', (), {'static': 'i1'})]
    """
    stripped = [(number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1)]
    calls = tuple(_call(number, line) for number, line in stripped if line)
    if len(calls) > MOST_LINES:
        raise ScriptError(calls[MOST_LINES].line, f"a script has at most {MOST_LINES} calls.")
    return calls


def _call(number: int, line: str) -> Call:
    found = _CALL.fullmatch(line)
    if found is None:
        raise ScriptError(number, f"{line[:40]!r} is not a call. Write it like `subscribe orders` or `A: join`.")
    words, options = list[str](), dict[str, str]()
    for word in found["rest"].split():
        if option := _OPTION.fullmatch(word):
            options[option["name"]] = option["value"]
        else:
            words.append(word)
    return Call(number, line, found["who"] or "", found["verb"], tuple(words), options)
