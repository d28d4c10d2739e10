"""Groups with rules of their own: each is judged as if it were the only one."""

from random import Random

import numpy as np
import pytest

from lag.model import ClusterSnapshot
from lag.verdict import judge as judging
from lag.verdict.health import Health
from lag.verdict.judge import judge
from lag.verdict.onset import OnsetColumns
from lag.verdict.rules.group_rules import GroupRules
from lag.verdict.rules.status_rules import Rules
from lag.verdict.status import STATUS_CODE, TOO_EARLY, Status
from lag.verdict.window.sample_window import SampleRing, Window
from tests.lag.make import cluster, end, group, judged

RULES = (Rules(), Rules(lag_floor=400), Rules(min_samples=30, min_s=300), Rules(marker_records=0))
GROUPS = 40


def watched(seed: int) -> tuple[ClusterSnapshot, Window]:
    """Twelve polls of groups that stand still, keep up or fall behind, some without members or partitions."""
    r, ring = Random(seed), SampleRing()
    keys = [f"t-{partition}" for partition in range(6)]
    speeds = {
        f"g{at:02}": {key: r.choice((0, 0, 5, 10)) for key in r.sample(keys, r.randrange(4))} for at in range(GROUPS)
    }
    members = {name: r.choice((0, 1, 2)) for name in speeds}
    for poll in range(12):
        ends = {key: end(1000 + 10 * poll) for key in keys}
        groups = {
            name: group(
                {key: 700 + speed * poll for key, speed in its.items()},
                members=members[name],
                state="Stable" if members[name] else "Empty",
            )
            for name, its in speeds.items()
        }
        snapshot = cluster(groups, ends, poll + 1, 1_000_000 + poll * 10_000)
        window = ring.append(snapshot)
    return snapshot, window


def assert_same_group(one: Health, other: Health, number: int) -> None:
    ours, theirs = one.groups[number], other.groups[number]
    assert ours.finding == theirs.finding
    assert (ours.unhealthy, ours.worst, ours.time_lag, ours.lag) == (
        theirs.unhealthy,
        theirs.worst,
        theirs.time_lag,
        theirs.lag,
    )
    np.testing.assert_array_equal(ours.lag_trend, theirs.lag_trend)
    findings = [[row.finding for row in health.group_partitions(number)] for health in (one, other)]
    assert findings[0] == findings[1]
    for name in OnsetColumns._fields:
        assert getattr(one.columns.onsets, name)[number] == getattr(other.columns.onsets, name)[number]
    assert one.columns.status[number] == other.columns.status[number]


@pytest.mark.parametrize("block_cells", [1, 100, 250_000])
@pytest.mark.parametrize("seed", range(4))
def test_a_group_has_the_verdict_of_its_own_rules(seed: int, block_cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "BLOCK_CELLS", block_cells)
    snapshot, window = watched(seed)
    number = np.random.default_rng(seed).integers(0, len(RULES), GROUPS)
    mixed = judge(snapshot, window, GroupRules(RULES, number))
    alone = [judge(snapshot, window, rules) for rules in RULES]
    for at in range(GROUPS):
        assert_same_group(mixed, alone[number[at]], at)
    assert {health.groups[at].finding.status for health in alone for at in range(GROUPS)} > {
        Status.STOPPED,
        Status.NO_MEMBERS,
    }


def test_a_group_that_is_behind_has_no_verdict_before_its_trend_is_known() -> None:
    """It may be falling behind, and may have been before the server was restarted."""
    lags = {"behind": 900, "fine": 5}
    polls = [
        cluster(
            {name: group({"t-0": 10_000 + n * (1_000 - lag)}) for name, lag in lags.items()},
            {"t-0": end(10_000 + 1_000 * n)},
            n,
            30_000 * n,
        )
        for n in range(1, 7)
    ]
    codes = [judged(polls[:n]).columns.status.tolist() for n in range(1, 7)]
    assert [first for first, _ in codes] == [TOO_EARLY] * 5 + [STATUS_CODE[Status.FALLING_BEHIND]]
    assert [second for _, second in codes] == [TOO_EARLY] * 2 + [STATUS_CODE[Status.OK]] * 4


def test_a_group_that_appears_behind_has_no_verdict_before_its_own_polls_are_enough() -> None:
    """It was OK at once after the polls of the others: a stopped group that could not be listed for a while."""
    polls = []
    for n in range(1, 12):
        groups = {"fine": group({"t-0": 100 * n})}
        if n > 6:
            groups["late"] = group({"t-0": 50})
        polls.append(cluster(groups, {"t-0": end(100 * n)}, n, 30_000 * n))
    codes = [judged(polls[:n]).columns.status.tolist() for n in range(7, 12)]
    assert [fine for fine, _ in codes] == [STATUS_CODE[Status.OK]] * 5
    assert [late for _, late in codes] == [TOO_EARLY] * 4 + [STATUS_CODE[Status.STOPPED]]


def test_the_rows_to_check_for_markers_are_in_order() -> None:
    snapshot, window = watched(1)
    rules = Rules(gain=1.1)
    mixed = judge(snapshot, window, GroupRules((rules, Rules(gain=1.2)), np.arange(GROUPS) % 2))
    assert mixed.needs_marker_check.tolist() == judge(snapshot, window, rules).needs_marker_check.tolist()
    assert len(mixed.needs_marker_check) > 5
