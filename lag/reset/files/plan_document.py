"""A plan as JSON or YAML, for review. `lag.reset.files.plan_file` reads it."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import yaml

from lag.reset import summary
from lag.reset.model import PartitionPlan, Plan, RecordHead
from lag.times import iso_time

SCHEMA = 1


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON: names first, then numbers; what is empty or not known is left out of partitions."""
    return {
        "schema_version": SCHEMA,
        "kind": str(plan.kind),
        "cluster_id": plan.cluster_id,
        "group": plan.group_id,
        "group_type": None if plan.group_type is None else str(plan.group_type),
        "made_at": iso_time(plan.made_at_ms),
        "state": plan.state,
        "epoch": plan.epoch,
        "members": [asdict(member) for member in plan.members],
        "specification": plan.specification,
        "summary": summary.headline(plan),
        "warnings": list(summary.warnings(plan)),
        "totals": asdict(summary.totals(plan)),
        "instance_id": plan.instance_id,
        "undoes": plan.undoes,
        "command": plan.command,
        "partitions": [_partition(row) for row in plan.partitions],
    }


def _partition(row: PartitionPlan) -> dict[str, Any]:
    values: dict[str, Any] = {
        "topic": row.tp.topic,
        "partition": row.tp.partition,
        "action": str(row.action),
        "from": row.from_offset,
        "to": row.to_offset,
        "read_again": row.read_again,
        "skipped": row.skipped,
    }
    more = {
        "asked": row.asked_offset,
        "deleted": row.deleted or None,
        "offsets_without_record": row.gaps,
        "from_at": None if row.from_ms is None else iso_time(row.from_ms),
        "to_at": None if row.to_ms is None else iso_time(row.to_ms),
        "lag_before": row.lag_before,
        "lag_after": row.lag_after,
        "log_start": row.log_start,
        "log_end": row.log_end,
        "last_stable": row.last_stable,
        "topic_id": row.topic_id,
        "topic_is_gone": row.topic_is_gone or None,
        "from_metadata": row.from_metadata or None,
        "to_metadata": row.to_metadata or None,
        "reason": row.reason or None,
        "notes": list(row.notes) or None,
        "records": [_record(record) for record in row.records] or None,
    }
    return values | {key: value for key, value in more.items() if value is not None}


def _record(record: RecordHead) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "at": iso_time(record.timestamp_ms),
        **_bytes("key", record.key),
        "headers": [
            [name, None if value is None else value.decode(errors="replace")] for name, value in record.headers
        ],
        "value_bytes": record.value_bytes,
        **_bytes("value", record.value),
    }


def _bytes(name: str, data: bytes | None) -> Mapping[str, str | None]:
    """The bytes as text where they are UTF-8, else in base64."""
    if data is None:
        return {}
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": b64encode(data).decode()}


def plan_text(plan: Plan, as_yaml: bool = False) -> str:
    """The text of the file, with a newline at the end."""
    document = plan_document(plan)
    if as_yaml:
        return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
