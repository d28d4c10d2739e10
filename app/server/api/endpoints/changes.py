"""Changes of verdicts: the last ones, and as server-sent events as they happen."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from anyio import sleep
from pydantic import Field
from typing_extensions import TypedDict

from app.documents.snapshot import OnsetDocument, onset_document
from app.server.access.visitor import same_grants
from app.server.api.dispatch import encoded
from app.server.api.endpoint import EVENTS, Call, Endpoint, Query
from app.server.api.problem import field_error, invalid_fields
from app.server.compat.shutdown import is_stopping
from lag.polling.verdict_changes import MOST_CHANGES, ChangesAfter, VerdictChange, VerdictChanges
from lag.verdict.status import Status

MOST_ID = 2**53
"""JavaScript has no larger whole numbers."""

LOOK_EVERY_S = 0.5
KEEP_ALIVE_S = 15.0
"""Proxies close a connection on which nothing is sent for a minute or so."""


class ChangesQuery(Query):
    """Which changes of verdicts."""

    after: int = Field(0, ge=0, le=MOST_ID, description="only changes with a higher id")
    group: str | None = Field(None, description="only changes of this group")
    limit: int = Field(MOST_CHANGES, ge=1, le=MOST_CHANGES, description="maximum number to return, oldest first")


class StreamQuery(Query):
    """Where the events begin. A Last-Event-ID header wins over `after`."""

    after: int | None = Field(None, ge=0, le=MOST_ID, description="first the kept changes with a higher id")
    group: str | None = Field(None, description="only changes of this group")


class ChangeDocument(TypedDict):
    """A group has a different verdict than in the poll before; null where there is none.

    `number` and `at_ms` are those of the snapshot. Ids increase, also across restarts unless the clock
    was set back in between.
    """

    id: int
    group_id: str
    number: int
    at_ms: int
    before: Status | None
    after: Status | None
    onset: OnsetDocument | None
    evidence: str


class ChangesDocument(TypedDict):
    """The last changes, oldest first; pass `last_id` as `after` to get later ones.

    `missed` counts the changes after `after`, of the requested groups, that are no longer kept; at most 10,000.
    """

    cluster: str
    changes: list[ChangeDocument]
    last_id: int
    missed: int


def verdict_changes(call: Call[ChangesQuery]) -> ChangesDocument:
    """The kept changes after an id."""
    query = call.query
    found = _of(_kept(call).after(query.after), query.group)
    changes = [change_document(one) for one in found.changes[: query.limit]]
    last_id = changes[-1]["id"] if changes else found.after
    return {"cluster": call.cluster, "changes": changes, "last_id": last_id, "missed": len(found.missed)}


def verdict_events(call: Call[StreamQuery]) -> AsyncIterator[bytes]:
    """Each change as an event. Raises ApiError."""
    kept = _kept(call)
    return _events(kept, _start(call, kept), call.query.group, same_grants())


async def _events(
    kept: VerdictChanges, after: int, group_id: str | None, goes_on: Callable[[], bool]
) -> AsyncIterator[bytes]:
    """Until the server stops, or the grants change: a client that comes back is asked who it is.

    It goes on after the last change of all groups: those of others, however many, are none that the client has missed.
    """
    yield b"retry: 5000\n\n"
    sent_s = time.monotonic()
    while not is_stopping() and goes_on():
        found = kept.after(after)
        new, after = _new(_of(found, group_id)), max(found.after, found.last_id)
        if new:
            sent_s = time.monotonic()
            yield new
        elif time.monotonic() - sent_s > KEEP_ALIVE_S:
            sent_s = time.monotonic()
            yield b": nothing new\n\n"
        await sleep(LOOK_EVERY_S)


def _of(found: ChangesAfter, group_id: str | None) -> ChangesAfter:
    """Those of the group; without one, all."""
    return found if group_id is None else found.of(group_id.__eq__)


def _new(found: ChangesAfter) -> bytes:
    return b"".join([*_missed_event(len(found.missed)), *map(_event, found.changes)])


def _missed_event(missed: int) -> Iterator[bytes]:
    """Says how many changes are no longer kept; nothing if none is missing."""
    if missed:
        yield b'event: missed\ndata: {"missed":%d}\n\n' % missed


def _event(change: VerdictChange) -> bytes:
    return b"id: %d\nevent: verdict\ndata: %s\n\n" % (change.id, encoded(change_document(change)))


def _start(call: Call[StreamQuery], kept: VerdictChanges) -> int:
    """The id after which the events begin; without one, with the next change."""
    given = call.headers.get("last-event-id")
    if given is None:
        return kept.last_id() if call.query.after is None else call.query.after
    if not (given.isascii() and given.isdigit() and len(given) <= len(str(MOST_ID))):
        raise invalid_fields([field_error("header.Last-Event-ID", "Use the id of an event, a whole number")])
    return int(given)


def _kept(call: Call[Any]) -> VerdictChanges:
    """The changes of the cluster. Raises ApiError if there is no such cluster."""
    _ = call.feed
    return call.source.changes.get(call.cluster) or VerdictChanges()


def change_document(change: VerdictChange) -> ChangeDocument:
    """One change."""
    return {
        "id": change.id,
        "group_id": change.group_id,
        "number": change.number,
        "at_ms": change.at_ms,
        "before": change.before,
        "after": change.after,
        "onset": onset_document(change.onset),
        "evidence": change.evidence,
    }


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint(
        "/clusters/{cluster}/changes", "The latest changes of verdicts", ChangesDocument, verdict_changes, ChangesQuery
    ),
    Endpoint(
        "/clusters/{cluster}/changes/stream",
        "Changes of verdicts as server-sent events",
        ChangeDocument,
        verdict_events,
        StreamQuery,
        media_type=EVENTS,
    ),
)
