"""Results of applying and verifying a plan as JSON."""

from pathlib import Path
from typing import Any

from lag.reset.applying.apply import Applied
from lag.reset.applying.verify import PartitionResult, Verified
from lag.reset.model import Plan


def results_document(plan: Plan, found: Verified | Applied) -> dict[str, Any]:
    """A result for each partition; `done` says whether all that was planned is done, `error` why the group is not."""
    return {
        "group": plan.group_id,
        "cluster_id": plan.cluster_id,
        "specification": plan.specification,
        "done": found.is_done,
        "error": found.error or None,
        "partitions": [_result(each) for each in found.results],
    }


def applied_document(applied: Applied, undo: Path | None, csv: Path | None) -> dict[str, Any]:
    """The results, and the files of the undo plan."""
    return {
        **results_document(applied.plan, applied),
        "undo": None if undo is None else str(undo),
        "undo_csv": None if csv is None else str(csv),
    }


def _result(each: PartitionResult) -> dict[str, Any]:
    return {
        "topic": each.tp.topic,
        "partition": each.tp.partition,
        "outcome": str(each.outcome),
        "from": each.from_offset,
        "to": each.to_offset,
        "now": each.now,
        "error": each.error or None,
    }
