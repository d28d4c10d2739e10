"""What a finding is, and the findings that need nothing but names and numbers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

Properties = Mapping[str, str]

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


class Severity(StrEnum):
    """Kafka refuses it, or it is accepted and will hurt."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of advice: which setting, why, who says so, and the better value (None: there is no single one)."""

    key: str
    severity: Severity
    reason: str
    source: str
    better: str | None = None


def unknown(properties: Properties, known: frozenset[str], source: str) -> Iterator[Finding]:
    """Keys that Kafka does not know, each with the nearest one it does."""
    for key in properties:
        if key not in known:
            near = next(iter(get_close_matches(key, sorted(known), 1)), None)
            hint = f"Did you mean {near}?" if near else "Only plugins, such as deserializers, may read it."
            yield Finding(key, Severity.WARNING, f"Kafka does not know {key} and ignores it. {hint}", source, near)


class Numbers:
    """The whole numbers among the properties, defaults filled in; what cannot be read becomes a finding.

    The finding does not repeat the value: a secret may have been put on the wrong line.
    """

    def __init__(self, properties: Properties, defaults: Mapping[str, int], source: str) -> None:
        self.values = dict(defaults)
        self.findings = list[Finding]()
        for key in defaults.keys() & properties.keys():
            if _WHOLE.fullmatch(text := properties[key].strip()):
                self.values[key] = int(text)
            else:
                reason = f"The value of {key} is not a whole number (ConfigException)."
                self.findings.append(Finding(key, Severity.ERROR, reason, source, str(defaults[key])))

    def __getitem__(self, key: str) -> int:
        return self.values[key]
