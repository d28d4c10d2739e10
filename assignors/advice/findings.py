"""Findings, and those that only need the table of settings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from assignors.advice.config_def import Definition
from assignors.spelling import closest

Properties = Mapping[str, str]


class Severity(StrEnum):
    """ERROR: Kafka refuses it. WARNING: Kafka accepts it, but it causes problems."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """Advice about a setting, with its reason, its source and a better value (None: there is no single one)."""

    key: str
    severity: Severity
    reason: str
    source: str
    better: str | None = None


def error(key: str, reason: str, source: str, better: str | None = None) -> Finding:
    return Finding(key, Severity.ERROR, reason, source, better)


def warning(key: str, reason: str, source: str, better: str | None = None) -> Finding:
    return Finding(key, Severity.WARNING, reason, source, better)


def errors_first(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.severity is not Severity.ERROR)


def unknown(properties: Properties, known: Mapping[str, Definition], source: str) -> Iterator[Finding]:
    """Keys that Kafka does not know, with the closest known one."""
    names = sorted(known)
    for key in properties:
        if key not in known:
            near = closest(key, names)
            hint = f"Did you mean {near}?" if near else "Only plugins, such as deserializers, may read it."
            yield warning(key, f"Kafka does not know {key} and ignores it. {hint}", source, near)


def refused(properties: Properties, known: Mapping[str, Definition], source: str) -> Iterator[Finding]:
    """Values that Kafka's ConfigDef refuses.

    The reason repeats only numbers: the value may be a secret on the wrong line.
    """
    for key in filter(known.__contains__, properties):
        definition, text = known[key], properties[key]
        if not definition.takes(text):
            number = definition.whole(text) if definition.is_whole else None
            value = f"The value of {key} is refused" if number is None else f"{key} is {number}"
            reason = f"{value}: Kafka throws ConfigException, expecting {definition.asked}."
            better = None if definition.default is None else str(definition.default)
            yield error(key, reason, source, better)


def numbers(properties: Properties, known: Mapping[str, Definition]) -> dict[str, int]:
    """The integer settings; Kafka's default if one is missing or refused."""
    found = {key: definition.default for key, definition in known.items() if isinstance(definition.default, int)}
    for key in filter(known.__contains__, properties):
        number = known[key].whole(properties[key]) if known[key].is_whole else None
        if number is not None and known[key].takes(properties[key]):
            found[key] = number
    return found
