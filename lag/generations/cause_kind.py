"""The kinds of causes of a rebalance, read from the sentence of a generation.

The phrases are those of `lag.generations.changes.causes_of` and `lag.generations.recorded.causes`.
"""

from enum import StrEnum

from lag.generations.changes import LEFT, STATIC_LEFT
from lag.generations.recorded import causes


class CauseKind(StrEnum):
    """Why a group rebalanced."""

    JOINED = "joined"
    LEFT = "left"
    CAME_BACK = "back"
    SUBSCRIPTION = "subscription"
    TOPIC = "topic"
    ASSIGNOR = "assignor"
    OTHER = "other"


_ENDINGS = (
    (" joined", CauseKind.JOINED),
    (f" {LEFT}", CauseKind.LEFT),
    (f" {STATIC_LEFT}", CauseKind.LEFT),
    (" came back", CauseKind.CAME_BACK),
    (" changed subscription", CauseKind.SUBSCRIPTION),
)
_BEGINS = (
    ("topic ", CauseKind.TOPIC),
    (causes.NEW_METADATA, CauseKind.TOPIC),
    ("assignor ", CauseKind.ASSIGNOR),
    (causes.UPGRADED, CauseKind.ASSIGNOR),
    (causes.DOWNGRADED, CauseKind.ASSIGNOR),
)


def cause_kinds(event: str) -> tuple[CauseKind, ...]:
    """The kinds of all causes in the sentence, in its order, each once; OTHER alone if there is no other one."""
    kinds = dict.fromkeys(_kind(clause) for clause in event.split("; "))
    return tuple(kind for kind in kinds if kind is not CauseKind.OTHER) or (CauseKind.OTHER,)


def _kind(clause: str) -> CauseKind:
    text = clause.partition(" (rebalance ")[0]
    for ending, kind in _ENDINGS:
        if text.endswith(ending):
            return kind
    return next((kind for begin, kind in _BEGINS if text.startswith(begin)), CauseKind.OTHER)
