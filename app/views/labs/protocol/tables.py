"""The result of a story under each protocol, as tables."""

from collections.abc import Sequence

import pandas as pd

from app.ui.scenario.played import NAMES, Played
from assignors.simulation.timeline.summary import Summary


def summary(played: Sequence[Played]) -> pd.DataFrame:
    """One row per protocol. Times are totals in milliseconds, `_max` of the worst member or partition, `_sum` of all.

    Records processed `twice` and `lost` are unknown if it is unknown when the application commits.
    """
    frame = pd.DataFrame(
        [
            {
                "protocol": NAMES[its.protocol],
                "rebalances": its.summary.rebalances,
                "moved": its.summary.moved,
                "twice": its.summary.duplicated,
                "lost": its.summary.lost,
                "paused_max_ms": max((pause.paused_ms for pause in its.summary.pauses), default=0),
                "paused_sum_ms": its.summary.paused_ms,
                "down_max_ms": max((down.down_ms for down in its.summary.downtime), default=0),
                "down_sum_ms": its.summary.down_ms,
                "assignor": its.summary.assignor,
            }
            for its in played
        ]
    )
    return frame.astype({"twice": "Int64", "lost": "Int64"})


def waits(played: Sequence[Played]) -> pd.DataFrame:
    """One row per member (its pauses) and partition (its downtime): `what`, `name`, and milliseconds per protocol."""
    columns = {NAMES[its.protocol]: _of(its.summary) for its in played}
    keys = dict.fromkeys(key for column in columns.values() for key in column)
    frame = pd.DataFrame(list(keys), columns=["what", "name"])
    for name, column in columns.items():
        frame[name] = pd.array([column.get(key) for key in keys], dtype="Int64")
    return frame


def _of(its: Summary) -> dict[tuple[str, str], int | None]:
    members = {("member", pause.member): pause.paused_ms for pause in its.pauses}
    down = {
        ("partition", str(its.partition)): its.down_ms if its.waited_ms is not None else None for its in its.downtime
    }
    return {**members, **down}
