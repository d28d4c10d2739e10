"""The clusters, and how well each is read."""

from typing import Any

from typing_extensions import TypedDict

from app.documents.snapshot import ProblemDocument, problems_document
from app.server.api.endpoint import Call, Endpoint, Query
from app.server.feed import Feed
from lag.model import Broker, ClusterSnapshot


class BrokerDocument(TypedDict):
    """A broker; `error` is null if it answered the last poll."""

    node_id: int
    host: str
    port: int
    rack: str | None
    version: str | None
    error: str | None


class PollingDocument(TypedDict):
    """How the cluster is polled. `error` is that of the last poll; null if it was good."""

    interval_s: float
    polls: int
    took_s: float | None
    last_ok_ms: int | None
    next_poll_ms: int | None
    error: str | None
    failing_since_ms: int | None
    consecutive_failures: int


class LatestSnapshotDocument(TypedDict):
    """The latest snapshot of a cluster. `groups`, `topics` and `partitions` are numbers of them."""

    cluster_id: str | None
    number: int
    at_ms: int
    complete: bool
    groups: int
    topics: int
    partitions: int
    brokers: list[BrokerDocument]
    problems: list[ProblemDocument]


class ClusterDocument(TypedDict):
    """A cluster; `snapshot` is null before the first one."""

    cluster: str
    snapshot: LatestSnapshotDocument | None
    polling: PollingDocument


class ClustersDocument(TypedDict):
    """All clusters of this server."""

    clusters: list[ClusterDocument]


def clusters(call: Call[Query]) -> ClustersDocument:
    """Every cluster, in the order of the settings."""
    return {"clusters": [_cluster(name, feed) for name, feed in call.source.feeds.items()]}


def cluster(call: Call[Query]) -> ClusterDocument:
    """One cluster."""
    return _cluster(call.cluster, call.feed)


def _cluster(name: str, feed: Feed) -> ClusterDocument:
    report = feed.latest()
    snapshot = None if report is None else _snapshot(report.snapshot)
    return {"cluster": name, "snapshot": snapshot, "polling": _polling(feed)}


def _snapshot(snapshot: ClusterSnapshot) -> LatestSnapshotDocument:
    return {
        "cluster_id": snapshot.cluster_id,
        "number": snapshot.number,
        "at_ms": snapshot.at_ms,
        "complete": snapshot.complete,
        "groups": len(snapshot.groups),
        "topics": len(snapshot.topics),
        "partitions": sum(topic.partitions for topic in snapshot.topics.values()),
        "brokers": [_broker(broker) for broker in snapshot.brokers],
        "problems": problems_document(snapshot.problems),
    }


def _broker(broker: Broker) -> BrokerDocument:
    return {
        "node_id": broker.node_id,
        "host": broker.host,
        "port": broker.port,
        "rack": broker.rack,
        "version": broker.version,
        "error": broker.error,
    }


def _polling(feed: Feed) -> PollingDocument:
    status = feed.status()
    return {
        "interval_s": status.interval_s,
        "polls": status.polls,
        "took_s": status.took_s,
        "last_ok_ms": status.last_ok_ms,
        "next_poll_ms": status.next_poll_ms,
        "error": None if status.error is None else str(status.error),
        "failing_since_ms": status.failing_since_ms,
        "consecutive_failures": status.consecutive_failures,
    }


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("/clusters", "All clusters", ClustersDocument, clusters, Query),
    Endpoint("/clusters/{cluster}", "One cluster", ClusterDocument, cluster, Query),
)
