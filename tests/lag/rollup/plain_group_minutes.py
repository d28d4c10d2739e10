"""The life of one group in plain Python, each question answered from the whole list of its records each time.

It shares nothing with `lag.rollup.group_minutes` but the names of the columns. Times are seconds.
"""

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tests.support.known import known


@dataclass
class Row:
    """One row of `group_events`, of the record number `offset`."""

    at: float
    offset: int
    kind: int
    number: int | None = None
    member: str | None = None
    state: int | None = None
    gone: bool = False
    bootstrap: bool = False
    owned: tuple[tuple[str, tuple[int, ...]], ...] = ()


EPOCHS, MEMBERS, TARGETS, CURRENTS = (3, 11, 17), (5, 10, 19), (6, 12, 20), (8, 14, 22)


def minutes(rows: list[Row], since: int, until: int) -> list[dict[str, Any]]:
    """The minutes with a record."""
    offsets = sorted({row.offset for row in rows})
    made = []
    for minute in range(since, until, 60):
        inside = [o for o in offsets if minute <= at(rows, o) < minute + 60]
        if inside:
            made.append(minute_of(rows, minute, inside, [o for o in offsets if o < inside[0]]))
    return made


def minute_of(rows: list[Row], minute: int, inside: list[int], before: list[int]) -> dict[str, Any]:
    start = before[-1] if before else -1
    sets = [members(rows, o) for o in inside]
    earlier = [members(rows, o) for o in [start, *inside[:-1]]]
    news = [not first(rows, o).bootstrap for o in inside]
    pairs = list(zip([one or set() for one in earlier], map(known, sets), news, strict=True))
    joins = sum(len(b - a) for a, b, new in pairs if new)
    leaves = sum(len(a - b) for a, b, new in pairs if new)
    counts = ([] if earlier[0] is None else [len(earlier[0])]) + [len(known(one)) for one in sets]
    took = [took_ms(rows, o) for o, new in zip(inside, news, strict=True) if new]
    return {
        "minute": minute,
        "generation_first": next((n for n in (number(rows, o) for o in [start, *inside]) if n is not None), None),
        "generation_last": number(rows, inside[-1]),
        "rebalances": sum(bumps(rows, o) for o, new in zip(inside, news, strict=True) if new),
        "members_last": counts[-1],
        "members_min": min(counts),
        "members_max": max(counts),
        "joins": joins,
        "leaves": leaves,
        "churn": (joins + leaves) / fmean(counts) if any(counts) else None,
        "rebalance_ms": max((ms for ms in took if ms is not None), default=None),
    }


def first(rows: list[Row], offset: int) -> Row:
    return next(row for row in rows if row.offset == offset)


def at(rows: list[Row], offset: int) -> float:
    return first(rows, offset).at


def last(rows: list[Row], offset: int, kinds: tuple[int, ...], member: str | None = None) -> Row | None:
    """The last record of these kinds up to that one."""
    found = [r for r in rows if r.offset <= offset and r.kind in kinds and (member is None or r.member == member)]
    return max(found, key=lambda row: row.offset, default=None)


def number(rows: list[Row], offset: int) -> int | None:
    reported = last([row for row in rows if not row.gone], offset, (2, *EPOCHS))
    return None if reported is None else reported.number


def members(rows: list[Row], offset: int) -> set[str] | None:
    if not any(row.offset <= offset for row in rows):
        return None
    whole = last([row for row in rows if not row.gone], offset, (2,))
    since = -1 if whole is None else whole.offset
    found = {row.member for row in rows if row.offset == since and row.member is not None}
    for row in sorted(rows, key=lambda one: one.offset):
        if row.kind in MEMBERS and since < row.offset <= offset:
            found = found - {known(row.member)} if row.gone else found | {known(row.member)}
    return found


def bumps(rows: list[Row], offset: int) -> int:
    row = first(rows, offset)
    if row.kind not in (2, *EPOCHS) or row.gone:
        return 0
    before = last(rows, offset - 1, (2, *EPOCHS))
    earlier, new = number(rows, offset - 1), known(row.number)
    deleted = before is not None and before.gone and (before.kind == 2) == (row.kind == 2)
    if earlier is None or deleted or new < earlier:
        return new if row.kind == 2 else max(1, new - 1)
    return new - earlier


def took_ms(rows: list[Row], offset: int) -> int | None:
    """How long the rebalance took that this record ended."""
    began = None
    for o in sorted({row.offset for row in rows if row.offset <= offset}):
        if first(rows, o).kind in EPOCHS and bumps(rows, o):
            began = (began if began is not None else at(rows, o)) if members(rows, o) else None
        if began is not None and settled(rows, o):
            if o == offset:
                return round(1000 * (at(rows, o) - began))
            began = None
    return None


def settled(rows: list[Row], offset: int) -> bool:
    now = number(rows, offset)
    target = last([row for row in rows if not row.gone], offset, TARGETS)
    places = [last(rows, offset, CURRENTS, member) for member in members(rows, offset) or ()]
    there = all(one is not None and not one.gone and one.state == 0 and one.number == now for one in places)
    return target is not None and target.number == now and there
