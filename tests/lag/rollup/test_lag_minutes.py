"""Lag by the minute equals the plain reference: on random series, and on every edge case of the specification."""

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lag.rollup.lag_minutes import LagMinutes, minutes
from lag.verdict.status import URGENCY
from lag.verdict.window.samples import LOOKBACK_US, Commits, LogSamples
from tests.lag.rollup import plain_minutes as plain
from tests.lag.rollup.plain_minutes import Commit, Sample

SINCE, UNTIL = 600, 1500
ONCE_KNOWN = {"lag_raw_min", "lead_min"}
IDS = {"old": 0, "new": 1}


def ours(samples: list[Sample], commits: list[Commit], since: int = SINCE, until: int = UNTIL) -> list[dict[str, Any]]:
    return rows(minutes(*columns((samples, commits)), since * 1_000_000, until * 1_000_000))


def columns(*series: tuple[list[Sample], list[Commit]]) -> tuple[LogSamples, Commits]:
    """Those of all series, one after the other."""
    samples = [(number, sample) for number, (many, _) in enumerate(series) for sample in many]
    commits = [(number, commit) for number, (_, many) in enumerate(series) for commit in many]
    ends = LogSamples(
        column([number for number, _ in samples]),
        us([s.at for _, s in samples]),
        column([s.start for _, s in samples]),
        column([s.end for _, s in samples]),
        column([s.stable for _, s in samples]),
        column([IDS.get(s.topic or "") for _, s in samples]),
    )
    made = Commits(
        column([number for number, _ in commits]),
        us([c.at for _, c in commits]),
        column([c.offset for _, c in commits]),
        column([IDS.get(c.topic or "") for _, c in commits]),
        np.array([c.bootstrap for _, c in commits], bool),
    )
    return ends, made


def us(seconds: list[float]) -> Any:
    return np.array([round(at * 1e6) for at in seconds], np.int64)


def column(values: list[int | None]) -> Any:
    return np.array([-1 if value is None else value for value in values], np.int64)


def rows(found: LagMinutes) -> list[dict[str, Any]]:
    names = [name for name in found._fields if name not in ("has_raw", "series")]
    return [{_name(name): _value(found, name, at) for name in names} for at in range(len(found.minute_us))]


def _name(name: str) -> str:
    return "minute" if name == "minute_us" else name


def _value(found: LagMinutes, name: str, at: int) -> Any:
    value = getattr(found, name)[at].item()
    if name in ONCE_KNOWN:
        return value if found.has_raw[at] else None
    if name == "minute_us":
        return value // 1_000_000
    if name == "status":
        return str(URGENCY[value])
    return None if (isinstance(value, float) and math.isnan(value)) or value == -1 else value


def both(samples: list[Sample], commits: list[Commit], since: int = SINCE, until: int = UNTIL) -> list[dict[str, Any]]:
    """Ours, once they are seen to be equal."""
    found, wanted = ours(samples, commits, since, until), plain.minutes(samples, commits, since, until)
    assert [row["minute"] for row in found] == [row["minute"] for row in wanted]
    for mine, reference in zip(found, wanted, strict=True):
        for name, value in reference.items():
            assert mine[name] == (pytest.approx(value, rel=1e-9, abs=1e-3) if isinstance(value, float) else value), name
    return found


def steady(ends: range, every: int = 10, at: int = 600, **rest: Any) -> list[Sample]:
    return [Sample(at + every * number, 0, end, end, **rest) for number, end in enumerate(ends)]


def test_the_last_commit_at_or_before_each_sample_counts() -> None:
    """LogSamples 100, 110, … every 10 s; the commit of 120 comes at the very moment of the third sample."""
    (row,) = both(steady(range(100, 160, 10)), [Commit(599, 95), Commit(620, 120), Commit(660, 999)], until=660)
    assert (row["lag_max"], row["lag_last"], row["lag_avg"]) == (30, 30, (5 + 15 + 0 + 10 + 20 + 30) / 6)
    assert (row["commits"], row["samples"], row["committed_last"]) == (1, 6, 120)


