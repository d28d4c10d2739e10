"""PromQL about our own metrics. A name or a label that /metrics does not have raises KeyError or ValueError."""

import re
from collections.abc import Mapping

from app.metrics.family import Family, PollingFamily
from app.metrics.own import OWN
from app.metrics.scrape import LEFT_OUT, LEFT_OUT_LABELS

_FAMILIES: tuple[Family | PollingFamily, ...] = (*OWN.polling, *OWN.families)
MEANINGS: Mapping[str, str] = {family.name: family.meaning for family in _FAMILIES} | LEFT_OUT
"""What each metric means."""

LABELS: Mapping[str, tuple[str, ...]] = {
    name: tuple(labels.split(", "))
    for name, labels in [(f.name, f.labels) for f in _FAMILIES] + [(name, LEFT_OUT_LABELS) for name in LEFT_OUT]
}
"""The labels of each metric, without those that Prometheus adds."""


def selector(name: str, *matchers: str) -> str:
    """The metric, limited by matchers such as `verdict="stopped"`."""
    for matcher in matchers:
        label = re.split("[=!]", matcher)[0]
        if label not in LABELS[name]:
            raise ValueError(f"{name} has no label {label}")
    return f"{name}{{{','.join(matchers)}}}" if LABELS[name] and matchers else name


def series(name: str, *matchers: str, aggregate: str = "max") -> str:
    """One series for each set of its labels, also where several servers read the same cluster."""
    return f"{aggregate} by ({', '.join(LABELS[name])}) ({selector(name, *matchers)})"


def over_time(function: str, name: str, window: str, *matchers: str, after: str = "") -> str:
    """A function of the metric over a window, such as `deriv`, with a further argument `after`; one series as above."""
    arguments = ", ".join(filter(None, (f"{selector(name, *matchers)}[{window}]", after)))
    return f"max by ({', '.join(LABELS[name])}) ({function}({arguments}))"


def increase_rate(name: str, *matchers: str) -> str:
    """Records per second by which an offset moved forward over 5 minutes; an offset that moved back counts as 0."""
    return f"clamp_min({over_time('deriv', name, '5m', *matchers)}, 0)"
