"""Why a group has its verdict."""

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from app.documents.snapshot import partitions_document
from app.server.api.endpoint import Call
from app.server.api.endpoints.groups import (
    JudgedPartitionDocument,
    JudgedSummaryDocument,
    judged_partition,
    judged_summary,
    left_of,
)
from app.server.tools.tool import OfGroup
from lag.polling.report import Report
from lag.verdict.health import PartitionHealths
from lag.verdict.hints import HINTED, hint
from lag.verdict.status import STATUS_CODE, TOO_EARLY, URGENCY, Status


class WhyArguments(OfGroup):
    """Which group, and how much of it."""

    limit: int = Field(20, ge=1, le=1_000, description="maximum number of partitions to return")


class HintDocument(TypedDict):
    """What to do, and the facts of this group that support it. `member_id`: the member that it is about."""

    action: str
    reason: str
    member_id: str | None


class WhyDocument(TypedDict):
    """The verdict on a group with its evidence, and its partitions that are not ok, the most urgent first.

    `unhealthy_partitions` counts them all. `hint` null: only the general advice on the verdict is known.
    """

    cluster: str
    number: int
    at_ms: int
    group: JudgedSummaryDocument
    hint: HintDocument | None
    unhealthy_partitions: int
    partitions: list[JudgedPartitionDocument]


def why(call: Call[WhyArguments]) -> WhyDocument:
    """The verdict on a group and what it rests on. Raises ApiError."""
    report, number = call.report, call.group
    health = report.health.partitions(report.snapshot.groups[number])
    lags = report.snapshot.offsets.lag[report.snapshot.offsets.rows(number)]
    unhealthy = np.flatnonzero(health.status != STATUS_CODE[Status.OK])
    worst = unhealthy[np.lexsort((-lags[unhealthy], health.status[unhealthy]))]
    first = report.snapshot.offsets.rows(number).start
    rows = ((health[at], slice(first + at, first + at + 1)) for at in worst[: call.query.limit].tolist())
    return {
        "cluster": call.cluster,
        "number": report.snapshot.number,
        "at_ms": report.snapshot.at_ms,
        "group": judged_summary(report, number, left_of(report, number)),
        "hint": _hint(report, number, health),
        "unhealthy_partitions": len(unhealthy),
        "partitions": [judged_partition(partitions_document(report.snapshot, row)[0], its) for its, row in rows],
    }


def _hint(report: Report, number: int, health: PartitionHealths) -> HintDocument | None:
    code, group = int(report.health.columns.status[number]), report.snapshot.groups[number]
    if code == TOO_EARLY or URGENCY[code] not in HINTED:
        return None
    found = hint(group, URGENCY[code], list(zip(group.partitions, health, strict=True)), {})
    return None if found is None else {"action": found.action, "reason": found.reason, "member_id": found.member_id}
