"""The moves and the plan of one generation as rows."""

from collections.abc import Mapping

import pandas as pd

from assignors.whatif.generations import Generation
from assignors.whatif.moves import Move, MoveKind

CHANGES = (MoveKind.GAINED, MoveKind.REVOKED, MoveKind.UNASSIGNED)


def short(assignor: str) -> str:
    """What a page calls an assignor: of `module:Class`, the class."""
    return assignor.rpartition(":")[2]


def move_rows(generation: Generation, names: Mapping[str, str]) -> pd.DataFrame:
    """What changed in one generation: topic, partition, change, from, to. Kept partitions are left out."""
    changed = generation.moves.of(*CHANGES)
    frame = pd.DataFrame(
        [(m.tp.topic, m.tp.partition, _change(m), m.source, m.target) for m in changed],
        columns=["topic", "partition", "change", "from", "to"],
    )
    for column in ("from", "to"):
        frame[column] = frame[column].map(lambda member: names.get(member, member), na_action="ignore")
    return frame


def _change(move: Move) -> str:
    """ "moved" from one member to another, "assigned" where no member had the partition, else the kind."""
    if move.kind is not MoveKind.GAINED:
        return move.kind.value
    return "assigned" if move.source is None else "moved"


def plan_rows(generation: Generation, names: Mapping[str, str]) -> pd.DataFrame:
    """Who has what after a generation, members in their order; one without partitions has no row."""
    return pd.DataFrame(
        [
            (names.get(member, member), tp.topic, tp.partition)
            for member, partitions in generation.after.by_member.items()
            for tp in partitions
        ],
        columns=["member", "topic", "partition"],
    )
