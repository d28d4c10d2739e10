"""A small sweep in a history, as `groupscope sweep` writes it, for pages to read."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from assignors.whatif.events import Scenario
from lag.history.store import History
from lag.sweeps import local, sweep_table
from lag.sweeps.plan import Failure, Plan, SweepRequest, parse_member_counts
from tests.lag.sweeps.scenarios import orders

AT = datetime(2026, 11, 22, 6, tzinfo=UTC)
REQUEST = SweepRequest(
    ("range", "sticky", "cooperative-sticky"), parse_member_counts("1..6"), (Failure.NONE, Failure.CRASH)
)


def groups() -> list[Scenario]:
    """One as `orders`; one whose slowest member cannot keep up; one whose loads are unknown, with an idle member."""
    base = orders()
    slow = replace(base, name="slow", loads=replace(base.loads, default_capacity_per_s=65.0))
    idle = replace(orders("roundrobin"), name="idle", loads=replace(base.loads, lag_records={}, produced_per_s={}))
    first, second, third = idle.members
    owned = (tuple(first.owned) + tuple(third.owned[:1]), tuple(second.owned) + tuple(third.owned[1:]))
    members = (replace(first, owned=owned[0]), replace(second, owned=owned[1]), replace(third, owned=()))
    return [base, slow, replace(idle, members=members)]


def sweep(
    root: Path,
    sweep_id: str = "one",
    at: datetime = AT,
    its: Sequence[Scenario] | None = None,
    asked: SweepRequest = REQUEST,
) -> Plan:
    """Write it, of these groups or of `groups`, and say what it was."""
    plan = Plan(groups() if its is None else its, asked)
    header = sweep_table.SweepHeader(sweep_id, "made-up", at)
    sweep_table.write(History(root), header, sweep_table.groups(plan), list(local.run(plan, header)))
    return plan
