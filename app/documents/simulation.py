"""Simulations as JSON: `groupscope simulate --json` and `/api/v1/simulate`."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, cast

from typing_extensions import TypedDict

from app.documents.whatif import RefusalDocument
from assignors.layout import read_all
from assignors.model import AssignorError, TopicPartition
from assignors.simulation.timeline.summary import Summary, summarize
from assignors.simulation.timeline.tables import (
    Callback,
    Commit,
    Failure,
    GroupSpan,
    OwnershipSpan,
    Plan,
    Span,
    Timeline,
)
from assignors.whatif.rebalance_protocol import RebalanceProtocol

Outcome = Timeline | AssignorError


class MessageDocument(TypedDict):
    """A request or a reply. `error` is Kafka's name, null in a request. `arrived_ms` null: it was lost."""

    source: str
    target: str
    kind: str
    error: str | None
    sent_ms: int
    arrived_ms: int | None


class PlanDocument(TypedDict):
    """The assignment of a generation that became Stable, and its cause."""

    number: int
    at_ms: int
    event: str
    assignor: str
    assignment: dict[str, list[TopicPartition]]


class TimelineDocument(TypedDict):
    """A whole simulation. `unsettled` says what was still in progress at the end; null: the group had settled."""

    assignor: str
    end_ms: int
    unsettled: str | None
    summary: Summary
    spans: list[Span]
    group: list[GroupSpan]
    messages: list[MessageDocument]
    ownership: list[OwnershipSpan]
    callbacks: list[Callback]
    commits: list[Commit]
    failures: list[Failure]
    generations: list[PlanDocument]


def simulations_document(
    outcomes: Mapping[RebalanceProtocol, Outcome],
) -> dict[RebalanceProtocol, TimelineDocument | RefusalDocument]:
    """The timeline under each protocol, or why there is none."""
    return {
        protocol: {"error": str(outcome)} if isinstance(outcome, AssignorError) else _timeline(outcome)
        for protocol, outcome in outcomes.items()
    }


def _timeline(timeline: Timeline) -> TimelineDocument:
    return {
        "assignor": timeline.assignor,
        "end_ms": timeline.end_ms,
        "unsettled": timeline.unsettled,
        "summary": _summary(summarize(timeline)),
        "spans": _rows(timeline.spans),
        "group": _rows(timeline.group),
        "messages": [cast(MessageDocument, message._asdict()) for message in timeline.messages],
        "ownership": _rows(timeline.ownership),
        "callbacks": _rows(timeline.callbacks),
        "commits": _rows(timeline.commits),
        "failures": _rows(timeline.failures),
        "generations": list(map(_plan, timeline.plans)),
    }


def _summary(summary: Summary) -> Summary:
    """Its fields as JSON, which has the same form."""
    rows = {"downtime": summary.downtime, "pauses": summary.pauses, "processed": summary.processed}
    lists = {name: None if its is None else _rows(its) for name, its in rows.items()}
    return cast(Summary, _fields(summary) | lists)


def _plan(plan: Plan) -> PlanDocument:
    return {
        "number": plan.generation,
        "at_ms": plan.at_ms,
        "event": plan.cause,
        "assignor": plan.assignor,
        "assignment": read_all(plan.by_member),
    }


def _rows(rows: Iterable[Any]) -> Any:
    """A table's rows as JSON, which has the same form."""
    return list(map(_fields, rows))


def _fields(row: Any) -> dict[str, Any]:
    """A table's row; a partition is ["topic", 0]."""
    return {field.name: getattr(row, field.name) for field in fields(row)}
