"""A scrape of 50,000 partitions of groups, and prometheus_client's rendering of the same samples."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
from prometheus_client import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from app.metrics.options import NAME_SETS, Options
from app.metrics.scrape import scrape
from app.metrics.text_format import PLAIN
from app.metrics.view import Polled
from benchmarks.measure import load
from benchmarks.report import Row
from lag.model import ClusterSnapshot
from lag.polling.report import CollectorStatus, Report
from lag.verdict.judge import judge
from lag.verdict.window.sample_window import MAX_SAMPLES, SampleRing
from tests.lag.make import cluster, end, group

GROUPS, PARTITIONS, TOPICS = 5_000, 10, 100
INTERVAL_MS = 10_000
RUNS = 5
GOAL_S = 1.0
NO_LIMIT = 10_000_000
T = TypeVar("T")


class Families(Collector):
    """Metric families that are there already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable[Metric]:
        """All of them."""
        return self._families


def rows() -> Iterator[Row]:
    """Processor time for each set of names, then for all; prometheus_client gets samples that are made before."""
    polled = Polled("bench", fleet(), CollectorStatus(10.0, polls=MAX_SAMPLES), MAX_SAMPLES * INTERVAL_MS)
    for names in (*((name,) for name in NAME_SETS), NAME_SETS):
        options = Options(names=names, max_series=NO_LIMIT)
        took_s, text = _best(partial(_text, polled, options))
        peer_s, _ = _best(partial(generate_latest, Families(text_string_to_metric_families(text))))
        series = sum(not line.startswith("#") for line in text.splitlines())
        yield Row(
            f"{GROUPS:,} groups x {PARTITIONS} partitions, names={'all' if names is NAME_SETS else names[0]}",
            f"{took_s:.2f} s",
            f"{series:,} series, {len(text) / 1e6:.0f} MB; goal < {GOAL_S:.0f} s; prometheus_client, samples at hand: "
            f"{peer_s:.2f} s; load {load()}",
        )


def _text(polled: Polled, options: Options) -> str:
    return "".join(scrape([polled], options, PLAIN))


def _best(work: Callable[[], T]) -> tuple[float, T]:
    """The least processor time of some runs, and what the last one returned. All of it is work of one thread."""
    took = []
    for _ in range(RUNS):
        began = time.process_time()
        result = work()
        took.append(time.process_time() - began)
    return min(took), result


def fleet() -> Report:
    """The report of groups that lag a little, after as many polls as a collector keeps."""
    ends = {f"topic-{topic:03d}-{p}": end(1_000_000) for topic in range(TOPICS) for p in range(PARTITIONS)}
    groups = {
        f"group-{g:05d}": group({f"topic-{g % TOPICS:03d}-{p}": 990_000 + g for p in range(PARTITIONS)}, 2)
        for g in range(GROUPS)
    }
    first, ring = cluster(groups, ends), SampleRing()
    for number in range(1, MAX_SAMPLES + 1):
        snapshot = _later(first, number)
        window = ring.append(snapshot)
    return Report(snapshot, judge(snapshot, window), window)


def _later(first: ClusterSnapshot, number: int) -> ClusterSnapshot:
    """Poll `number`: 1,000 records arrived and were committed since the one before."""
    at_ms, more, table = number * INTERVAL_MS, np.int64(1_000 * number), first.offsets
    ends = replace(table.ends, log_end=table.ends.log_end + more, last_stable=table.ends.last_stable + more)
    offsets = replace(table, at_ms=at_ms, ends=ends, committed=table.committed + more)
    groups = tuple(replace(each, at_ms=at_ms) for each in first.groups)
    return replace(first, number=number, at_ms=at_ms, offsets=offsets, groups=groups)
