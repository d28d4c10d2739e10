"""From a snapshot to a report: adds the last known groups, and computes verdicts with the earlier samples."""

from collections.abc import Sequence
from typing import Protocol

from lag.model import ClusterSnapshot, Remainder
from lag.offsets import PartitionLag
from lag.polling.last_known import carry_forward
from lag.polling.marker_checks import MarkerChecks
from lag.polling.report import Report
from lag.verdict.judge import judge
from lag.verdict.sample_window import SampleRing
from lag.verdict.status import Rules


class ClusterReader(Protocol):
    """What a collector polls (`lag.cluster.reader.ClusterReader`)."""

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        """Snapshot `number`, taken at `at_ms`. Raises GroupscopeError when nothing could be read."""

    def remainders(self, rows: Sequence[PartitionLag]) -> Sequence[Remainder]:
        """What a consumer can still read in each of `rows` of the last snapshot."""

    def close(self) -> None:
        """Close every connection; a `read` in another thread fails."""


class Evaluator:
    """The state between polls that verdicts need: the samples, and what is known of transaction markers."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._samples = SampleRing()
        self._marker_checks = MarkerChecks()
        self._last: ClusterSnapshot | None = None

    def evaluate(self, reader: ClusterReader, number: int, at_ms: int) -> Report:
        """Poll the reader and compute the verdicts. Raises what the reader raises."""
        snapshot = carry_forward(self._last, reader.read(number, at_ms))
        window = self._samples.append(snapshot)
        health = judge(snapshot, window, self._rules, self._marker_checks.column(snapshot))
        self._marker_checks.look(health, reader.remainders)
        self._last = snapshot
        return Report(snapshot, health, window)

    def forget_samples(self) -> None:
        """Start the window again: after an internal error its samples may be incomplete."""
        self._samples = SampleRing()