def test_time_lag_lies_between_the_samples_around_the_commit() -> None:
    """Offset 105 was written half way between 600 s and 610 s; it is judged at 650 s at last."""
    (row,) = both(steady(range(100, 160, 10)), [Commit(590, 105)], until=660)
    assert (row["time_lag_max_ms"], row["time_lag_bounded"]) == (45_000, True)


def test_time_lag_is_not_guessed_when_the_record_is_older_than_the_samples() -> None:
    (row,) = both(steady(range(100, 160, 10)), [Commit(590, 50)], until=660)
    assert (row["time_lag_max_ms"], row["time_lag_min_ms"], row["time_lag_bounded"]) == (None, 50_000, False)


def test_a_time_lag_of_more_than_two_hours_is_only_known_to_be_that() -> None:
    samples = [Sample(0, 0, 10, 10), Sample(1, 0, 20, 20), Sample(7200, 0, 30, 30), Sample(7201.5, 0, 40, 40)]
    (row,) = both(samples, [Commit(1, 15)], 7200, 7260)
    assert (row["time_lag_max_ms"], row["time_lag_min_ms"], row["time_lag_bounded"]) == (7_199_500, 7_200_000, False)


def test_records_that_were_deleted_unread_are_lost_and_lag_counts_from_the_log_start() -> None:
    (row,) = both([Sample(600, 80, 100, 100)], [Commit(1, 50)], until=660)
    assert (row["lag_last"], row["lost"], row["lag_raw_min"], row["status"]) == (20, 30, 50, "lost")


def test_two_losses_in_one_minute_add_up() -> None:
    """30 records; the group commits the log start; 60 more."""
    samples = [Sample(600, 80, 100, 100), Sample(620, 80, 120, 120), Sample(630, 140, 150, 150)]
    (row,) = both(samples, [Commit(1, 50), Commit(615, 80)], until=660)
    assert (row["newly_lost"], row["lost"], row["status"]) == (90, 60, "lost")


def test_a_loss_that_stays_and_grows_is_one_loss() -> None:
    """In the second minute nothing is known for a time, in the last one the group moves, still below the log start."""
    starts = (80, 80, 80, None, None, None, 80, 85, 85)
    samples = [Sample(600 + 20 * n, start, start and 100, start and 100) for n, start in enumerate(starts)]
    found = both(samples, [Commit(1, 50), Commit(755, 60)], until=780)
    assert [(row["newly_lost"], row["lost"]) for row in found] == [(30, 30), (0, 30), (5, 35)]


def test_a_truncated_log_loses_nothing_again() -> None:
    """Its start is the same, and so is the commit. A recreated topic has other records."""
    samples = [Sample(600, 80, 500, 500, "old"), Sample(610, 80, 200, 200, "old"), Sample(660, 80, 90, 90, "new")]
    found = both(samples, [Commit(1, 50), Commit(655, 70, "new")], until=720)
    assert [row["newly_lost"] for row in found] == [30, 10]


def test_after_two_hours_without_a_poll_a_loss_counts_again() -> None:
    """A run has no earlier samples: the row must not depend on where it begins."""
    samples = [Sample(600, 80, 100, 100), Sample(600 + 7200, 80, 100, 100), Sample(601 + 14400, 80, 100, 100)]
    assert [row["newly_lost"] for row in both(samples, [Commit(1, 50)], until=15_060)] == [30, 0, 30]


def test_an_empty_log_has_no_lag() -> None:
    (row,) = both([Sample(600, 100, 100, 100)], [Commit(1, 100)], until=660)
    assert (row["lag_last"], row["lost"], row["status"]) == (0, 0, "ok")


