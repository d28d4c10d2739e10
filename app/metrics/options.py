"""What a scrape asks for: by default the settings, for one scrape what its query says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from assignors.spelling import closest

NAME_SETS = ("own", "kminion", "lag-exporter", "kafka-exporter", "burrow")
"""The names that can be served, each a set of its own."""

ALL = "all"
MAX_PATTERN_LENGTH = 1_000


class InvalidOption(ValueError):
    """An option has no such value; str() names the option."""

    def __init__(self, option: str, cause: str) -> None:
        super().__init__(f"{option}: {cause}")
        self.cause = cause


class Granularity(StrEnum):
    """The finest series that are served; each one includes those before it."""

    GROUP = "group"
    TOPIC = "topic"
    PARTITION = "partition"

    @property
    def included(self) -> tuple["Granularity", ...]:
        """The coarser ones, and this."""
        every = tuple(Granularity)
        return every[: every.index(self) + 1]


@dataclass(frozen=True, slots=True)
class Options:
    """`names`: of NAME_SETS. `groups` and `topics` are RE2 patterns of whole names, and None is all; what
    `exclude_groups` and `exclude_topics` match is left out. `max_series` limits the series of groups and topics.
    `clusters` are names; None is all.
    """

    names: tuple[str, ...] = ("own",)
    granularity: Granularity = Granularity.PARTITION
    groups: str | None = None
    exclude_groups: str | None = None
    topics: str | None = None
    exclude_topics: str | None = None
    max_series: int = 500_000
    clusters: tuple[str, ...] | None = None

    def with_query(self, query: Iterable[tuple[str, str]]) -> "Options":
        """The options of one scrape. `names` and `cluster` may be given several times; raises InvalidOption."""
        given: dict[str, list[str]] = {}
        for name, value in query:
            given.setdefault(name, []).append(value)
        changes = {_FIELDS.get(name, name): self._parsed(name, values) for name, values in given.items()}
        return replace(self, **changes)  # type: ignore[arg-type]

    def _parsed(self, name: str, values: list[str]) -> object:
        if name not in _QUERY:
            raise InvalidOption(name, _unknown(name, _QUERY))
        if name == "names":
            return name_sets(",".join(values))
        if name == "cluster":
            return tuple(values)
        if len(values) > 1:
            raise InvalidOption(name, f"given {len(values)} times")
        if name == "granularity":
            return granularity(values[0])
        return self._lower_cap(values[0]) if name == "max_series" else pattern(values[0], name)

    def _lower_cap(self, text: str) -> int:
        if not (text.isdecimal() and len(text) < 10 and 1 <= int(text) <= self.max_series):
            raise InvalidOption("max_series", f"must be a number from 1 to {self.max_series}, the server's own limit")
        return int(text)


_FIELDS = {"cluster": "clusters"}
_QUERY = tuple("cluster" if field.name == "clusters" else field.name for field in fields(Options))


def name_sets(text: str) -> tuple[str, ...]:
    """Names separated by commas, or `all`. Raises InvalidOption."""
    asked = [name.strip() for name in text.split(",")]
    for name in asked:
        if name not in (*NAME_SETS, ALL):
            raise InvalidOption("names", _unknown(name, (*NAME_SETS, ALL)))
    return tuple(name for name in NAME_SETS if name in asked or ALL in asked)


def granularity(text: str) -> Granularity:
    """Raises InvalidOption."""
    if text not in set(Granularity):
        raise InvalidOption("granularity", _unknown(text, tuple(Granularity)))
    return Granularity(text)


def pattern(text: str, option: str) -> str | None:
    """An RE2 pattern, None for an empty one. Raises InvalidOption."""
    from lag import name_patterns  # imported here because pyarrow takes a while, and few have patterns

    if len(text) > MAX_PATTERN_LENGTH:
        raise InvalidOption(option, f"the pattern is longer than {MAX_PATTERN_LENGTH:,} characters")
    if not name_patterns.is_valid(text):
        raise InvalidOption(option, "this is not a valid RE2 expression")
    return text or None


def _unknown(name: str, known: Sequence[str]) -> str:
    close = closest(name, known)
    return f"unknown; did you mean {close}?" if close else f"unknown; choose from {', '.join(known)}"
