"""A made-up past of the made-up cluster: a day in which one group got stuck twice, and another was always well."""

from datetime import datetime, timedelta

from lag.history.store import History
from lag.verdict.status import Status
from tests.lag.history.past import past
from tests.lag.history.rows import NOON

CLUSTER = "kR4x"
BAD, GOOD = "billing-settlement", "orders-audit"
MINUTES = 24 * 60
GAP = range(600, 610)
"""Minutes in which nobody polled."""

FIRST, SECOND = range(300, 330), range(1260, 1440)
"""Minutes in which BAD was stopped; the second time it still is at the end."""

REBALANCES = {299: 1, 1259: 2}


def write(root: str, until: datetime = NOON) -> None:
    """Roll-ups of the day before `until`, a whole minute."""
    first = (until - timedelta(minutes=MINUTES) - NOON) // timedelta(minutes=1)
    history, minutes = History(root), [at for at in range(MINUTES) if at not in GAP]
    topics = [_topic(group, at, first) for group in (BAD, GOOD) for at in minutes]
    parts = [_part(group, part, at, first) for group in (BAD, GOOD) for part in (0, 1) for at in minutes]
    health = [_health(group, at, first) for group in (BAD, GOOD) for at in minutes]
    for table, rows in (("lag_group_topic_1m", topics), ("lag_1m", parts), ("group_health_1m", health)):
        history.append(table, past(table, *rows))
    burnt = {"at": first + MINUTES, "group_id": BAD, "burn": 14.4, "budget_left": 0.25, "cluster": CLUSTER}
    history.append("slo_burn", past("slo_burn", burnt))


def lag(group: str, part: int, at: int) -> int:
    """Records behind: partition 1 of BAD grows by 100 a minute while the group is stopped, all others have 3."""
    stopped = next((spell for spell in (FIRST, SECOND) if at in spell), None) if group == BAD and part else None
    return 3 if stopped is None else 100 * (at - stopped.start + 1)


def _topic(group: str, at: int, first: int) -> dict[str, object]:
    lags = [lag(group, part, at) for part in (0, 1)]
    return {
        "at": first + at, "cluster": CLUSTER, "group_id": group, "topic": "t", "partitions": 2, "lag_known": 2,
        "lag_sum": sum(lags), "lag_max": max(lags), "time_lag_max_ms": 10 * max(lags),
    }  # fmt: skip


def _part(group: str, part: int, at: int, first: int) -> dict[str, object]:
    behind = lag(group, part, at)
    return {
        "at": first + at, "cluster": CLUSTER, "group_id": group, "topic": "t", "partition": part, "lag_last": behind,
        "lag_max": behind, "time_lag_max_ms": 10 * behind, "owner_member": f"m-{part}",
    }  # fmt: skip


def _health(group: str, at: int, first: int) -> dict[str, object]:
    moved = REBALANCES.get(at, 0) if group == BAD else 0
    stopped = group == BAD and (at in FIRST or at in SECOND)
    return {
        "at": first + at, "cluster": CLUSTER, "group_id": group, "rebalances": moved, "joins": moved, "leaves": 0,
        "status": Status.STOPPED if stopped else Status.OK,
    }  # fmt: skip