def test_a_commit_beyond_the_end_is_no_negative_lag() -> None:
    (row,) = both(steady(range(100, 103)), [Commit(1, 130)], until=660)
    assert (row["lag_last"], row["lag_raw_min"], row["status"]) == (0, -30, "beyond_end")


def test_one_commit_ahead_of_the_log_end_is_a_difference_of_clocks() -> None:
    """The first two samples of a series do not decide either."""
    samples = steady(range(100, 700, 100))
    (row,) = both(samples, [Commit(599 + 10 * n, 100 * n + 100 + (n == 3)) for n in range(6)], until=660)
    assert (row["lag_raw_min"], row["status"]) == (-1, "ok")
    (row,) = both(samples[:2], [Commit(1, 230)], until=660)
    assert (row["lag_raw_min"], row["status"]) == (-130, "ok")


def test_a_group_that_keeps_up_is_not_beyond_the_end_because_the_clock_of_a_broker_is_behind() -> None:
    """The clock is 2 s behind, so each commit is 20 records above the log end of its sample; the next one has them."""
    samples = [Sample(600 + 15 * n, 0, 150 * n, 150 * n) for n in range(12)]
    found = both(samples, [Commit(598 + n, 10 * n) for n in range(170)], until=780)
    assert [(row["lag_raw_min"], row["status"]) for row in found] == [(-20, "ok")] * 3


def test_a_truncated_log_is_below_the_commits_at_once() -> None:
    samples = [*steady(range(500, 503)), Sample(660, 0, 40, 40)]
    found = both(samples, [Commit(1, 500)], until=720)
    assert [row["status"] for row in found] == ["ok", "beyond_end"]


def test_a_commit_that_the_log_end_has_reached_again_is_not_beyond_it() -> None:
    ends = (100, 100, 100, 140)
    samples = [Sample(600 + 10 * n, 0, end, end) for n, end in enumerate(ends)]
    assert both(samples, [Commit(1, 130)], until=660)[0]["status"] == "ok"


def test_without_a_commit_there_is_no_number() -> None:
    (row,) = both([Sample(600, 0, 100, 100)], [], until=660)
    assert (row["lag_last"], row["lag_max"], row["committed_last"], row["status"]) == (None, None, None, "unknown")


def test_a_tombstone_ends_what_was_committed() -> None:
    found = both([Sample(600, 0, 9, 9), Sample(660, 0, 9, 9)], [Commit(1, 5), Commit(630, None)], until=720)
    assert [row["lag_last"] for row in found] == [4, None]


def test_an_end_that_was_not_read_is_carried_on_for_two_polls() -> None:
    lost = [Sample(at, None, None, None) for at in (610, 620, 630)]
    found = both([Sample(600, 0, 9, 9), *lost], [Commit(1, 5)], until=660)
    assert (found[0]["samples"], found[0]["lag_avg"]) == (4, 4)
    assert len([one for one in found if one["lag_last"] is not None]) == 1
    assert both(lost, [Commit(1, 5)], until=660)[0]["lag_last"] is None


def test_a_recreated_topic_is_another_log() -> None:
    """What was committed to the old one is stale until the group commits to the new one."""
    before = [Sample(600, 0, 500, 500, "old"), Sample(610, 0, 510, 510, "old")]
    after = [Sample(660, 0, 3, 3, "new"), Sample(670, 0, 5, 5, "new"), Sample(720, 0, 9, 9, "new")]
    found = both([*before, *after], [Commit(1, 500, "old"), Commit(700, 4, "new")], until=780)
    assert [row["lag_last"] for row in found] == [10, None, 5]
    assert [row["status"] for row in found] == ["ok", "topic_deleted", "ok"]
    assert found[1]["produce_rate"] == 2 / 10


def test_a_truncated_log_is_recognised_by_its_end() -> None:
    found = both([Sample(600, 0, 500, 500), Sample(610, 0, 40, 40), Sample(620, 0, 50, 50)], [Commit(1, 45)], until=660)
    assert (found[0]["produce_rate"], found[0]["lag_last"], found[0]["lag_raw_min"]) == (1.0, 5, -5)


