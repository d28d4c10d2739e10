"""Burrow's read endpoints, for scripts and dashboards that know them: bodies, messages and 404s as Burrow's.

The source is `core/internal/httpserver` of linkedin/Burrow at commit ced55ba. What differs: a commit is what a poll saw
(Burrow reads every commit), `maxlag` is the first of equal ones, and lists are sorted.
"""

import logging
import socket
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from app.server import source
from app.server.api.burrow.statuses import (
    ERR,
    INTERVALS,
    NOT_FOUND,
    OK,
    URGENCY,
    Commit,
    PartitionStatus,
    partition_statuses,
)
from app.server.api.dispatch import THREADS, EncodedRoute, encoded, path_as_sent
from app.server.api.endpoint import JSON
from app.server.readiness import readiness
from lag.model import ClusterSnapshot, Member
from lag.offsets import UNKNOWN, Flags
from lag.polling.report import Report
from lag.times import wall_clock_ms

log = logging.getLogger(__name__)

StatusesOf = Callable[[Report, int], Sequence[PartitionStatus]]
Handler = Callable[..., Response]
_NOBODY = Member("")


class NotFound(Exception):
    """What is asked for is not there; the message is Burrow's."""


# -- clusters and topics -----------------------------------------------------------------------------------------------


def cluster_list(request: Request) -> Response:
    """The names of all clusters."""
    return _answer(request, "cluster list returned", clusters=list(source.current().feeds))


def cluster_detail(request: Request, cluster: str) -> Response:
    """How the cluster is read."""
    found = source.current().settings.cluster(cluster)
    if cluster not in source.current().feeds:
        raise NotFound("cluster module not found")
    servers = [] if found is None else found.bootstrap_servers.split(",")
    refresh_s = int(source.current().feeds[cluster].status().interval_s)
    module = {
        "class-name": "kafka",
        "servers": servers,
        "client-profile": {"name": "", "client-id": "", "kafka-version": "", "tls": None, "sasl": None},
        "topic-refresh": refresh_s,
        "offset-refresh": refresh_s,
    }
    return _answer(request, "cluster module detail returned", module=module)


def topic_list(request: Request, cluster: str) -> Response:
    """The names of all topics."""
    report = _report(cluster)
    return _answer(request, "topic list returned", topics=sorted(report.snapshot.topics) if report else [])


def topic_detail(request: Request, cluster: str, topic: str) -> Response:
    """The log end of each partition, without those that are not known."""
    report = _report(cluster, "cluster or topic not found")
    if report is None or topic not in report.snapshot.topics:
        raise NotFound("cluster or topic not found")
    ends = report.snapshot.offsets.ends
    code = ends.topics.index(topic) if topic in ends.topics else len(ends.topics)
    offsets = ends.log_end[(ends.topic == code) & (ends.log_end != UNKNOWN)]
    return _answer(request, "topic offsets returned", offsets=offsets.tolist())


def topic_consumers(request: Request, cluster: str, topic: str) -> Response:
    """The groups that committed to the topic."""
    report = _report(cluster)
    found = [] if report is None else _consumers(report.snapshot, topic)
    return _answer(request, "consumers of topic returned", consumers=found)


# -- consumers ---------------------------------------------------------------------------------------------------------


def consumer_list(request: Request, cluster: str) -> Response:
    """The groups with a committed offset."""
    report = _report(cluster)
    return _answer(request, "consumer list returned", consumers=[] if report is None else _consumers(report.snapshot))


def consumer_detail(request: Request, cluster: str, consumer: str, statuses_of: StatusesOf) -> Response:
    """The last commits of the group by topic and partition, without those it does not know as null."""
    report = _report(cluster, "cluster or consumer not found")
    number = _number(report, consumer)
    if report is None or number is None:
        raise NotFound("cluster or consumer not found")
    topics = {topic: list(map(_stored, rows)) for topic, rows in _by_topic(report, number, statuses_of).items()}
    return _answer(request, "consumer detail returned", topics=topics)


