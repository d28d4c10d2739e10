"""Plans and their results as tables and sentences."""

from collections import Counter
from collections.abc import Sequence

from app.cli.shared.output import emit, emit_table, note
from lag.reset import summary
from lag.reset.applying.verify import PartitionResult
from lag.reset.model import Action, PartitionPlan, Plan
from lag.reset.remarks import OUTCOMES, outcome_text, record_text, remark
from lag.times import iso_time

DASH = "-"
_HEADS = (
    "TOPIC", "PARTITION", "FROM", "TO", "READ AGAIN", "SKIPPED", "FROM TIME", "TO TIME", "LOG START", "LOG END",
    "REMARK",
)  # fmt: skip


def print_plan(plan: Plan) -> None:
    """The headline first, then warnings, the records to skip, every partition, and Kafka's command."""
    emit(summary.headline(plan))
    for warning in summary.warnings(plan):
        emit(f"! {warning}")
    for row in plan.partitions:
        for record in row.records:
            emit(f"Record {row.tp.topic}:{row.tp.partition}:{record.offset}  {record_text(record)}")
    if plan.partitions:
        emit()
        emit_table(_HEADS, map(_cells, plan.partitions), right=(1, 2, 3, 4, 5, 8, 9))
    if plan.command:
        emit()
        emit("The same with Kafka's tool:")
        emit(f"  {plan.command}")


def _cells(row: PartitionPlan) -> Sequence[str]:
    return (
        row.tp.topic,
        str(row.tp.partition),
        number(row.from_offset),
        "delete" if row.action is Action.DELETE else number(row.to_offset),
        number(row.read_again),
        number(row.skipped),
        DASH if row.from_ms is None else iso_time(row.from_ms),
        DASH if row.to_ms is None else iso_time(row.to_ms),
        number(row.log_start),
        number(row.log_end),
        remark(row),
    )


def print_results(found: Sequence[PartitionResult]) -> None:
    """Every partition, and how many are done on stderr."""
    if not found:
        return
    emit_table(("TOPIC", "PARTITION", "FROM", "TO", "NOW", "RESULT"), map(_result, found), right=(1, 2, 3, 4))
    counts = Counter(each.outcome for each in found)
    note(", ".join(f"{counts[outcome]:,} {text}" for outcome, text in OUTCOMES.items() if counts[outcome]))


def _result(each: PartitionResult) -> Sequence[str]:
    text = outcome_text(each.outcome, each.to_offset, each.now) + (f": {each.error}" if each.error else "")
    offsets = map(number, (each.from_offset, each.to_offset, each.now))
    return (each.tp.topic, str(each.tp.partition), *offsets, text)


def number(value: int | None) -> str:
    """With thousands separators; a dash where it is not known, or nothing is committed."""
    return DASH if value is None else f"{value:,}"
