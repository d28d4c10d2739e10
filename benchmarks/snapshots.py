"""How fast a whole cluster is read: `groupscope snapshot` beside `kafka-consumer-groups --describe --all-groups`."""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import fill
from benchmarks.measure import GROUPSCOPE, Run, process, typical
from benchmarks.report import Row
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.embedded.jars import kafka_classpath
from lag.embedded.java import find_java

TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
RUNS = 5
PEER_RUNS = 3
DEADLINE_S = 5.0


def rows() -> Iterator[Row]:
    """Start-up of a broker, 5,000 groups beside the peer, 20,000 groups twice, one of three brokers frozen."""
    kafka_classpath()  # fetched before, and not counted
    began = time.monotonic()
    with EmbeddedKafka() as kafka:
        yield Row("embedded Kafka, start to ready", f"{time.monotonic() - began:.1f} s", "goal < 6 s")
        fill.groups(kafka.bootstrap_servers, "five", 5_000, 10)
        yield from _beside_peer(kafka.bootstrap_servers)
    with EmbeddedKafka() as kafka:
        fill.groups(kafka.bootstrap_servers, "twenty", 20_000, 25)
        yield from _large(kafka.bootstrap_servers)
    with EmbeddedKafka(brokers=3) as kafka:
        fill.groups(kafka.bootstrap_servers, "frozen", 300, 10)
        yield from _frozen(kafka)


def _beside_peer(bootstrap: str) -> Iterator[Row]:
    ours = typical([_snapshot(bootstrap) for _ in range(RUNS)])
    peer = typical([_peer(bootstrap) for _ in range(PEER_RUNS)])
    ratio = f"{peer.wall_s / ours.wall_s:.1f}x faster (goal 8x), {ours.peak_mb:.0f} MB (goal < 200 MB)"
    yield Row("5,000 groups x 10 partitions, whole process, JSON written", f"{ours.wall_s:.2f} s", ratio)
    yield Row(
        "the same, kafka-consumer-groups --describe --all-groups", f"{peer.wall_s:.2f} s", f"{peer.peak_mb:.0f} MB"
    )
    yield Row("requests per broker for it", _requests(bootstrap), "")


def _snapshot(bootstrap: str) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        run = process([GROUPSCOPE, "snapshot", "--bootstrap-server", bootstrap, "--json"], Path(folder) / "ours.json")
        document = json.loads(run.stdout.read_text())
    assert document["complete"], document["problems"]
    return run


def _peer(bootstrap: str) -> Run:
    java = [str(find_java().executable), "-cp", ":".join(map(str, kafka_classpath())), TOOL]
    with tempfile.TemporaryDirectory() as folder:
        command = [*java, "--bootstrap-server", bootstrap, "--describe", "--all-groups"]
        return process(command, Path(folder) / "peer.txt")


def _requests(bootstrap: str) -> str:
    reader = open_reader(load_settings(bootstrap, None, {}), "bench", DEADLINE_S)
    try:
        return ", ".join(f"broker {b.node_id}: {b.requests}" for b in reader.read(1, 0).brokers)
    finally:
        reader.close()


def _large(bootstrap: str) -> Iterator[Row]:
    run = _snapshot(bootstrap)
    yield Row(
        "20,000 groups x 25 partitions, whole process, JSON written",
        f"{run.wall_s:.2f} s",
        f"goal < 15 s; {run.peak_mb:.0f} MB (goal < 1024 MB)",
    )
    reader = open_reader(load_settings(bootstrap, None, {}), "bench", DEADLINE_S)
    try:
        polls = [reader.read(number, 0).took_s for number in range(4)]
    finally:
        reader.close()
    later = ", ".join(f"{took:.2f} s" for took in polls[1:])
    yield Row("the same, first poll and the next three", f"{polls[0]:.2f} s then {later}", "goal: not slower")


def _frozen(kafka: EmbeddedKafka) -> Iterator[Row]:
    reader = open_reader(load_settings(kafka.bootstrap_servers, None, {}), "bench", DEADLINE_S)
    try:
        whole = reader.read(1, 0)
        kafka.broker(2).pause()
        began = time.monotonic()
        rest = reader.read(2, 0)
        took_s = time.monotonic() - began
        kafka.broker(2).resume()
    finally:
        reader.close()
    named = [problem.subject for problem in rest.problems if problem.scope == "broker"]
    yield Row(
        "one of three brokers frozen: the snapshot of the rest",
        f"{took_s:.2f} s",
        f"deadline 5 s; complete={rest.complete}, names broker {', '.join(named)}, "
        f"{len(rest.groups)} of {len(whole.groups)} groups",
    )
