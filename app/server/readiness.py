"""Whether the server answers (`/api/live`), and whether what it shows is current (`/api/ready`)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NotRequired

from starlette.requests import Request
from starlette.responses import JSONResponse
from typing_extensions import TypedDict

from app.server import source
from app.server.feed import Feed
from app.server.source import STALE_AFTER_INTERVALS
from lag.errors import ConnectError
from lag.polling.report import Report
from lag.times import wall_clock_ms


class LiveDocument(TypedDict):
    """The process answers requests."""

    live: bool


class ClusterReadinessDocument(TypedDict):
    """How a cluster is read; null before the first snapshot. `reason` says why it is not read now."""

    number: int | None
    at_ms: int | None
    age_s: float | None
    complete: bool | None
    polls: int
    consecutive_failures: int
    requests_per_poll: int | None
    error: str | None
    reason: str | None


class ReadinessDocument(TypedDict):
    """Whether what the server shows is current. With a login `ready` alone."""

    ready: bool
    reason: NotRequired[str | None]
    clusters: NotRequired[dict[str, ClusterReadinessDocument]]


@dataclass(frozen=True, slots=True)
class Probe:
    """An address below `/api` that answers GET with this type, under each of the statuses."""

    path: str
    summary: str
    answer: Any
    respond: Callable[[Request], Awaitable[JSONResponse]]
    statuses: tuple[int, ...] = (200,)


async def live(_request: Request) -> JSONResponse:
    """200 as long as the process answers requests."""
    return JSONResponse({"live": True})


async def ready(_request: Request) -> JSONResponse:
    """200 if every cluster has been read once and one of them is read now, else 503; with the state of each cluster.

    With a login the answer is `ready` alone, because the caller is not identified.
    """
    answer = readiness(source.installed(), wall_clock_ms())
    shown: ReadinessDocument = answer if source.installed().access is None else {"ready": answer["ready"]}
    return JSONResponse(shown, status_code=200 if answer["ready"] else 503)


def readiness(current: source.Source, now_ms: int) -> ReadinessDocument:
    """`reason` says why the server is not ready; each cluster has its own `reason`, null while it is read.

    One cluster that fails does not make the server unready: the others are still shown.
    """
    clusters = {name: _state(feed, now_ms) for name, feed in current.feeds.items()}
    unread = [name for name, state in clusters.items() if state["number"] is None]
    failing = {name: state["reason"] for name, state in clusters.items() if state["reason"] is not None}
    if not clusters:
        reason = "no cluster is configured"
    elif unread or len(failing) == len(clusters):
        reason = "; ".join(f"{name}: {failing[name]}" for name in unread or failing)
    else:
        reason = None
    return {"ready": reason is None, "reason": reason, "clusters": clusters}


def _state(feed: Feed, now_ms: int) -> ClusterReadinessDocument:
    report, status = feed.latest(), feed.status()
    return {
        "number": report.snapshot.number if report else None,
        "at_ms": report.snapshot.at_ms if report else None,
        "age_s": _age_s(report, now_ms) if report else None,
        "complete": report.snapshot.complete if report else None,
        "polls": status.polls,
        "consecutive_failures": status.consecutive_failures,
        "requests_per_poll": sum(broker.requests for broker in report.snapshot.brokers) if report else None,
        "error": None if status.error is None else str(status.error),
        "reason": _why_not_read(feed, now_ms),
    }


def _why_not_read(feed: Feed, now_ms: int) -> str | None:
    """Why the cluster counts as not read now; None while it is."""
    report, status = feed.latest(), feed.status()
    if report is None:
        return "not read yet" if status.error is None else f"not read yet: {status.error}"
    if isinstance(status.error, ConnectError):
        return f"no broker is reachable: {status.error}"
    brokers = report.snapshot.brokers
    if brokers and all(broker.error is not None for broker in brokers):
        return f"no broker answers: {brokers[0].error}"
    age_s = _age_s(report, now_ms)
    if age_s > STALE_AFTER_INTERVALS * max(status.interval_s, 1):
        return f"the newest snapshot is {age_s:.0f} s old, more than {STALE_AFTER_INTERVALS} intervals"
    return None


def _age_s(report: Report, now_ms: int) -> float:
    return max(0.0, (now_ms - report.snapshot.at_ms) / 1000)


PROBES = (
    Probe("/live", "Whether the process answers", LiveDocument, live),
    Probe("/ready", "Whether every cluster was read, and one is read now", ReadinessDocument, ready, (200, 503)),
)
