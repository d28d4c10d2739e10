"""The filters of the Overview, and what its downloads hold."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.ui.group_table import GroupTable


@dataclass(frozen=True, slots=True)
class Filters:
    """What the reader asked for; empty means everything."""

    verdicts: Sequence[str] = ()
    states: Sequence[str] = ()
    types: Sequence[str] = ()
    text: str = ""
    topic: str | None = None
    lag_at_least: int | None = None
    internal: bool = False


def counts(frame: pd.DataFrame, column: str) -> Counter[str]:
    """How many rows have each value of a column."""
    return Counter(frame[column].tolist())


def select(table: GroupTable, want: Filters) -> pd.DataFrame:
    """The rows that pass every filter, in the same order."""
    frame = table.frame
    mask = np.ones(len(frame), bool) if want.internal else ~frame["hidden"].to_numpy()
    for column, picked in (("status", want.verdicts), ("state", want.states), ("type", want.types)):
        if picked:
            mask &= frame[column].isin(picked).to_numpy()
    if want.lag_at_least:
        mask &= (frame["lag"].fillna(-1) >= want.lag_at_least).to_numpy(bool)
    if want.topic:
        mask &= np.fromiter((want.topic in topics for topics in table.topics), bool, len(frame))
    if want.text:
        mask &= _contains(table, want.text.casefold())
    return frame[mask]


def _contains(table: GroupTable, text: str) -> NDArray[np.bool_]:
    found = (
        text in group.casefold() or any(text in topic.casefold() for topic in topics)
        for group, topics in zip(table.frame["group"], table.topics, strict=True)
    )
    return np.fromiter(found, bool, len(table.frame))


def export(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows as they are shown, in plain units, for CSV and JSON."""
    columns = [
        "group",
        "status",
        "lag",
        "known",
        "time_lag_s",
        "drain_s",
        "members",
        "state",
        "type",
        "coordinator",
        "why",
        "rule",
    ]
    out = frame[columns].rename(columns={"lag": "lag_records", "known": "lag_known_for"})
    return out.assign(drain_s=out["drain_s"].map(lambda s: "never" if np.isinf(s) else None if np.isnan(s) else s))