def consumer_status(request: Request, cluster: str, consumer: str, statuses_of: StatusesOf, show_all: bool) -> Response:
    """The status of the group, with all its partitions or only those above OK."""
    report = source.current().feeds[cluster].latest() if cluster in source.current().feeds else None
    number = _number(report, consumer)
    if report is None or number is None:
        status = _group(cluster, consumer, [], show_all) | {"status": NOT_FOUND, "complete": 1.0}
        return _answer(request, "consumer status returned", 404, status=status)
    partitions = [
        _partition(topic, at, *row)
        for topic, rows in _by_topic(report, number, statuses_of).items()
        for at, row in enumerate(rows)
    ]
    return _answer(request, "consumer status returned", status=_group(cluster, consumer, partitions, show_all))


Row = tuple[PartitionStatus, Member]


def _by_topic(report: Report, number: int, statuses_of: StatusesOf) -> dict[str, list[Row]]:
    """The partitions of each topic that the group committed to, by their number; those it never had are empty."""
    snapshot, group = report.snapshot, report.snapshot.groups[number]
    table, rows = snapshot.offsets, snapshot.offsets.rows(number)
    owners = table.member[rows].tolist()
    found: dict[str, dict[int, Row]] = {}
    for row, status, owner in zip(group.partitions, statuses_of(report, number), owners, strict=True):
        member = _NOBODY if owner == UNKNOWN else group.members[owner]
        found.setdefault(row.tp.topic, {})[row.tp.partition] = (status, member)
    empty = PartitionStatus(OK, (), 0), _NOBODY
    return {
        topic: [its.get(at, empty) for at in range(max(_size(snapshot, topic), max(its) + 1))]
        for topic, its in found.items()
        if any(status.commits for status, _ in its.values())
    }


def _size(snapshot: ClusterSnapshot, topic: str) -> int:
    return snapshot.topics[topic].partitions if topic in snapshot.topics else 0


def _stored(row: Row) -> dict[str, Any]:
    """A partition of the consumer detail. `offsets` has INTERVALS slots, null where there was no commit yet."""
    status, member = row
    slots = [None] * (INTERVALS - len(status.commits)) if status.commits else []
    return {
        "offsets": [*slots, *map(_commit, status.commits)],
        "owner": member.host,
        "client_id": member.client_id,
        "current-lag": status.current_lag,
    }


def _partition(topic: str, partition: int, its: PartitionStatus, member: Member) -> dict[str, Any]:
    return {
        "topic": topic,
        "partition": partition,
        "owner": member.host,
        "client_id": member.client_id,
        "status": its.status,
        "start": _commit(its.commits[0]) if its.commits else None,
        "end": _commit(its.commits[-1]) if its.commits else None,
        "current_lag": its.current_lag,
        "complete": _float32(len(its.commits) / INTERVALS),
    }


def _commit(commit: Commit) -> dict[str, Any]:
    return {"offset": commit.offset, "timestamp": commit.at_ms, "observedAt": commit.at_ms, "lag": commit.lag}


def _group(cluster: str, consumer: str, partitions: Sequence[dict[str, Any]], show_all: bool) -> dict[str, Any]:
    worst = max((each["status"] for each in partitions), key=URGENCY.index, default=OK)
    full = sum(each["complete"] == 1 for each in partitions)
    return {
        "cluster": cluster,
        "group": consumer,
        "status": min(worst, ERR, key=URGENCY.index),
        "complete": _float32(full / len(partitions)) if partitions else 0.0,
        "partitions": [each for each in partitions if show_all or each["status"] != OK],
        "partition_count": len(partitions),
        "maxlag": max(partitions, key=lambda each: each["current_lag"], default=None),
        "totallag": sum(each["current_lag"] for each in partitions),
    }


def _float32(value: float) -> float:
    """As Go prints a float32: 0.33333334."""
    return float(str(np.float32(value)))


def _report(cluster: str, message: str = "cluster not found") -> Report | None:
    """The latest report; None before the first. Raises NotFound if there is no such cluster."""
    if cluster not in source.current().feeds:
        raise NotFound(message)
    return source.current().feeds[cluster].latest()


