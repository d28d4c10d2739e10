"""Configuration advice as JSON: `groupscope advise --json` and `/api/v1/advice`."""

from typing_extensions import TypedDict

from app.properties_advice import Kind, LocatedFinding, PropertiesAdvice
from assignors.advice import Severity


class FindingDocument(TypedDict):
    """One finding. `line` is null if it is about a default, `better` if there is no single better value."""

    severity: Severity
    setting: str
    line: int | None
    reason: str
    better: str | None
    source: str


class AdviceDocument(TypedDict):
    """The findings on `settings` settings. Lines without a setting, or with a placeholder, are not checked."""

    kind: Kind
    settings: int
    findings: list[FindingDocument]
    lines_without_a_setting: list[int]
    lines_with_a_placeholder: list[int]


def advice_document(advice: PropertiesAdvice) -> AdviceDocument:
    """All findings."""
    return {
        "kind": advice.kind,
        "settings": advice.settings,
        "findings": [finding_document(located) for located in advice.findings],
        "lines_without_a_setting": list(advice.unknown_lines),
        "lines_with_a_placeholder": list(advice.placeholder_lines),
    }


def finding_document(located: LocatedFinding) -> FindingDocument:
    """One finding."""
    finding = located.finding
    return {
        "severity": finding.severity,
        "setting": finding.key,
        "line": located.line,
        "reason": finding.reason,
        "better": finding.better,
        "source": finding.source,
    }
