"""What is special about a partition of a plan, a record or a result, in words. Pure."""

from lag.reset.applying.verify import Outcome
from lag.reset.model import Action, PartitionPlan, RecordHead
from lag.times import iso_time

OUTCOMES = {
    Outcome.DONE: "at the new offset",
    Outcome.NOT_DONE: "at the old offset",
    Outcome.ELSEWHERE: "at another offset",
    Outcome.FAILED: "refused",
    Outcome.UNPLANNED: "not planned",
}


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
        parts.append("stays")
    return "; ".join(filter(None, parts))


def record_text(record: RecordHead) -> str:
    """Its time, key, headers and size; its value only if the plan has it."""
    size = "no value (a tombstone)" if record.value_bytes is None else f"value of {record.value_bytes:,} bytes"
    headers = ", ".join(f"{name}={_text(value)}" for name, value in record.headers) or "none"
    value = "" if record.value is None else f", value {_text(record.value)}"
    return f"{iso_time(record.timestamp_ms)}, key {_text(record.key)}, headers {headers}, {size}{value}"


def _text(data: bytes | None) -> str:
    """Text where it is UTF-8, else hexadecimal; the first 200 characters."""
    if data is None:
        return "null"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = f"0x{data.hex()}"
    return text if len(text) <= 200 else f"{text[:199]}…"
