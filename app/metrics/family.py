"""Families of metrics, and sets of them under the names that other exporters use."""

from collections.abc import Callable
from dataclasses import dataclass

from app.metrics.labels import LabelNames, Labels
from app.metrics.selection import Level
from app.metrics.text_format import Samples
from app.metrics.view import Polled, View

ABSENT = "absent"
NAN = "NaN"
NEVER_UNKNOWN = "–"


@dataclass(frozen=True, slots=True)
class Family:
    """A metric of a cluster that was read. `labels` are for the documentation, `unknown` says what stands for an
    unknown value, and `samples` returns the series of one cluster.
    """

    name: str
    level: Level
    labels: str
    meaning: str
    samples: Callable[[View, Labels], Samples]
    unknown: str = ABSENT
    kind: str = "gauge"


@dataclass(frozen=True, slots=True)
class PollingFamily:
    """A metric of any cluster, read or not; `samples` takes the cluster's labels."""

    name: str
    labels: str
    meaning: str
    samples: Callable[[Polled, str], Samples]
    unknown: str = NEVER_UNKNOWN
    kind: str = "gauge"


@dataclass(frozen=True, slots=True)
class NameSet:
    """The families that one exporter offers, and how it names labels."""

    labels: LabelNames
    polling: tuple[PollingFamily, ...]
    families: tuple[Family, ...]
