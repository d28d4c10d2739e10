"""The dashboard is killed at random moments, and two of them write to one history."""

import random
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from lag.history.recorder import FLUSH_S
from lag.history.store import History
from tests.reliability import rows, seen
from tests.reliability.bench import Bench, today
from tests.reliability.brokers import Cluster
from tests.reliability.dashboard import Dashboard, Look, dashboard
from tests.reliability.faults import ORDER
from tests.reliability.truth import Group, Truth
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(900)]

KILLS = 3
RIGHT_WITHIN_S = 120.0
STORED_WITHIN_S = 120.0


def right(shown: Dashboard, truth: Truth) -> Look:
    """The first look at which all verdicts are right."""

    def found() -> Look | None:
        known: Mapping[str, Group] | None = truth.groups()
        return None if known is None else next((look for look in shown.looks if seen.is_right(look, known)), None)

    look = wait_until(found, RIGHT_WITHIN_S, 0.2)
    assert look is not None
    return look


def killed(folder: Path, three: Cluster, history: Path, dice: random.Random) -> Sequence[Look]:
    """Start a dashboard and kill it after its first write to the history or up to one more; what was seen of it."""
    with dashboard(folder, three.client_file, history) as shown:
        before = commits(history)
        wait_until(lambda: commits(history) > before, STORED_WITHIN_S)
        time.sleep(dice.uniform(0, 1))
        shown.command.process.kill()
        shown.command.process.wait()
        return [look for look in shown.looks if look.groups]


def commits(history: Path) -> int:
    """How often the table was written."""
    return len(list((history / "group_snapshots" / "_delta_log").glob("*.json")))


def test_collector_killed(three: Cluster, truth: Truth, tmp_path: Path) -> None:
    history, dice = tmp_path / "history", random.Random()
    runs = [killed(tmp_path / str(n), three, history, dice) for n in range(KILLS)]
    began_s = time.monotonic()
    with dashboard(tmp_path / "last", three.client_file, history) as shown:
        last = right(shown, truth)
        Bench(three, truth, shown).stored(shown.looks)
        runs.append([look for look in shown.looks if look.at_s <= last.at_s])
    stored = stored_groups(history)
    written = [up_to_the_last_written(looks, {at_ms for at_ms, _ in stored}) for looks in runs]
    gone = sum(len({look.poll_ms for look in looks}) for looks in runs) - sum(map(len, written))
    lost = sum(seen.missing_and_doubled(stored, polls)[0] for polls in written)
    row = rows.FaultRow(
        fault="Collector killed",
        made=f"SIGKILL of `serve`, {KILLS} times, within a second after it began to write; started again",
        seen=f"no page until the start; {gone} polls of the {FLUSH_S:.0f} s before the kills were not written yet",
        seconds=round(last.at_s - began_s, 1),
        polls=last.number,
        wrong=0,
        lost=lost,
        doubled=len(stored) - len(set(stored)),
        page_up=all(map(seen.answered, runs)),
        measured=today(),
    )
    rows.keep(row, ORDER)
    assert row.shortcomings(most_polls=3) == []


def up_to_the_last_written(looks: Sequence[Look], stored: set[int]) -> dict[int, set[str]]:
    """The polls of a process (time -> groups) up to the last one that it wrote."""
    polls = {look.poll_ms: set(look.groups) for look in looks if look.groups}
    newest = max(polls.keys() & stored)
    return {at_ms: groups for at_ms, groups in polls.items() if at_ms <= newest}


def test_two_collectors_on_one_history(three: Cluster, truth: Truth, tmp_path: Path) -> None:
    history = tmp_path / "history"
    with ExitStack() as stack:
        both = [
            stack.enter_context(dashboard(tmp_path / name, three.client_file, history)) for name in ("first", "second")
        ]
        for shown in both:
            right(shown, truth)
        for shown in both:
            Bench(three, truth, shown).stored(shown.looks)
        looks = [list(shown.looks) for shown in both]
        complete = [
            Bench(three, truth, shown).stored(seen_so_far) for shown, seen_so_far in zip(both, looks, strict=True)
        ]
    stored = stored_groups(history)
    row = rows.FaultRow(
        fault="Two collectors on one history",
        made="two `serve` poll the same cluster and write to the same folder",
        seen="nothing: both are right; a poll of each in the history, so twice as many points",
        seconds=None,
        polls=None,
        wrong=0,
        lost=sum(lost for lost, _ in complete),
        doubled=len(stored) - len(set(stored)),
        page_up=all(map(seen.answered, looks)),
        measured=today(),
    )
    rows.keep(row, ORDER)
    assert row.shortcomings() == []


def stored_groups(history: Path) -> list[tuple[int, str]]:
    """All rows of `group_snapshots`."""
    return seen.stored_groups(History(history), 0, 2**62)
