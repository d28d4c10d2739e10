"""The metric names and labels in a PromQL expression, and what /metrics has."""

import re
from collections.abc import Iterator, Mapping

from app.exports.promql import LABELS

_MENTION = re.compile(r"(?<![\w:$\"])([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?")
_GROUPED = re.compile(r"\b(?:by|on|group_left)\s*\(([^)]*)\)")
_MATCHER = re.compile(r"(\w+)\s*(?:=~|!=|!~|=)\s*\"")


def mentions(expr: str) -> Iterator[tuple[str, list[str]]]:
    """Each metric of ours in the expression, with the labels of its selector."""
    for name, braces in _MENTION.findall(expr):
        if name.startswith("groupscope_"):
            yield name, _MATCHER.findall(braces)


def grouping(expr: str) -> set[str]:
    """The labels in `by`, `on` and `group_left`."""
    return {label.strip() for labels in _GROUPED.findall(expr) for label in labels.split(",") if label.strip()}


def check(expr: str, known: Mapping[str, tuple[str, ...]] = LABELS) -> None:
    """Every metric and label in the expression is one of /metrics."""
    found = list(mentions(expr))
    assert found, expr
    of_metrics = {label for name, _ in found for label in known[name]}
    assert grouping(expr) <= of_metrics, expr
    for name, labels in found:
        assert set(labels) <= set(known[name]), expr