def _consumers(snapshot: ClusterSnapshot, topic: str | None = None) -> list[str]:
    """The ids of the groups with a committed offset, on the topic or any."""
    table, ends = snapshot.offsets, snapshot.offsets.ends
    wanted = np.array([topic is None or name == topic for name in ends.topics], np.bool_)
    commits = _is_committed(snapshot, slice(None)) & wanted[ends.topic[table.end]]
    groups = np.searchsorted(table.bounds, np.flatnonzero(commits), side="right") - 1
    return [snapshot.groups[number].group_id for number in np.unique(groups).tolist()]


def _number(report: Report | None, consumer: str) -> int | None:
    """The number of the group, if it has a committed offset."""
    if report is None or consumer not in report.snapshot.by_group:
        return None
    number = report.snapshot.by_group[consumer]
    return number if _is_committed(report.snapshot, report.snapshot.offsets.rows(number)).any() else None


def _is_committed(snapshot: ClusterSnapshot, rows: slice) -> Flags:
    """bool[n_rows]: in these rows the group has a committed offset, and the topic exists."""
    table, ends = snapshot.offsets, snapshot.offsets.ends
    exists = np.array([name in snapshot.topics for name in ends.topics], np.bool_)
    committed: Flags = (table.committed[rows] != UNKNOWN) & exists[ends.topic[table.end[rows]]]
    return committed


# -- routes ------------------------------------------------------------------------------------------------------------


def _answer(request: Request, message: str, code: int = 200, error: bool = False, **more: Any) -> Response:
    asked = {"url": request.scope["path"], "host": socket.gethostname()}
    body = {"error": error, "message": message, **more, "request": asked}
    return Response(encoded(body), code, media_type=JSON)


def _route(path: str, handler: Handler, **options: Any) -> EncodedRoute:
    async def respond(request: Request) -> Response:
        try:
            call = partial(handler, request, **request.path_params, **options)
            return await to_thread.run_sync(call, limiter=THREADS)
        except NotFound as missing:
            return _answer(request, str(missing), 404, error=True)
        except Exception:  # a bug: the client gets no traceback
            log.exception("%s: internal error", path)
            return _answer(request, "internal error", 500, error=True)

    return EncodedRoute(path, respond)


async def _good(_request: Request) -> Response:
    return PlainTextResponse("GOOD")


async def _ready(_request: Request) -> Response:
    is_ready = readiness(source.installed(), wall_clock_ms())["ready"]
    return PlainTextResponse("READY") if is_ready else PlainTextResponse("STARTING", 503)


async def _unknown(request: Request) -> Response:
    if (path := path_as_sent(request.scope)).endswith("/"):
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{path.rstrip('/')}{query}", 301)
    return PlainTextResponse('{"error":true,"message":"invalid request type","result":{}}\n', 404)


def burrow_routes(statuses_of: StatusesOf = partition_statuses) -> Iterable[BaseRoute]:
    """Burrow's routes, with the statuses of partitions from that function."""
    consumer = "/v3/kafka/{cluster}/consumer/{consumer}"
    return (
        EncodedRoute("/burrow/admin", _good),
        EncodedRoute("/burrow/admin/ready", _ready),
        _route("/v3/kafka", cluster_list),
        _route("/v3/kafka/{cluster}", cluster_detail),
        _route("/v3/kafka/{cluster}/topic", topic_list),
        _route("/v3/kafka/{cluster}/topic/{topic}", topic_detail),
        _route("/v3/kafka/{cluster}/topic/{topic}/consumers", topic_consumers),
        _route("/v3/kafka/{cluster}/consumer", consumer_list),
        _route(consumer, consumer_detail, statuses_of=statuses_of),
        _route(f"{consumer}/status", consumer_status, statuses_of=statuses_of, show_all=False),
        _route(f"{consumer}/lag", consumer_status, statuses_of=statuses_of, show_all=True),
        EncodedRoute("/v3/{rest:path}", _unknown),
    )
