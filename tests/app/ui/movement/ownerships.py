"""Generations as one letter per partition: "aab." is three owned partitions and one without an owner."""

import numpy as np

from app.ui.movement.from_generations import columns, frame_names
from app.ui.movement.steps import ABSENT, NOBODY, Steps
from assignors.layout import Layout

NONE, MISSING = ".", "-"


def steps(*rows: str, before: str | None = None, topics: dict[str, int] | None = None, there: str = "") -> Steps:
    """Generations 1, 2, ...; `before` them the first row's owners; members are the letters, and those of `there`."""
    members = tuple(sorted({*"".join(rows), *(before or ""), *there} - {NONE, MISSING}))
    layout = Layout(topics or {"t": len(rows[0])})
    owners = np.array([_codes(row, members) for row in rows], dtype=np.int32)
    return Steps(
        names=frame_names(range(1, len(rows) + 1)),
        events=tuple("start" if at == 0 else f"event {at + 1}" for at in range(len(rows))),
        members=members,
        topics=layout.names,
        start=owners[0].copy() if before is None else np.array(_codes(before, members), dtype=np.int32),
        owners=owners,
        present=np.array([[name in row or name in there for name in members] for row in rows]),
        **columns(layout),
    )


def _codes(row: str, members: tuple[str, ...]) -> list[int]:
    special = {NONE: NOBODY, MISSING: ABSENT}
    return [special[letter] if letter in special else members.index(letter) for letter in row]


def many(partitions: int, members: int, generations: int, topics: int = 1, every: int = 10) -> Steps:
    """A large group in which, each generation, every tenth partition (or `every`) goes to the next member."""
    layout = Layout({f"topic-{at:04d}": partitions // topics for at in range(topics)})
    rows = [np.arange(len(layout), dtype=np.int32) % members]
    for at in range(1, generations):
        row = rows[-1].copy()
        row[at % every :: every] = (row[at % every :: every] + 1) % members
        rows.append(row)
    return Steps(
        names=frame_names(range(1, generations + 1)),
        events=tuple(f"member-{at % members:03d} joins" for at in range(generations)),
        members=tuple(f"member-{at:03d}" for at in range(members)),
        topics=layout.names,
        start=rows[0].copy(),
        owners=np.array(rows),
        present=np.ones((generations, members), dtype=np.bool_),
        **columns(layout),
    )