def test_two_servers_with_different_clocks_record_one_log() -> None:
    """One of them is 0.3 s ahead: its log ends are 3 records lower than those that the other one read just before."""
    samples = [
        Sample(at, 0, end, end, "old")
        for n in range(40)
        for at, end in ((600 + 15 * n, 150 * n), (600.3 + 15 * n, 150 * n - 3))
        if end >= 0
    ]
    found = both(samples, [Commit(599 + 15 * n, max(150 * n - 300, 0)) for n in range(40)], until=1200)
    last = found[-1]
    assert (last["time_lag_bounded"], last["lag_last"], last["lag_rc_last"], last["log_end"]) == (True, 300, 300, 5850)
    assert (last["time_lag_max_ms"], last["produce_rate"], last["eta_s"]) == (30_000, 10.0, math.inf)


def test_a_small_truncation_is_another_log_at_the_second_sample_below() -> None:
    ends = (400, 500, 450, 460)
    samples = [Sample(600 + 10 * n, 0, end, end, "old") for n, end in enumerate(ends)]
    (row,) = both(samples, [Commit(1, 400, "old")], until=660)
    assert (row["log_end"], row["lag_max"], row["lag_last"], row["produce_rate"]) == (460, 100, 60, 100 / 20)


def test_rewinds_are_counted_and_are_no_consumption() -> None:
    commits = [Commit(590, 90), Commit(605, 40), Commit(615, 60), Commit(625, 50)]
    (row,) = both(steady(range(100, 104), 10), commits, until=660)
    assert (row["rewinds"], row["rewind_records"], row["consume_rate"]) == (2, 60, 20 / 30)
    assert row["commit_gap_max_ms"] == 15_000


def test_from_a_place_in_the_old_topic_to_one_in_the_new_topic_nothing_is_consumed() -> None:
    """The deletion of 620 is the first that found the group in this log, so only the fourth one gives a pace."""
    samples = [Sample(600 + 10 * n, 20 * n, 1000, 1000, "new") for n in range(5)]
    commits = [Commit(1, 4, "old"), *(Commit(610 + 10 * n, 130 + 10 * n, "new") for n in range(4))]
    early, late = (both(samples[:n], commits, until=660)[0] for n in (4, 5))
    assert (early["consume_rate"], early["time_to_loss_s"]) == (20 / 20, None)
    assert (late["consume_rate"], late["time_to_loss_s"]) == (30 / 30, (160 - 80) / (2 - 1))


def test_a_commit_to_a_recreated_topic_is_no_step_from_one_to_the_old_topic() -> None:
    """No sample came between the two. A commit that names no topic may be of either, and counts."""
    samples = [Sample(600, 0, 500, 500, "old"), Sample(610, 0, 5, 5, "new")]
    (row,) = both(samples, [Commit(601, 500, "old"), Commit(605, 4, "new")], until=660)
    assert (row["commits"], row["rewinds"], row["rewind_records"], row["commit_gap_max_ms"]) == (2, 0, 0, 5_000)
    assert (row["lag_last"], row["status"]) == (1, "ok")
    (unnamed,) = both(samples, [Commit(601, 500, "old"), Commit(605, 4, None)], until=660)
    assert (unnamed["rewinds"], unnamed["rewind_records"], unnamed["commit_gap_max_ms"]) == (1, 496, 5_000)


def test_a_commit_after_a_tombstone_is_the_first_of_its_series() -> None:
    """So it does not matter whether the rows before it are still known."""
    samples, again = [Sample(620, 0, 500, 500)], [Commit(605, 10), Commit(608, 8)]
    (row,) = both(samples, [Commit(590, 400), Commit(602, None), *again], until=660)
    assert (row["commits"], row["rewinds"], row["rewind_records"], row["commit_gap_max_ms"]) == (2, 1, 2, 12_000)
    assert both(samples, again, until=660) == [row]


