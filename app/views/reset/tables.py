"""Plans and results as tables."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from app.ui import formats
from app.ui.fitting import has_values
from app.ui.widgets import Column
from lag.reset.applying.verify import Outcome
from lag.reset.model import Action, PartitionPlan, Plan, RecordHead
from lag.reset.remarks import data_text, headers_text, outcome_text, remark
from lag.times import iso_time

TOPIC_LEAST_PX, TOPIC_MOST_PX, PX_PER_LETTER = 24, 260, 7
PLAN = {
    "topic": Column("Topic", TOPIC_MOST_PX),
    "partition": Column("Partition", 68),
    "from": Column("From", 92, "The committed offset; a dash where nothing is committed"),
    "to": Column("To", 92, "The new offset; a dash where the committed offset is deleted"),
    "read_again": Column("Read again", 92),
    "skipped": Column("Skipped", 92),
    "lag_after": Column("Lag after", 92),
    "remark": Column("Remark", 260),
    "from_time": Column("Time at From", 190, "Time of the first record at or after the offset"),
    "to_time": Column("Time at To", 190, "Time of the first record at or after the offset"),
    "log_start": Column("Log start", 92),
    "log_end": Column("Log end", 92),
}
RECORDS = {
    "topic": Column("Topic", TOPIC_MOST_PX),
    "partition": Column("Partition", 68),
    "offset": Column("Offset", 92),
    "time": Column("Time", 190),
    "key": Column("Key", 160),
    "headers": Column("Headers", 240),
    "size": Column("Value", 110, "Its size"),
}
RESULT = {
    "topic": Column("Topic", TOPIC_MOST_PX),
    "partition": Column("Partition", 68),
    "from": Column("From", 92),
    "to": Column("To", 92),
    "now": Column("Now", 92, "The committed offset after the change"),
    "result": Column("Result", 320),
}
OPTIONAL = (
    "to", "now", "read_again", "skipped", "lag_after", "remark", "from_time", "to_time", "log_start", "log_end",
)  # fmt: skip
_WHOLE = ("partition", "from", "to", "read_again", "skipped", "lag_after", "log_start", "log_end", "now", "offset")


def plan_frame(partitions: Sequence[PartitionPlan]) -> pd.DataFrame:
    """A row for each partition of a plan, in its order; without empty columns."""
    return _without_empty(_typed(pd.DataFrame([_row(row) for row in partitions], columns=list(PLAN))))


def _without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """Without the OPTIONAL columns that are empty."""
    return frame.drop(columns=[name for name in OPTIONAL if name in frame and not has_values(frame[name])])


def topic_column(frame: pd.DataFrame) -> Column:
    """As wide as its longest name, within limits: on a phone the offsets stand beside it."""
    longest = max(map(len, frame["topic"]), default=0)
    return Column("Topic", min(TOPIC_MOST_PX, TOPIC_LEAST_PX + PX_PER_LETTER * longest))


def _row(row: PartitionPlan) -> dict[str, Any]:
    remarks = "offset is deleted" if row.action is Action.DELETE else ""
    return {
        "topic": row.tp.topic,
        "partition": row.tp.partition,
        "from": row.from_offset,
        "to": row.to_offset,
        "read_again": row.read_again,
        "skipped": row.skipped,
        "lag_after": row.lag_after,
        "from_time": None if row.from_ms is None else iso_time(row.from_ms),
        "to_time": None if row.to_ms is None else iso_time(row.to_ms),
        "log_start": row.log_start,
        "log_end": row.log_end,
        "remark": "; ".join(filter(None, (remarks, remark(row)))),
    }


def records_frame(plan: Plan) -> pd.DataFrame:
    """A row for each record that is to be skipped by name."""
    rows = [_record(row, record) for row in plan.partitions for record in row.records]
    return _typed(pd.DataFrame(rows, columns=list(RECORDS)))


def _record(row: PartitionPlan, record: RecordHead) -> dict[str, Any]:
    return {
        "topic": row.tp.topic,
        "partition": row.tp.partition,
        "offset": record.offset,
        "time": iso_time(record.timestamp_ms),
        "key": data_text(record.key),
        "headers": headers_text(record),
        "size": "tombstone" if record.value_bytes is None else formats.plural(record.value_bytes, "byte"),
    }


def result_frame(partitions: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """A row for each partition of the results."""
    rows = [{**row, "result": _result(row)} for row in partitions]
    return _without_empty(_typed(pd.DataFrame(rows, columns=list(RESULT))))


def _result(row: dict[str, Any]) -> str:
    return outcome_text(Outcome(row["outcome"]), row["to"], row["now"]) + (f": {row['error']}" if row["error"] else "")


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype({name: "Int64" for name in _WHOLE if name in frame})
