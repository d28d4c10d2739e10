"""Every phrase of a cause has its kind."""

import pytest

from lag.generations.cause_kind import CauseKind, cause_kinds
from lag.generations.changes import LEFT, STATIC_LEFT
from lag.generations.recorded import causes


@pytest.mark.parametrize(
    ("event", "kinds"),
    [
        ("c-b joined", (CauseKind.JOINED,)),
        ("12 members joined", (CauseKind.JOINED,)),
        ("c-b joined (rebalance 2)", (CauseKind.JOINED,)),
        (f"c-a {LEFT}", (CauseKind.LEFT,)),
        (f"pod-1 {STATIC_LEFT}; c-b joined", (CauseKind.LEFT, CauseKind.JOINED)),
        ("pod-1 came back", (CauseKind.CAME_BACK,)),
        ("c-a changed subscription", (CauseKind.SUBSCRIPTION,)),
        ("topic orders: 3 → 5 partitions", (CauseKind.TOPIC,)),
        ("topic orders is gone; topic refunds is new", (CauseKind.TOPIC,)),
        (causes.NEW_METADATA, (CauseKind.TOPIC,)),
        ("assignor range → sticky", (CauseKind.ASSIGNOR,)),
        (f"{causes.UPGRADED}; c-b joined", (CauseKind.ASSIGNOR, CauseKind.JOINED)),
        (causes.REJOINED, (CauseKind.OTHER,)),
        (causes.RECOMPUTED, (CauseKind.OTHER,)),
        (causes.DELETED, (CauseKind.OTHER,)),
    ],
)
def test_a_cause_has_its_kinds(event: str, kinds: tuple[CauseKind, ...]) -> None:
    assert cause_kinds(event) == kinds
