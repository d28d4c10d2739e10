"""Other exporters and `groupscope serve` on one broker, each as Prometheus has it: scraped every 15 s.

Before, `__consumer_offsets` gets RECORDS commits beside those of the groups, which an exporter reads or not. What an
exporter does when it is scraped and what it does in between both count. A scrape that takes longer than 15 s delays the
next one to the next multiple of 15 s, as with Prometheus. An exporter that fails is a row with the reason.

GROUPSCOPE_BENCH_GROUPS, GROUPSCOPE_BENCH_RECORDS and GROUPSCOPE_BENCH_SECONDS shorten the run;
GROUPSCOPE_TEST_EXPORTERS names the folder of the exporters (docs/contributing.md says how to build them).
"""

import gzip
import os
import re
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from http.client import HTTPException
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

GROUPS, PARTITIONS = int(os.environ.get("GROUPSCOPE_BENCH_GROUPS", "5000")), 10
PREFIX = "exporters"
RECORDS = int(os.environ.get("GROUPSCOPE_BENCH_RECORDS", "2000000"))
DURATION_S = float(os.environ.get("GROUPSCOPE_BENCH_SECONDS", "300"))
SCRAPE_EVERY_S = 15.0
LOOK_EVERY_S = 0.2
COMPLETE_WITHIN_S = 240.0
MOST_REASON = 200
OURS = replace(
    KMINION,
    program=GROUPSCOPE,
    arguments=("serve", "--bootstrap-server", "{bootstrap}", "--port", "{port}", "--no-browser"),
    environment={},
)
DEFAULT_BURROW = replace(
    BURROW, files={name: re.sub(r"(offset-refresh|expire-cache) = 1\n", "", it) for name, it in BURROW.files.items()}
)
"""With its own intervals: the tests' are shorter."""
LAG_OF_A_PARTITION = {
    "groupscope": (OURS, "groupscope_group_partition_lag_records"),
    "kminion": (KMINION, "kminion_kafka_consumer_group_topic_partition_lag"),
    "kafka_exporter": (KAFKA_EXPORTER, "kafka_consumergroup_lag"),
    "Burrow": (DEFAULT_BURROW, "burrow_kafka_consumer_partition_lag"),
}
"""Each exporter, and the metric of which it has one series for every partition of every group."""


class Failed(Exception):
    """An exporter has no figures; str() says why."""


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
        _progress(f"{GROUPS:,} groups commit")
        fill.groups(kafka.bootstrap_servers, PREFIX, GROUPS, PARTITIONS)
        _progress(f"{RECORDS:,} records are produced to __consumer_offsets")
        produce(kafka.bootstrap_servers, RECORDS)
        for name, (exporter, metric) in LAG_OF_A_PARTITION.items():
            if exporter.path is None:
                yield Row(name, "skipped", f"it is neither on PATH nor in the folder that {FOLDER} names")
                continue
            try:
                yield from _rows(name, _measured(name, exporter, metric, kafka.bootstrap_servers))
            except Failed as failed:
                yield Row(name, "failed", f"{failed}; load {load()}")


def _rows(name: str, figures: Figures) -> Iterator[Row]:
    what = f"{GROUPS:,} groups x {PARTITIONS} partitions, {RECORDS:,} records in __consumer_offsets"
    cpu = f"{figures.complete_cpu_s:.1f} s of processor time; load {load()}"
    yield Row(f"{name}: first complete /metrics", f"{figures.complete_s:.1f} s", f"{what}; {cpu}")
    scrapes = f"{len(figures.scrapes_s)} scrapes in {figures.spent_s:.0f} s"
    share = f"{100 * figures.cpu_s / figures.spent_s:.0f} % of one core; {scrapes}"
    yield Row(f"{name}: processor time", f"{figures.cpu_s:.1f} s", share)
    took = f"a scrape took {median(figures.scrapes_s):.2f} s, at most {max(figures.scrapes_s):.2f} s"
    yield Row(f"{name}: memory at most", f"{figures.memory_mb:.0f} MB", took)


