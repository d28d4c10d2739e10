"""A made-up past of the made-up cluster: a day in which one group got stuck twice, and another was always well."""

from datetime import datetime, timedelta
from typing import Any

from lag.history.store import History
from lag.verdict.health import Status
from tests.lag.history.past import past
from tests.lag.history.rows import NOON, poll, rows

CLUSTER = "kR4x"
BAD, GOOD = "billing-settlement", "orders-audit"
MINUTES = 24 * 60
GAP = range(600, 610)
"""Minutes in which nobody polled."""

FIRST, SECOND = range(300, 330), range(1260, 1440)
"""Minutes in which BAD was stopped; the second time it still is at the end."""

FELL_BEHIND_S, CAUGHT_UP_S, UNPOLLED_S = range(600, 960), range(960, 1080), range(1500, 1800)
"""Seconds after the first poll of `write_polls`."""

REBALANCES = {299: 1, 1259: 2}


def write(root: str, until: datetime = NOON) -> None:
    """Roll-ups of the day before `until`, a whole minute."""
    first = (until - timedelta(minutes=MINUTES) - NOON) // timedelta(minutes=1)
    history, minutes = History(root), [at for at in range(MINUTES) if at not in GAP]
    topics = [_topic(group, at, first) for group in (BAD, GOOD) for at in minutes]
    parts = [_part(group, part, at, first) for group in (BAD, GOOD) for part in (0, 1) for at in minutes]
    health = [_health(group, at, first) for group in (BAD, GOOD) for at in minutes]
    for table, made in (("lag_group_topic_1m", topics), ("lag_1m", parts), ("group_health_1m", health)):
        history.append(table, past(table, *made))
    burnt = {"at": first + MINUTES, "group_id": BAD, "burn": 14.4, "budget_left": 0.25, "cluster": CLUSTER}
    history.append("slo_burn", past("slo_burn", burnt))


def lag(group: str, part: int, at: int) -> int:
    """Records behind: partition 1 of BAD grows by 100 a minute while the group is stopped, all others have 3."""
    stopped = next((spell for spell in (FIRST, SECOND) if at in spell), None) if group == BAD and part else None
    return 3 if stopped is None else 100 * (at - stopped.start + 1)


def write_polls(root: str, until: datetime) -> None:
    """Polls of BAD, every ten seconds of the hour before `until`: it fell behind and caught up, then nobody polled."""
    first_s = round((until - timedelta(hours=1) - NOON).total_seconds())
    polled = [at_s for at_s in range(0, 3600, 10) if at_s not in UNPOLLED_S]
    its: dict[str, Any] = {"cluster": CLUSTER, "group_id": BAD}
    made = [poll(first_s + at_s, _polled_lag(at_s), _polled_status(at_s), **its) for at_s in polled]
    History(root).append("group_snapshots", rows("group_snapshots", *made))


def _polled_status(at_s: int) -> Status:
    if at_s in FELL_BEHIND_S:
        return Status.FALLING_BEHIND
    return Status.CATCHING_UP if at_s in CAUGHT_UP_S else Status.OK


def _polled_lag(at_s: int) -> int:
    noise = at_s * 7 % 190
    if at_s in FELL_BEHIND_S:
        return noise + 1_000 * (at_s - FELL_BEHIND_S.start)
    return noise + (3_000 * (CAUGHT_UP_S.stop - at_s) if at_s in CAUGHT_UP_S else 0)


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
