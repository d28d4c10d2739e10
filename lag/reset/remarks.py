"""What is special about a partition of a plan, a record or a result, in words. Pure."""

from lag.reset.applying.verify import Outcome, overwritten_text
from lag.reset.model import Action, PartitionPlan, RecordHead
from lag.times import iso_time

OUTCOMES = {
    Outcome.DONE: "at the new offset",
    Outcome.NOT_DONE: "at the old offset",
    Outcome.ELSEWHERE: "at another offset",
    Outcome.FAILED: "refused",
    Outcome.OVERWRITTEN: "written, but changed since by something else",
    Outcome.UNPLANNED: "not planned",
}


def outcome_text(outcome: Outcome, to_offset: int | None, now: int | None) -> str:
    """The outcome of a partition in words."""
    if outcome is Outcome.OVERWRITTEN:
        return overwritten_text(to_offset, now)
    return "offset deleted" if outcome is Outcome.DONE and to_offset is None else OUTCOMES[outcome]


def remark(row: PartitionPlan) -> str:
    """Why it is not planned, or what is special about it."""
    parts = [row.reason, *row.notes]
    if row.asked_offset is not None:
        parts.append(f"asked for {row.asked_offset:,}")
    if row.deleted:
        parts.append(f"{row.deleted:,} deleted before they were read")
    if row.gaps:
        parts.append(f"{row.gaps:,} offsets without a record")
    if row.held_records:
        parts.append(f"open transaction from {row.last_stable:,} on")
    if row.action is Action.SET and not row.is_change:
        parts.append("unchanged")
    return "; ".join(filter(None, parts))


def record_text(record: RecordHead) -> str:
    """Its time, key, headers and size; its value only if the plan has it."""
    size = "no value (a tombstone)" if record.value_bytes is None else f"value of {record.value_bytes:,} bytes"
    value = "" if record.value is None else f", value {data_text(record.value)}"
    head = f"{iso_time(record.timestamp_ms)}, key {data_text(record.key)}, headers {headers_text(record)}"
    return f"{head}, {size}{value}"


def headers_text(record: RecordHead) -> str:
    """Its headers, as name=value."""
    return ", ".join(f"{name}={data_text(value)}" for name, value in record.headers) or "none"


def data_text(data: bytes | None) -> str:
    """Text where it is UTF-8, else hexadecimal; the first 200 characters."""
    if data is None:
        return "null"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = f"0x{data.hex()}"
    return text if len(text) <= 200 else f"{text[:199]}…"
