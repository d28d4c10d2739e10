"""A small sweep in a history, as `groupscope sweep` writes it, for pages to read."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from assignors.whatif.events import Scenario
from lag.history.store import History
from lag.sweeps import local, sweep_table
from lag.sweeps.plan import Asked, Failure, Plan, parse_sizes
from tests.lag.sweeps.scenarios import orders

AT = datetime(2026, 11, 22, 6, tzinfo=UTC)
ASKED = Asked(("range", "sticky", "cooperative-sticky"), parse_sizes("1..6"), (Failure.NONE, Failure.CRASH))


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
    root: Path, sweep_id: str = "one", at: datetime = AT, its: Sequence[Scenario] | None = None, asked: Asked = ASKED
) -> Plan:
    """Write it, of these groups or of `groups`, and say what it was."""
    plan = Plan(groups() if its is None else its, asked)
    stamp = sweep_table.Stamp(sweep_id, "made-up", at)
    sweep_table.record(History(root), stamp, sweep_table.groups(plan), list(local.run(plan, stamp)))
    return plan
