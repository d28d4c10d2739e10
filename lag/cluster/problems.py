"""The problems of a poll, one per cause."""

from collections.abc import Sequence
from dataclasses import replace

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.cluster.requests.metadata import NO_LEADER, Metadata
from lag.cluster.requests.poll_client import PollClient
from lag.model import Problem, Scope


def of_brokers(client: PollClient, meta: Metadata, unlisted: list[Problem]) -> list[Problem]:
    """Failed brokers with the number of partitions that they lead, and partitions without a leader."""
    failed = {**{p.subject: p for p in unlisted}, **{str(node): p for node, p in client.failed.items()}}
    counts = {node: sum(nodes.count(node) for nodes in meta.leaders.values()) for node in client.failed}
    found = [replace(p, affected=counts.get(int(subject))) for subject, p in sorted(failed.items())]
    found += without_coordinator(meta.leaders.get(OFFSETS_TOPIC, ()))
    found += [leaderless(t.name, t.leaderless) for t in meta.topics.values() if t.leaderless and not t.internal]
    return found


def without_coordinator(leaders: Sequence[int]) -> list[Problem]:
    """The partitions of `__consumer_offsets` without a leader, whose groups have no coordinator; `leaders`: of each."""
    lost = sum(leader == NO_LEADER for leader in leaders)
    if not lost:
        return []
    cause = f"{lost} of {len(leaders)} partitions of {OFFSETS_TOPIC} {'has' if lost == 1 else 'have'} no leader"
    hint = "Their groups have no coordinator and are missing here; start the broker"
    return [Problem("coordinator_unavailable", Scope.CLUSTER, OFFSETS_TOPIC, cause, hint, lost)]


def leaderless(topic: str, partitions: Sequence[int]) -> Problem:
    """Partitions of one topic without a leader."""
    listed = ", ".join(map(str, partitions[:10])) + (", …" if len(partitions) > 10 else "")
    is_one = len(partitions) == 1
    cause = f"partition {listed} has no leader" if is_one else f"{len(partitions)} partitions have no leader ({listed})"
    hint = f"Start a broker that has a replica of {'it' if is_one else 'them'}"
    return Problem("leaderless", Scope.TOPIC, topic, cause, hint, len(partitions))
