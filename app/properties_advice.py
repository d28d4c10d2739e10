"""Configuration advice on the properties file of a consumer or broker.

Only names of settings are kept and shown: a value can be a secret, and so can a line that is not a setting.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assignors.advice import Finding, Severity, Workload, advise_broker, advise_client
from assignors.advice.config_table import CONSUMER, COORDINATOR
from assignors.spelling import closest
from lag.cluster.connection.properties import MAX_BYTES, Property, parse_properties
from lag.errors import ConfigError

_NAME = re.compile(r"[a-z][a-z0-9]*([._-][a-z0-9]+)+")
_NAMES = sorted({*CONSUMER, *COORDINATOR})
MAX_KEY_LENGTH, MIN_SIMILARITY = 64, 0.8

_PLACEHOLDER = "${"
_BROKER_ONLY = frozenset({"broker.id", "node.id", "process.roles", "listeners", "log.dirs", "zookeeper.connect"})
_DEFAULT_WORKLOAD = Workload()


class Kind(StrEnum):
    """Whether the settings are those of a consumer or of a broker."""

    CONSUMER = "consumer"
    BROKER = "broker"


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding, and the line of its setting; None if it is about a default."""

    finding: Finding
    line: int | None


@dataclass(frozen=True, slots=True)
class PropertiesAdvice:
    """The findings about a file.

    `settings` is the number of settings, `unknown_lines` are the lines without one, and `placeholder_lines` those with
    an unresolved placeholder. `other_kind`: the file looks like one of the other kind.
    """

    kind: Kind
    settings: int
    findings: tuple[LocatedFinding, ...]
    unknown_lines: tuple[int, ...]
    placeholder_lines: tuple[int, ...]
    other_kind: bool

    def count(self, severity: Severity) -> int:
        """The number of findings of that severity."""
        return sum(located.finding.severity is severity for located in self.findings)


def advise_text(text: str, kind: Kind, workload: Workload = _DEFAULT_WORKLOAD) -> PropertiesAdvice:
    """Advice on pasted text. Raises ConfigError if it cannot be read or has no setting."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise ConfigError("The text is larger than 1 MB", "Paste the properties of one consumer or broker.")
    return advise(parse_properties(text, "The text"), kind, workload)


def advise(properties: Sequence[Property], kind: Kind, workload: Workload = _DEFAULT_WORKLOAD) -> PropertiesAdvice:
    """Advice on properties. Raises ConfigError if none of them is a setting."""
    named = [its for its in properties if _is_setting(its)]
    if not named:
        count = len(properties)
        where = f"{count:,} {'line' if count == 1 else 'lines'}" if count else "an empty text"
        raise ConfigError(f"There is no setting in {where}", "A setting is a line like group.id=billing.")
    known = {its.key: its.value for its in named if _PLACEHOLDER not in its.value}
    found = advise_client(known, workload) if kind is Kind.CONSUMER else advise_broker(known, workload)
    lines, shown = {its.key: its.line for its in named}, set(named)
    return PropertiesAdvice(
        kind,
        len(lines),
        (*_duplicates(named), *(LocatedFinding(finding, lines.get(finding.key)) for finding in found)),
        tuple(its.line for its in properties if its not in shown),
        tuple(its.line for its in named if _PLACEHOLDER in its.value),
        _is_other(kind, lines),
    )


def _is_setting(its: Property) -> bool:
    """Whether the key can be shown: it is Kafka's or similar to one, or is spelled like one and has a value."""
    if its.key in CONSUMER or its.key in COORDINATOR:
        return True
    if len(its.key) > MAX_KEY_LENGTH:
        return False
    return bool(its.value and _NAME.fullmatch(its.key)) or closest(its.key, _NAMES, MIN_SIMILARITY) is not None


def _duplicates(named: Sequence[Property]) -> Iterator[LocatedFinding]:
    first = dict[str, int]()
    for its in named:
        if its.key in first:
            reason = f"{its.key} is set on line {first[its.key]} and again on line {its.line}; the last one counts."
            yield LocatedFinding(Finding(its.key, Severity.WARNING, reason, "java.util.Properties"), its.line)
        first.setdefault(its.key, its.line)


def _is_other(kind: Kind, lines: Mapping[str, int]) -> bool:
    broker = len(lines.keys() & (COORDINATOR.keys() | _BROKER_ONLY))
    consumer = len(lines.keys() & CONSUMER.keys())
    return broker > consumer if kind is Kind.CONSUMER else consumer > broker
