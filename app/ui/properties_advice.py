"""A properties file of somebody's consumer or broker, and what is to be said about it.

Nothing of it is kept or repeated but names of settings: a value may be a secret, and so may a line that is no setting.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from app.ui.formats import plural
from assignors.advice import Finding, Severity, Workload, advise_broker, advise_client
from assignors.advice.config_table import CONSUMER, COORDINATOR
from lag.cluster.properties import MAX_BYTES, Property, parse_properties
from lag.errors import ConfigError

_NAME = re.compile(r"[a-z][a-z0-9]*([._-][a-z0-9]+)+")
_NAMES = sorted({*CONSUMER, *COORDINATOR})
MOST_NAME_LETTERS, ALIKE = 64, 0.8
_PLACEHOLDER = "${"
_BROKERS_OWN = frozenset({"broker.id", "node.id", "process.roles", "listeners", "log.dirs", "zookeeper.connect"})
_DEFAULT_WORKLOAD = Workload()


class Kind(StrEnum):
    """Whose settings they are."""

    CONSUMER = "consumer"
    BROKER = "broker"


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding, and the line of its setting (None: it is not set, its default is meant)."""

    finding: Finding
    line: int | None


@dataclass(frozen=True, slots=True)
class Advised:
    """What is to be said about a file.

    `settings` counts those that were read; `unread` are lines that hold no setting, `open` those whose value is a
    placeholder that is filled in elsewhere. `other_kind`: it looks like a file of the other kind.
    """

    kind: Kind
    settings: int
    found: tuple[Placed, ...]
    unread: tuple[int, ...]
    open: tuple[int, ...]
    other_kind: bool

    def count(self, severity: Severity) -> int:
        """How many findings are of that severity."""
        return sum(placed.finding.severity is severity for placed in self.found)


def row(placed: Placed) -> dict[str, Any]:
    """A finding as plain data: severity, setting, line, reason, better, source."""
    its = placed.finding
    return {
        "severity": its.severity.value,
        "setting": its.key,
        "line": placed.line,
        "reason": its.reason,
        "better": its.better,
        "source": its.source,
    }


def verdict(advised: Advised) -> str:
    """ "1 error and 2 warnings in 12 settings"."""
    counts = [(advised.count(Severity.ERROR), "error"), (advised.count(Severity.WARNING), "warning")]
    said = " and ".join(plural(count, word) for count, word in counts if count)
    return f"{said or 'nothing to say'} in {plural(advised.settings, 'setting')}"


def advise_text(text: str, kind: Kind, workload: Workload = _DEFAULT_WORKLOAD) -> Advised:
    """Advice on pasted text. Raises ConfigError when it cannot be read, or holds no setting."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise ConfigError("The text is larger than 1 MB", "Paste the properties of one consumer or broker.")
    return advise(parse_properties(text, "The text"), kind, workload)


def advise(properties: Sequence[Property], kind: Kind, workload: Workload = _DEFAULT_WORKLOAD) -> Advised:
    """Advice on properties. Raises ConfigError when none of them is a setting."""
    named = [its for its in properties if _is_setting(its)]
    if not named:
        raise ConfigError(
            f"There is no setting in {_lines(len(properties))}", "Settings are lines like group.id=billing."
        )
    judged = {its.key: its.value for its in named if _PLACEHOLDER not in its.value}
    found = advise_client(judged, workload) if kind is Kind.CONSUMER else advise_broker(judged, workload)
    lines = {its.key: its.line for its in named}
    return Advised(
        kind,
        len(lines),
        (*_twice(named), *(Placed(finding, lines.get(finding.key)) for finding in found)),
        tuple(its.line for its in properties if not _is_setting(its)),
        tuple(its.line for its in named if _PLACEHOLDER in its.value),
        _is_other(kind, lines),
    )


def _is_setting(its: Property) -> bool:
    """Whether the key may be shown: it is Kafka's or nearly so, or it is written like one and has a value."""
    if its.key in CONSUMER or its.key in COORDINATOR:
        return True
    if len(its.key) > MOST_NAME_LETTERS:
        return False
    return bool(its.value and _NAME.fullmatch(its.key)) or bool(get_close_matches(its.key, _NAMES, 1, ALIKE))


def _twice(named: Sequence[Property]) -> Iterator[Placed]:
    first = dict[str, int]()
    for its in named:
        if its.key in first:
            reason = f"{its.key} is set on line {first[its.key]} and again on line {its.line}; the last one counts."
            yield Placed(Finding(its.key, Severity.WARNING, reason, "java.util.Properties"), its.line)
        first.setdefault(its.key, its.line)


def _is_other(kind: Kind, lines: Mapping[str, int]) -> bool:
    broker = len(lines.keys() & (COORDINATOR.keys() | _BROKERS_OWN))
    consumer = len(lines.keys() & CONSUMER.keys())
    return broker > consumer if kind is Kind.CONSUMER else consumer > broker


def _lines(count: int) -> str:
    return plural(count, "line") if count else "an empty text"
