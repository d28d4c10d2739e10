"""What-ifs as JSON: `groupscope assign --json` and `/api/v1/what-if`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from typing_extensions import TypedDict

from assignors.layout import read_all
from assignors.model import AssignorError, TopicPartition
from assignors.whatif.generations import Generation
from assignors.whatif.moves import Move, MoveKind
from assignors.whatif.quality import Quality

Outcome = Sequence[Generation] | AssignorError


class MoveDocument(TypedDict):
    """What a generation changed for one partition."""

    topic: str
    partition: int
    source: str | None
    target: str | None
    kind: MoveKind


class GenerationDocument(TypedDict):
    """One assignment, the partitions that changed for it, and how good it is. An infinite drain time is null."""

    number: int
    event: str
    assignment: dict[str, list[TopicPartition]]
    moves: list[MoveDocument]
    quality: Quality


class GenerationsDocument(TypedDict):
    """The generations of a scenario under one assignor."""

    generations: list[GenerationDocument]


class RefusalDocument(TypedDict):
    """Why there is no result."""

    error: str


def outcome_document(outcome: Outcome) -> GenerationsDocument | RefusalDocument:
    """The generations under one assignor, or why it cannot assign the group."""
    if isinstance(outcome, AssignorError):
        return {"error": str(outcome)}
    return {"generations": list(map(generation_document, outcome))}


def generation_document(made: Generation) -> GenerationDocument:
    """One generation."""
    changed = made.moves.of(*(kind for kind in MoveKind if kind is not MoveKind.KEPT))
    return {
        "number": made.number,
        "event": made.event,
        "assignment": read_all(made.after.by_member),
        "moves": list(map(_move, changed)),
        "quality": _quality(made.quality),
    }


def _move(move: Move) -> MoveDocument:
    topic, partition = move.tp
    return {"topic": topic, "partition": partition, "source": move.source, "target": move.target, "kind": move.kind}


def _quality(quality: Quality) -> Quality:
    """Its fields as JSON, which has the same form."""
    return cast(Quality, {key: _finite(value) for key, value in asdict(quality).items()})


def _finite(value: Any) -> Any:
    """JSON has no infinity: a drain that never ends is null, with its reason beside it."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