def test_the_gap_of_a_group_that_stops_to_commit_counts_up_to_the_last_sample() -> None:
    """It committed every 10 s until 605; of a commit to another topic of that name, nothing goes on."""
    commits = [Commit(585, 80), Commit(595, 90), Commit(605, 100)]
    found = both(steady(range(100, 118)), commits, until=780)
    assert [row["commit_gap_max_ms"] for row in found] == [45_000, 105_000, 165_000]
    assert [row["commit_gap_open_ms"] for row in found] == [45_000, 105_000, 165_000]
    (row,) = both([Sample(620, 0, 5, 5, "new")], [Commit(590, 4, "old")], until=660)
    assert row["commit_gap_max_ms"] is None
    (row,) = both([Sample(620, 0, 5, 5)], [Commit(590, 4), Commit(600, None)], until=660)
    assert row["commit_gap_max_ms"] is None


def test_a_gap_that_a_commit_ended_is_not_open() -> None:
    found = both(steady(range(100, 112)), [Commit(595, 90), Commit(680, 100)], until=720)
    assert [(row["commit_gap_max_ms"], row["commit_gap_open_ms"]) for row in found] == [
        (55_000, 55_000),
        (85_000, 30_000),
    ]


def test_what_was_there_before_us_is_no_news() -> None:
    commits = [Commit(601, 40, bootstrap=True), Commit(602, 30, bootstrap=True), Commit(650, 60)]
    (row,) = both([Sample(655, 0, 70, 70)], commits, until=660)
    assert (row["commits"], row["rewinds"], row["lag_last"], row["commit_gap_max_ms"]) == (1, 0, 10, 48_000)


def test_minutes_without_a_sample_have_commits_but_no_lag() -> None:
    found = both([Sample(600, 0, 9, 9)], [Commit(1, 5), Commit(730, 8)], until=840)
    assert [(row["minute"], row["samples"], row["commits"], row["lag_last"]) for row in found] == [
        (600, 1, 0, 4),
        (720, 0, 1, None),
    ]


def test_samples_far_apart_give_no_rate() -> None:
    found = both([Sample(600, 0, 9, 9), Sample(901, 0, 900, 900)], [Commit(1, 5)], until=960)
    assert found[-1]["produce_rate"] is None


def test_a_consumer_that_gains_gets_an_end_and_one_that_does_not_gets_none() -> None:
    """Once five minutes of the log are known."""
    commits = [Commit(600 + 10 * number, 20 * number) for number in range(36)]
    gains = both(steady(range(1000, 1360, 10)), commits, until=960)
    assert [row["eta_s"] for row in gains] == [None] * 5 + [(1350 - 700) / (2 - 1)]
    assert both(steady(range(1000, 4600, 100)), commits, until=960)[-1]["eta_s"] == math.inf


def test_a_group_that_commits_every_two_minutes_has_a_drain_time_in_every_minute() -> None:
    """15 records a second, 10 are written. Of the last 900 s, 7 commits or 8 are seen: 14 or 16 a second."""
    samples = [Sample(10 * n, 0, 100_000 + 100 * n, 100_000 + 100 * n) for n in range(240)]
    commits = [Commit(120 * n, 1800 * n) for n in range(20)]
    found = both(samples, commits, 1200, 2400)
    assert [row["consume_rate"] for row in found] == [30, 0] * 10
    assert [row["eta_s"] for row in found[::2]] == [row["lag_last"] / (16 - 10) for row in found[::2]]
    assert [row["eta_s"] for row in found[1::2]] == [row["lag_last"] / (14 - 10) for row in found[1::2]]


