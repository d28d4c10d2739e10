"""Other exporters and `groupscope serve` on one broker, each as Prometheus has it: scraped every 15 s.

Before, `__consumer_offsets` gets RECORDS commits beside those of the groups, which an exporter reads or not. What an
exporter does when it is scraped and what it does in between both count. GROUPSCOPE_BENCH_RECORDS and
GROUPSCOPE_BENCH_SECONDS shorten the run; GROUPSCOPE_TEST_EXPORTERS names the folder of the exporters.
"""

import gzip
import os
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import psutil

from benchmarks import fill
from benchmarks.measure import GROUPSCOPE, load
from benchmarks.report import Row
from benchmarks.stream import PARTITIONS as OFFSETS_PARTITIONS
from benchmarks.stream import produce
from lag.embedded.broker import EmbeddedKafka
from tests.app.metrics.peers.exporters import BURROW, FOLDER, KAFKA_EXPORTER, KMINION, Exporter, Running, running

GROUPS, PARTITIONS = 5_000, 10
RECORDS = int(os.environ.get("GROUPSCOPE_BENCH_RECORDS", "2000000"))
DURATION_S = float(os.environ.get("GROUPSCOPE_BENCH_SECONDS", "300"))
SCRAPE_EVERY_S = 15.0
LOOK_EVERY_S = 0.2
COMPLETE_WITHIN_S = 300.0
OURS = replace(
    KMINION,
    program=GROUPSCOPE,
    arguments=("serve", "--bootstrap-server", "{bootstrap}", "--port", "{port}", "--no-browser"),
    environment={},
)
LAG_OF_A_PARTITION = {
    "groupscope": (OURS, "groupscope_group_partition_lag_records"),
    "kminion": (KMINION, "kminion_kafka_consumer_group_topic_partition_lag"),
    "kafka_exporter": (KAFKA_EXPORTER, "kafka_consumergroup_lag"),
    "Burrow": (BURROW, "burrow_kafka_consumer_partition_lag"),
}
"""Each exporter, and the metric of which it has one series for every partition of every group."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Until the first complete scrape, and then over `spent_s`: processor time, memory in MB, each scrape."""

    complete_s: float
    complete_cpu_s: float
    spent_s: float
    cpu_s: float
    memory_mb: float
    scrapes_s: tuple[float, ...]


def rows() -> Iterator[Row]:
    """Three figures for each exporter that is installed."""
    with EmbeddedKafka(offsets_partitions=OFFSETS_PARTITIONS) as kafka:
        fill.groups(kafka.bootstrap_servers, "exporters", GROUPS, PARTITIONS)
        produce(kafka.bootstrap_servers, RECORDS)
        for name, (exporter, metric) in LAG_OF_A_PARTITION.items():
            if exporter.path is None:
                yield Row(name, "skipped", f"it is neither on PATH nor in the folder that {FOLDER} names")
            else:
                yield from _rows(name, _measured(exporter, metric, kafka.bootstrap_servers))


def _rows(name: str, figures: Figures | None) -> Iterator[Row]:
    if figures is None:
        yield Row(f"{name}: first complete /metrics", "none", f"not within {COMPLETE_WITHIN_S:.0f} s; load {load()}")
        return
    what = f"{GROUPS:,} groups x {PARTITIONS} partitions, {RECORDS:,} records in __consumer_offsets"
    cpu = f"{figures.complete_cpu_s:.1f} s of processor time; load {load()}"
    yield Row(f"{name}: first complete /metrics", f"{figures.complete_s:.1f} s", f"{what}; {cpu}")
    scrapes = f"{len(figures.scrapes_s)} scrapes in {figures.spent_s:.0f} s"
    share = f"{100 * figures.cpu_s / figures.spent_s:.0f} % of one core; {scrapes}"
    yield Row(f"{name}: processor time", f"{figures.cpu_s:.1f} s", share)
    took = f"a scrape took {median(figures.scrapes_s):.2f} s, at most {max(figures.scrapes_s):.2f} s"
    yield Row(f"{name}: memory at most", f"{figures.memory_mb:.0f} MB", took)


def _measured(exporter: Exporter, metric: str, bootstrap: str) -> Figures | None:
    """None if it does not have all series in time."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        with running(exporter, bootstrap, Path(folder)) as served:
            while _series(served, metric) < GROUPS * PARTITIONS:
                if time.monotonic() - began > COMPLETE_WITHIN_S:
                    return None
                time.sleep(LOOK_EVERY_S)
            return _watched(served, time.monotonic() - began)


def _watched(served: Running, complete_s: float) -> Figures:
    """Over DURATION_S, or as long as the scrapes take."""
    began, cpu_s = time.monotonic(), _cpu_s(served)
    scrapes, memory = [], []
    for number in range(round(DURATION_S / SCRAPE_EVERY_S)):
        time.sleep(max(0.0, began + number * SCRAPE_EVERY_S - time.monotonic()))
        asked = time.monotonic()
        _text(served)
        scrapes.append(time.monotonic() - asked)
        memory.append(sum(process.memory_info().rss for process in _processes(served)) / 1e6)
    time.sleep(max(0.0, began + DURATION_S - time.monotonic()))
    spent_s = time.monotonic() - began
    return Figures(complete_s, cpu_s, spent_s, _cpu_s(served) - cpu_s, max(memory), tuple(scrapes))


def _processes(served: Running) -> list[psutil.Process]:
    process = psutil.Process(served.pid)
    return [process, *process.children(recursive=True)]


def _cpu_s(served: Running) -> float:
    times = [process.cpu_times() for process in _processes(served)]
    return sum(each.user + each.system for each in times)


def _series(served: Running, metric: str) -> int:
    """How many series of the metric there are; 0 as long as it does not answer."""
    try:
        return _text(served).count(f"\n{metric}{{")
    except OSError:
        return 0


def _text(served: Running) -> str:
    """As Prometheus asks for it."""
    request = urllib.request.Request(served.address, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=120) as response:
        body: bytes = response.read()
        is_compressed = response.headers["Content-Encoding"] == "gzip"
    return (gzip.decompress(body) if is_compressed else body).decode()
