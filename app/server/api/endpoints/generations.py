"""The generations of a live group, and the group as the start of a what-if."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from app.documents.snapshot import ProblemDocument, problems_document
from app.documents.whatif import GenerationDocument, generation_document
from app.server.api.endpoint import Call, Endpoint, Page, Query
from app.server.api.problem import ApiError
from assignors.scenario.dump import document
from lag.errors import GroupscopeError
from lag.generations.live_group import scenario_of
from lag.generations.recorded import Origin, RecordedGeneration

MOST_ENTRIES = 200_000
"""Partitions and moves in one answer: about 10 MB."""


class GenerationsQuery(Page):
    """Which generations, counted from the newest."""

    limit: int = Field(20, ge=1, le=200, description="maximum number to return; fewer per page for large groups")


class RecordedGenerationDocument(GenerationDocument):
    """A generation of a live group; times in ms since 1970.

    `began_ms`: when the rebalance began, as far as it is recorded; `settled_ms`: when the last member reached its
    assignment, null if not yet, never or unknown. `skipped`: how many numbers before it have no assignment.
    """

    at_ms: int
    began_ms: int | None
    settled_ms: int | None
    skipped: int


class RecordedGenerationsDocument(TypedDict):
    """The kept generations of a group, newest first.

    `problem`: why they are inferred, or not recorded up to now, or what of the records of these could not be decoded.
    `total` counts all that are kept, `next` is the offset of the next page.
    """

    cluster: str
    group_id: str
    origin: Origin
    problem: ProblemDocument | None
    total: int
    next: int | None
    generations: list[RecordedGenerationDocument]


class GroupScenarioDocument(TypedDict):
    """A live group as a scenario without events; `notes` say what is estimated or unknown."""

    scenario: dict[str, Any]
    notes: list[str]


def generations(call: Call[GenerationsQuery]) -> RecordedGenerationsDocument:
    """The generations of a group, newest first."""
    group_id, query = call.report.snapshot.groups[call.group].group_id, call.query
    recording = call.feed.recording(group_id)
    newest_first = recording.generations[::-1]
    page = _within(newest_first[query.offset : query.offset + query.limit])
    after = query.offset + len(page)
    problem = recording.problem or next((problem for one in page for problem in one.problems), None)
    return {
        "cluster": call.cluster,
        "group_id": group_id,
        "origin": recording.origin,
        "problem": None if problem is None else problems_document([problem])[0],
        "total": len(newest_first),
        "next": after if after < len(newest_first) else None,
        "generations": list(map(_generation, page)),
    }


def _within(page: Sequence[RecordedGeneration]) -> Sequence[RecordedGeneration]:
    """The first of them, at least one, with at most MOST_ENTRIES partitions and moves."""
    entries = 0
    for at, one in enumerate(page):
        entries += one.generation.quality.assigned + len(one.generation.moves)
        if at and entries > MOST_ENTRIES:
            return page[:at]
    return page


def _generation(one: RecordedGeneration) -> RecordedGenerationDocument:
    return {
        **generation_document(one.generation),
        "at_ms": one.generation.at_ms,
        "began_ms": one.began_ms,
        "settled_ms": one.settled_ms,
        "skipped": one.skipped,
    }


def group_scenario(call: Call[Query]) -> GroupScenarioDocument:
    """The group as it is now, for a what-if. Raises ApiError."""
    report = call.report
    try:
        live = scenario_of(report.snapshot.groups[call.group], report.health)
    except GroupscopeError as error:
        raise ApiError(HTTPStatus.CONFLICT, str(error)) from None
    return {"scenario": document(live.scenario), "notes": list(live.notes)}


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint(
        "/clusters/{cluster}/groups/{group}/generations",
        "The generations of a group, newest first",
        RecordedGenerationsDocument,
        generations,
        GenerationsQuery,
    ),
    Endpoint(
        "/clusters/{cluster}/groups/{group}/scenario",
        "A group as the start of a what-if",
        GroupScenarioDocument,
        group_scenario,
        Query,
        of_snapshot=True,
    ),
)
