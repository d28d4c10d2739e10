"""The filters of the Overview, and its download."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.ui.group_table import GroupTable, seconds_or_never
from app.ui.groups.deletion import of_groups
from lag.model import ClusterSnapshot
from lag.verdict.onset import Onset
from lag.verdict.window.sample_window import Window


@dataclass(frozen=True, slots=True)
class Filters:
    """The values of the filters; an empty one passes everything."""

    verdicts: Sequence[str] = ()
    states: Sequence[str] = ()
    types: Sequence[str] = ()
    text: str = ""
    topic: str | None = None
    lag_at_least: int | None = None
    internal: bool = False


def with_deletion(table: GroupTable, snapshot: ClusterSnapshot, window: Window) -> GroupTable:
    """The table with the time until retention deletes what a group has not read."""
    left = of_groups(snapshot, window).reindex(table.frame["group"]).reset_index(drop=True)
    return replace(table, frame=pd.concat([table.frame, left], axis=1))


def counts(frame: pd.DataFrame, column: str) -> Counter[str]:
    """The number of rows with each value of a column."""
    return Counter(frame[column].tolist())


def select(table: GroupTable, filters: Filters) -> pd.DataFrame:
    """The rows that pass every filter, in the same order."""
    frame = table.frame
    mask = np.ones(len(frame), bool) if filters.internal else ~frame["hidden"].to_numpy()
    for column, chosen in (("status", filters.verdicts), ("state", filters.states), ("type", filters.types)):
        if chosen:
            mask &= frame[column].isin(chosen).to_numpy()
    if filters.lag_at_least:
        mask &= (frame["lag"].fillna(-1) >= filters.lag_at_least).to_numpy(bool)
    if filters.topic:
        mask &= np.fromiter((filters.topic in topics for topics in table.topics), bool, len(frame))
    if filters.text:
        mask &= _contains(table, filters.text.casefold())
    return frame[mask]


def _contains(table: GroupTable, text: str) -> NDArray[np.bool_]:
    found = (
        text in group.casefold() or any(text in topic.casefold() for topic in topics)
        for group, topics in zip(table.frame["group"], table.topics, strict=True)
    )
    return np.fromiter(found, bool, len(table.frame))


def export(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows for CSV and JSON, with units in the column names."""
    columns = (
        "group status lag known time_lag_s drain_s deleted_in_s deleted_in_why members state type coordinator why rule"
    )
    out = frame[columns.split()].rename(columns={"lag": "lag_records", "known": "lag_known_for"})
    return out.assign(drain_s=seconds_or_never(out["drain_s"]), **_onsets(frame["onset"]))


def _onsets(onsets: pd.Series) -> dict[str, pd.Series]:
    """The columns of an onset; None in each where there is none."""
    names = [field.name for field in fields(Onset)]
    values = {name: [getattr(onset, name, None) for onset in onsets] for name in names}
    return {f"onset_{name}": pd.Series(values[name], onsets.index, dtype=object) for name in names}
