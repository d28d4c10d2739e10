"""The memory of a collector that keeps a history: an hour of polls under a simulated clock, in a process of its own.

All is as in `groupscope serve` but the brokers: snapshots come from a generator, and the recorder's thread is replaced
by its work, done after as many polls as its time is worth. What is in memory grows until its windows are full.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import uuid4

import numpy as np
import psutil

from benchmarks.child import answer
from benchmarks.report import Row
from lag.history.recorder import FLUSH_S, SnapshotRecorder
from lag.history.store import History
from lag.model import ClusterSnapshot, GroupSnapshot, UnreadRange
from lag.offsets import OffsetTable, PartitionRows
from lag.polling.collector import Collector
from lag.times import wall_clock_ms
from lag.verdict.status import Status
from tests.app import synthetic

GROUPS, PARTITIONS = 1_000, 10
INTERVAL_MS, POLLS = 10_000, 360
TOLD_EVERY = 60
DAY_OVER_AFTER = 2
"""After this many ten-minute figures all windows are full."""

PATIENCE_S = 900.0


def rows() -> Iterator[Row]:
    """Resident memory every ten minutes, and by how much it grew after the first twenty."""
    figures_mb = answer(PATIENCE_S, hour)
    if figures_mb is None:
        yield Row("an hour of polls with history on", "none", f"not done within {PATIENCE_S:.0f} s")
        return
    for number, megabytes in enumerate(figures_mb, 1):
        yield Row(
            f"{number * 10} min: {GROUPS:,} groups x {PARTITIONS} partitions, history on", f"{megabytes:.0f} MB", ""
        )
    grown = figures_mb[-1] - figures_mb[DAY_OVER_AFTER - 1]
    yield Row("growth from minute 20 to minute 60", f"{grown:.0f} MB", "goal: flat")


def hour() -> list[float]:
    """MB resident after every ten simulated minutes."""
    with tempfile.TemporaryDirectory() as folder:
        recorder = SnapshotRecorder(History(folder))
        cluster = Cluster(recorder)
        collector = Collector("bench", lambda: cluster, 0.001, record=recorder.observe, clock_ms=lambda: cluster.at_ms)
        collector.start()
        collector.wait_for(POLLS + 1, PATIENCE_S)
        collector.stop()
        return cluster.figures_mb


class Cluster:
    """A reader whose cluster moves: every log grows, its readers follow. A poll is ten seconds after the one before."""

    def __init__(self, recorder: SnapshotRecorder) -> None:
        self._recorder = recorder
        made = synthetic.snapshot([_spec(number) for number in range(GROUPS)])
        topics = {topic.name: replace(topic, topic_id=str(uuid4())) for topic in made.topics.values()}
        self._first = replace(made, topics=topics)
        self._dice = np.random.default_rng(1)
        self.at_ms = wall_clock_ms() - POLLS * INTERVAL_MS
        self.figures_mb: list[float] = []

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        """The next poll; what was recorded before it is written when its time has come."""
        if number % round(FLUSH_S * 1000 / INTERVAL_MS) == 0:
            self._recorder.flush()
        if number > 1 and (number - 1) % TOLD_EVERY == 0:
            self.figures_mb.append(psutil.Process().memory_info().rss / 1e6)
        self.at_ms += INTERVAL_MS
        return self._snapshot(number, at_ms)

    def _snapshot(self, number: int, at_ms: int) -> ClusterSnapshot:
        table = self._first.offsets
        grown = table.ends.log_end + number * 100
        ends = replace(table.ends, log_end=grown, last_stable=grown)
        lag = self._dice.integers(0, 500, len(table.lag))
        offsets = replace(table, at_ms=at_ms, ends=ends, committed=grown[table.end] - lag, lag=lag)
        groups = tuple(_moved(group, at, offsets) for at, group in enumerate(self._first.groups))
        return replace(self._first, number=number, at_ms=at_ms, offsets=offsets, groups=groups)

    def unread(self, ranges: Sequence[UnreadRange]) -> Sequence[None]:
        """Nothing is known of what is in the partitions."""
        return [None for _ in ranges]

    def close(self) -> None:
        """There is nothing to close."""


def _spec(number: int) -> synthetic.Spec:
    """A group of one member on a topic of its own."""
    rows = synthetic.rows(f"topic-{number:04}", [10_000] * PARTITIONS, [0] * PARTITIONS, 1)
    return synthetic.Spec(f"group-{number:04}", rows, synthetic.members(1, f"m{number}"), Status.OK)


def _moved(group: GroupSnapshot, number: int, offsets: OffsetTable) -> GroupSnapshot:
    rows = PartitionRows(offsets, offsets.rows(number), [member.member_id for member in group.members])
    return replace(group, at_ms=offsets.at_ms, partitions=rows)