def _measured(name: str, exporter: Exporter, metric: str, bootstrap: str) -> Figures:
    """Raises Failed."""
    with tempfile.TemporaryDirectory() as folder, running(exporter, bootstrap, Path(folder)) as served:
        try:
            return _watched(name, served, _completed(name, served, metric))
        except (OSError, HTTPException, psutil.Error) as error:
            raise Failed(f"{error}; its log ends with: {_log_end(Path(folder))}") from error


def _completed(name: str, served: Running, metric: str) -> float:
    """Seconds until it had all series."""
    began, found = time.monotonic(), -1
    while (spent_s := time.monotonic() - began) < COMPLETE_WITHIN_S:
        if served.process.poll() is not None:
            raise ChildProcessError(f"it ended with exit code {served.process.returncode}")
        before, found = found, _series(served, metric, COMPLETE_WITHIN_S - spent_s)
        if found != before:
            _progress(f"{name}: {found:,} of {GROUPS * PARTITIONS:,} series after {time.monotonic() - began:.1f} s")
        if found >= GROUPS * PARTITIONS:
            return time.monotonic() - began
        time.sleep(LOOK_EVERY_S)
    raise TimeoutError(f"{max(found, 0):,} of {GROUPS * PARTITIONS:,} series within {COMPLETE_WITHIN_S:.0f} s")


def _watched(name: str, served: Running, complete_s: float) -> Figures:
    """Over DURATION_S, or as long as the last scrape takes."""
    began, cpu_s = time.monotonic(), _cpu_s(served)
    scrapes, memory, next_s = list[float](), list[float](), 0.0
    while next_s < DURATION_S:
        time.sleep(max(0.0, began + next_s - time.monotonic()))
        asked = time.monotonic()
        _text(served, COMPLETE_WITHIN_S)
        scrapes.append(time.monotonic() - asked)
        memory.append(_total(served, lambda process: process.memory_info().rss) / 1e6)
        _progress(f"{name}: a scrape after {next_s:.0f} s took {scrapes[-1]:.2f} s")
        next_s = SCRAPE_EVERY_S * (1 + (time.monotonic() - began) // SCRAPE_EVERY_S)
    time.sleep(max(0.0, began + DURATION_S - time.monotonic()))
    spent_s = time.monotonic() - began
    return Figures(complete_s, cpu_s, spent_s, _cpu_s(served) - cpu_s, max(memory), tuple(scrapes))


def _cpu_s(served: Running) -> float:
    return _total(served, lambda process: process.cpu_times().user + process.cpu_times().system)


def _total(served: Running, of: Callable[[psutil.Process], float]) -> float:
    """The sum over the exporter's process and its children."""
    process, total = psutil.Process(served.process.pid), 0.0
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # a child that has just ended
            total += of(each)
    return total


def _series(served: Running, metric: str, within_s: float) -> int:
    """How many series of the metric there are of our groups; 0 as long as it does not answer."""
    try:
        lines = _text(served, within_s).splitlines()
    except (OSError, HTTPException):
        return 0
    return sum(line.startswith(f"{metric}{{") and f'"{PREFIX}-' in line for line in lines)


def _text(served: Running, within_s: float) -> str:
    """As Prometheus asks for it."""
    request = urllib.request.Request(served.address, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=within_s) as response:
        body: bytes = response.read()
        is_compressed = response.headers["Content-Encoding"] == "gzip"
    return (gzip.decompress(body) if is_compressed else body).decode()


def _log_end(folder: Path) -> str:
    """The end of the last line of the exporter's log, as a cell of a table."""
    lines = (folder / "log").read_text(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "nothing")[-MOST_REASON:].replace("|", "/")


def _progress(what: str) -> None:
    print(f"exporters: {what}", file=sys.stderr, flush=True)