def test_the_drain_time_of_a_recreated_topic_is_not_that_of_the_old_one() -> None:
    """Nothing is written to it, and from 700 s on five records a second are read; five minutes must be known."""
    old, new = steady(range(100, 1000, 100), topic="old"), [Sample(690, 0, 9000, 9000, "new")]
    new += [Sample(700 + 10 * n, 0, 9000, 9000, "new") for n in range(38)]
    commits = [Commit(1, 50, "old"), *(Commit(700 + 10 * n, 100 + 50 * n, "new") for n in range(38))]
    found = both([*old, *new], commits, until=1080)
    assert [row["eta_s"] for row in found] == [None] * 6 + [(9000 - 1650) / 5, (9000 - 1950) / 5]


@pytest.mark.parametrize("seed", range(10))
def test_a_minute_is_the_same_wherever_a_run_begins(seed: int) -> None:
    """A run has the samples of the look-back, and the last commit before it."""
    dice = random.Random(seed)
    samples, commits = [], []
    for began in range(0, 9600, 1600):
        samples += [replace(one, at=one.at + began) for one in random_samples(dice)]
        commits += [replace(one, at=one.at + began) for one in random_commits(dice)]
    since = 8400
    begin = since - LOOKBACK_US // 1_000_000
    old = [one for one in commits if one.at < begin][-1:]
    recent = [one for one in samples if one.at >= begin], [*old, *(one for one in commits if one.at >= begin)]
    assert ours(*recent, since, 9600) == ours(samples, commits, since, 9600)


def test_ten_minutes_without_a_commit_while_records_wait_is_stopped() -> None:
    found = both(steady(range(100, 221), 10), [Commit(1, 50)], until=1800)
    assert [row["status"] for row in found[:10]] == ["ok"] * 10
    assert {row["status"] for row in found[10:]} == {"stopped"}


def test_a_group_that_commits_every_half_hour_is_stopped_only_before_its_habit_is_known() -> None:
    """The first wait may have begun before the series, so the second one is the first that is known."""
    samples = [Sample(600 + 10 * n, 0, 1_000 + 10 * n, 1_000 + 10 * n) for n in range(1_200)]
    commits = [Commit(590 + 1_800 * n, 990 + 1_800 * n) for n in range(7)]
    found = both(samples, commits, until=12_600)
    stopped = [row["minute"] for row in found if row["status"] == "stopped"]
    assert stopped == [*range(1_200, 2_281, 60), *range(2_940, 4_081, 60)]


def test_it_is_stopped_when_it_takes_a_quarter_longer_than_usual() -> None:
    samples = [Sample(600 + 10 * n, 0, 1_000 + 10 * n, 1_000 + 10 * n) for n in range(1_200)]
    commits = [Commit(590 + 1_800 * n, 990 + 1_800 * n) for n in range(4)]
    found = both(samples, commits, until=12_600)
    first = next(row["minute"] for row in found if row["status"] == "stopped" and row["minute"] > 5_990)
    assert 5_990 + 1.25 * 1_800 - 60 <= first <= 5_990 + 1.25 * 1_800 + 60


def test_a_held_transaction_shows_in_the_lag_of_read_committed() -> None:
    (row,) = both([Sample(600, 0, 100, 60)], [Commit(1, 55)], until=660)
    assert (row["lag_last"], row["lag_rc_last"]) == (45, 5)


def test_deletion_that_comes_nearer_is_reported_before_it_arrives() -> None:
    """Twice as fast as the group reads, from the third deletion on: 100 records ahead at (20 - 10)/10 a second."""
    samples = [Sample(600 + 10 * n, 20 * n, 1000, 1000) for n in range(4)]
    commits = [Commit(600 + 10 * n, 130 + 10 * n) for n in range(4)]
    (row,) = both(samples, commits, until=660)
    assert row["time_to_loss_s"] == (160 - 60) / (20 / 10 - 10 / 10)
    assert both(samples[:3], commits[:3], until=660)[0]["time_to_loss_s"] is None


