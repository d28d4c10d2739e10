"""The data frames that the history's queries return, by column.

Names give the unit: `_us` microseconds since 1970, `_s` seconds, `_records` records. `rank` indexes
`lag.verdict.status.URGENCY`, so the lowest is the most urgent. `i64` is Int64, `f64` float64, `str` object; what is
not known (`?`) is missing, never 0.
"""

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa

from lag.history.schemas import I64, fields
from lag.history.span import Span

LAG = pa.schema(fields("at_us:i64 lag_records:f64? lag_p95_records:f64? time_lag_s:f64? known:i64 partitions:i64"))
"""Lag over time, one row for each step of the span, without an index.

`lag_records` is the lag at the end of the minute, or the highest minute of the hour. It covers `known` of `partitions`,
and is missing where partitions that were known before are not; for an hour, `known` is that of the minute with the most
unknown partitions. `lag_p95_records` is the highest 95th percentile over the partitions
of a topic, missing for a single partition. `time_lag_s` is the age of the oldest record that is not committed; missing
if only a lower bound is known for one of the `known` partitions.
"""

PARTITIONS = pa.schema(
    fields("""topic:str partition:i64 most_records:i64? most_at_us:i64? avg_records:f64? last_records:i64?
    time_lag_s:f64? at_least_s:f64? lead_min_records:i64? commit_gap_max_s:f64? commit_gap_is_open:bool
    lost_records:i64? rewinds:i64 owner_member:str?""")
)
"""Each partition over a span.

`most_records` is the highest lag, at `most_at_us`; `avg_records` the average, `last_records` the lag at the end.
`lead_min_records` is the lowest lead: committed offset minus log start, negative if records were deleted unread.
`at_least_s` is the lower bound of a time lag that is longer than the samples reach back.
`commit_gap_is_open`: the longest time without a commit had not ended at the last sample, so it is a lower bound.
`lost_records` counts each loss once, with one from before the span if it is greater than those within it.
"""

HEALTH = pa.schema(fields("at_us:i64 rank:i64 rebalances:i64 joins:i64 leaves:i64 churn:f64?"))
"""Status and membership changes of one group, one row for each minute.

`churn`: joins and leaves over the mean number of members.
"""

HEALTH_CELLS = pa.schema(
    fields("group_id:str at_us:i64 rank:i64? known_minutes:i64 trouble_minutes:i64 rebalances:i64 time_lag_s:f64?")
)
"""Each group in each cell of the health map: its worst status, its minutes with a known status and in trouble.

`time_lag_s` is the longest time lag of its partitions, or the highest lower bound.
"""

POLLS = pa.schema(
    fields("at_us:i64 lag_records:f64? known:i64 partitions:i64 rank:i64? onset_us:i64? onset_is_exact:bool")
)
"""One group at each poll, oldest first. `lag_records` covers `known` of `partitions`.

`rank` is missing before the first verdict. `onset_us` is since when the status holds, or earlier (`onset_is_exact`).
"""

GROUP_LAGS = pa.schema(fields("group_id:str most_records:i64? most_at_us:i64? last_records:i64? time_lag_s:f64?"))
"""The lag of each group over a span: the highest, at `most_at_us`, and that in the last step, if it is known there."""

BURN_RATES = pa.schema(
    fields("""group_id:str objective:str target_percent:f64 threshold_s:f64 window_s:i64 burn:f64?
    budget_left_percent:f64? bad_minutes:i64 unknown_minutes:i64 total_minutes:i64 at_us:i64""")
)
"""The last burn rate of each group, objective and window."""


def empty(columns: pa.Schema) -> pd.DataFrame:
    """No rows of these columns."""
    return frame(columns.empty_table(), columns)


def frame(found: pa.Table, columns: pa.Schema) -> pd.DataFrame:
    """The result of a query with these columns."""
    rows: pd.DataFrame = found.cast(columns).to_pandas(types_mapper={I64: pd.Int64Dtype()}.get)
    return rows


def lag(span: Span, found: pd.DataFrame) -> pd.DataFrame:
    """The rows of LAG that were found, with one row for each step of the span.

    A step without a row has the `partitions` of the one before it, at the start of the one after it.
    """
    rows = found.set_index("at_us").reindex(pd.Index(span.times(span.step), name="at_us"))
    partitions = rows["partitions"].ffill().bfill().fillna(0)
    return rows.assign(known=rows["known"].fillna(0), partitions=partitions).reset_index()


def fill_from_polls(lag: pd.DataFrame, polled: pd.DataFrame) -> pd.DataFrame:
    """The lag, and where no partition has a lag by commits, the polled one: share groups have no commits.

    Only polls count partitions without a commit.
    """
    missing = (lag["known"] == 0) & (polled["known"] > 0)
    filled = {name: lag[name].mask(missing, polled[name]) for name in ("lag_records", "time_lag_s", "known")}
    return lag.assign(**filled, partitions=lag["partitions"].combine(polled["partitions"], max))


def join_days(days: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The GROUP_LAGS of consecutive days, or of different groups, as one, the highest lag first."""
    rows = pd.concat(days, ignore_index=True)
    worst_first = rows.sort_values("most_records", ascending=False, kind="stable")
    groups = worst_first.drop_duplicates("group_id").set_index("group_id")
    groups["last_records"] = rows.groupby("group_id")["last_records"].last()
    groups["time_lag_s"] = rows.groupby("group_id")["time_lag_s"].max()
    return groups.reset_index().sort_values(["most_records", "group_id"], ascending=[False, True], ignore_index=True)
