"""The choice of the page in the URL: group, where the offsets go, a value, topics. One reader checks them all."""

from dataclasses import dataclass
from typing import NamedTuple

from app.ui import link_values, state
from lag.errors import ConfigError
from lag.reset.asked.specification import FromGroup, Specification
from lag.reset.asked.specification_text import Asked, specification

MAX_TEXT = 500
DEFAULT = "earliest"


class Way(NamedTuple):
    """A way to say where offsets go; `value` is the label of its field (None: it has none)."""

    label: str
    value: str | None = None
    example: str = ""


WAYS = {
    "earliest": Way("Earliest: the log start"),
    "latest": Way("Latest: the log end"),
    "time": Way("A time", "Time with zone, or ms since 1970", "2026-11-25T10:00:00Z"),
    "back": Way("A duration back", "Duration", "1h30m"),
    "shift": Way("Shift by n offsets", "Offsets, negative to go back", "-100"),
    "offset": Way("One offset for all partitions", "Offset", "1200"),
    "skip": Way("Skip a record", "topic:partition:offset", "orders:3:1234"),
    "group": Way("As another group", "Group", "billing-old"),
    "delete": Way("Delete the committed offsets"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen; `topics` are names, topic:0,1 and patterns, separated by blanks; none: all that is committed."""

    group: str | None
    way: str
    value: str
    topics: tuple[str, ...]

    @property
    def names_its_partitions(self) -> bool:
        """Whether the partitions follow from the value: those of the other group, or of the records to skip."""
        return self.way in ("group", "skip")

    def specification(self, now_ms: int) -> Specification:
        """Raises ConfigError for a value that is not one."""
        if WAYS[self.way].value is not None and not self.value:
            raise ConfigError(f"{WAYS[self.way].value} is missing", f"For example {WAYS[self.way].example}")
        if self.way == "group":
            return FromGroup(self.value)
        return specification(_asked(self.way, self.value), self.group or "", now_ms)


def _asked(way: str, value: str) -> Asked:
    match way:
        case "earliest":
            return Asked(to_earliest=True)
        case "latest":
            return Asked(to_latest=True)
        case "time":
            return Asked(to_datetime=value)
        case "back":
            return Asked(by_duration=value)
        case "shift":
            return Asked(shift_by=_whole(value))
        case "offset":
            return Asked(to_offset=_whole(value))
        case "skip":
            return Asked(skip=tuple(value.split()))
    return Asked(delete_offsets=True)


def _whole(text: str) -> int:
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise ConfigError(f"{text!r} is not a whole number", "Give a whole number of at most 18 digits")
    return int(text)


def read() -> Choice:
    """The choice in the URL; what is not one of the ways counts as DEFAULT, and texts are cut at MAX_TEXT."""
    way = link_values.one_of("to", WAYS) or DEFAULT
    topics = (state.url("topics") or "")[:MAX_TEXT].split()
    return Choice(
        state.url("group"),
        way,
        (state.url("value") or "")[:MAX_TEXT].strip(),
        tuple(topics),
    )