def test_deletion_that_does_not_gain_on_the_group_never_reaches_it() -> None:
    samples = [Sample(600 + 10 * n, 20 * n, 1000, 1000) for n in range(5)]
    (row,) = both(samples, [Commit(600 + 10 * n, 130 + 30 * n) for n in range(5)], until=660)
    assert row["time_to_loss_s"] == math.inf


@pytest.mark.parametrize("seed", range(40))
def test_random_series_are_as_the_reference_has_them(seed: int) -> None:
    dice = random.Random(seed)
    both(random_samples(dice), random_commits(dice))


@pytest.mark.parametrize("seed", range(8))
def test_series_that_are_computed_together_do_not_touch_each_other(seed: int) -> None:
    """Some have no sample, or no commit, or only what is older than all that the others look back to."""
    dice = random.Random(seed)
    series = [(random_samples(dice), random_commits(dice)) for _ in range(12)]
    for at, (samples, commits) in {1: ([], series[1][1]), 4: (series[4][0], []), 7: ([], [])}.items():
        series[at] = (samples, commits)
    series[9] = (series[9][0], [Commit(-40_000_000.5, 30, None, True)])
    found = minutes(*columns(*series), SINCE * 1_000_000, UNTIL * 1_000_000)
    together = list(zip(found.series.tolist(), rows(found), strict=True))
    for number, (samples, commits) in enumerate(series):
        assert [row for at, row in together if at == number] == ours(samples, commits)


def test_a_series_starts_over_though_it_goes_on_as_the_one_before_has_ended() -> None:
    """The same commit waits on; a first commit is lower; an id that is not known yet is not that of the last log."""
    waiting = steady(range(100, 190))
    unknown_at_first = [Sample(600, 0, 100, 100, None), *steady(range(101, 190), at=610, topic="new")]
    series = [
        (steady(range(100, 190), topic="old"), [Commit(590, 50, None)]),
        (unknown_at_first, [Commit(590, 60, None)]),
        (waiting, [Commit(590, 50, None)]),
        (waiting, [Commit(590, 50, None)]),
        (waiting, [Commit(650, 40, None), Commit(660, 45, None)]),
    ]
    found = minutes(*columns(*series), SINCE * 1_000_000, UNTIL * 1_000_000)
    together = list(zip(found.series.tolist(), rows(found), strict=True))
    for number, (samples, commits) in enumerate(series):
        assert [row for at, row in together if at == number] == ours(samples, commits)


def random_samples(dice: random.Random) -> list[Sample]:
    """Gaps, failed reads, recreation, truncation, a log start that moves, an open transaction."""
    at, start, end, topic = dice.uniform(0, 60), 0, dice.randrange(200), dice.choice([None, "old"])
    made: list[Sample] = []
    while at < UNTIL + 60:
        failed, recreated = dice.random() < 0.08, dice.random() < 0.01
        if recreated:
            start, end, topic = 0, dice.randrange(20), "new" if topic else None
        end += dice.choice([0, 0, 3, 40])
        start = min(end, start + dice.choice([0, 0, 0, 0, 25]))
        stable = end - dice.choice([0, 0, 5])
        offsets = (None, None, None) if failed else (start, end, stable)
        made.append(Sample(round(at, 6), offsets[0], offsets[1], offsets[2], topic))
        at += dice.choice([10, 10, 10, 12.5, 61, 310]) if dice.random() < 0.2 else 10
    return made


def random_commits(dice: random.Random) -> list[Commit]:
    """Forward, back, tombstones, bootstrap rows, ids of either topic."""
    at, offset, made = 0.0, 0, []
    while at < UNTIL:
        at += dice.choice([1, 5, 7.25, 30, 400])
        offset = max(0, offset + dice.choice([0, 5, 20, 60, -30]))
        reported = None if dice.random() < 0.03 else offset
        made.append(Commit(round(at, 6), reported, dice.choice([None, "old", "new"]), at < 200))
    return made
