"""Every rule on a window made by hand, beside the nearest window on which it must not fire.

Polls come every 10 s unless said otherwise. A history is {partition: [value per poll]}; one number stands for
all polls.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from lag.model import GroupType
from lag.offsets import PartitionProblem
from lag.verdict.health import Finding, GroupHealth, PartitionHealth
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.rules.status_rules import Rules
from lag.verdict.status import Status
from tests.lag.make import End, cluster, deleted, end, failed, group, judged

PARTITIONS = ("orders-0", "orders-1", "orders-2")


def watch(
    committed: Mapping[str, Any],
    ends: Mapping[str, Any],
    polls: int = 12,
    every_s: int = 10,
    rules: Rules | None = None,
    **spec: Any,
) -> tuple[GroupHealth, dict[str, PartitionHealth]]:
    """The group "g" after so many polls: its health, and the health of its partitions by name."""

    def at(values: Any, poll: int) -> Any:
        return values[poll] if isinstance(values, list) else values

    def ended(value: int | End) -> End:
        return value if isinstance(value, End) else end(value)

    snapshots = [
        cluster(
            {"g": group({key: at(values, poll) for key, values in committed.items()}, **spec)},
            {key: ended(at(values, poll)) for key, values in ends.items()},
            number=poll + 1,
            at_ms=1_000_000 + poll * every_s * 1000,
        )
        for poll in range(polls)
    ]
    health = judged(snapshots, rules)
    its = health.snapshot.groups[0]
    rows = zip(its.partitions, health.partitions(its), strict=True)
    return health.groups[0], {str(row.tp): found for row, found in rows}


def since(finding: Finding) -> int | None:
    """The time of its onset."""
    return None if finding.onset is None else finding.onset.at_ms


def steps(start: int, step: int, polls: int = 12) -> list[int]:
    return [start + step * poll for poll in range(polls)]


def status(committed: Any, ends: Any, **rest: Any) -> Status:
    """Of the one partition orders-0."""
    return watch({"orders-0": committed}, {"orders-0": ends}, **rest)[1]["orders-0"].finding.status


# what one poll shows


def test_a_commit_below_the_log_start_lost_records() -> None:
    whole, rows = watch({"orders-0": 100, "orders-1": 5}, {"orders-0": end(900, start=600), "orders-1": 5}, polls=1)
    assert rows["orders-0"].finding.status is Status.LOST
    assert whole.finding.evidence == (
        "committed offset 100 is below the log start 600 of orders-0: 500 records deleted before being read"
    )
    assert (whole.lag.records, whole.lag.lost_records, whole.worst) == (300, 500, 0)


def test_the_evidence_of_lost_records_adds_up_to_the_sum_of_the_group() -> None:
    below = {"orders-0": end(900, start=300), "orders-1": end(900, start=150), "orders-2": end(900)}
    whole, _ = watch({"orders-0": 100, "orders-1": 100, "orders-2": 900}, below, polls=1)
    assert whole.lag.lost_records == 250
    assert whole.finding.evidence == (
        "committed offset 100 is below the log start 300 of orders-0: 200 records deleted before being read; "
        "the worst of 2 partitions, which lost 250 records in total"
    )


def test_a_commit_at_the_log_start_lost_nothing() -> None:
    assert status(600, end(600, start=600), polls=1) is Status.OK


def test_a_commit_beyond_the_log_end() -> None:
    whole, rows = watch({"orders-0": 120}, {"orders-0": 100}, polls=1)
    assert whole.finding.status is Status.BEYOND_END
    assert np.isnan([whole.lag_trend, rows["orders-0"].lag_trend]).all()
    assert whole.finding.evidence == (
        "committed offset 120 is 20 records beyond the log end 100 of orders-0: "
        "the topic was recreated or truncated afterwards"
    )
    assert whole.lag.records is None
    assert whole.time_lag.seconds is None


def test_a_commit_at_the_log_end_is_ok() -> None:
    assert status(100, 100, polls=1) is Status.OK


def test_a_commit_on_a_deleted_topic() -> None:
    whole, _ = watch({"gone-0": 7}, {"gone-0": deleted()}, polls=1, members=0, state="Empty")
    assert whole.finding.status is Status.TOPIC_DELETED
    assert whole.finding.evidence == "topic gone no longer exists; the committed offset 7 on gone-0 remains"


def test_a_topic_that_is_deleted_has_neither_rate_nor_times_from_that_poll_on() -> None:
    ends = [*map(end, steps(100, 100, 6)), *[deleted()] * 6]
    whole, rows = watch({"gone-0": steps(50, 90, 12)}, {"gone-0": ends})
    assert (whole.produce_rate, whole.drain_s) == (None, None)
    gone = rows["gone-0"]
    assert (gone.produce_rate, gone.drain_s, gone.time_lag.seconds, gone.time_lag.at_least_s) == (None,) * 4


def test_leftovers_of_a_deleted_topic_do_not_drown_a_live_problem() -> None:
    whole, rows = watch(
        {"gone-0": 7, "gone-1": 7, "orders-0": steps(0, 5)},
        {"gone-0": deleted(), "gone-1": deleted(), "orders-0": steps(100, 10)},
    )
    assert rows["gone-0"].finding.status is Status.TOPIC_DELETED
    assert whole.finding.status is Status.FALLING_BEHIND
    assert whole.unhealthy == {Status.FALLING_BEHIND: 1, Status.TOPIC_DELETED: 2}


@pytest.mark.parametrize(
    ("problem", "evidence"),
    [
        (PartitionProblem.LEADERLESS, "orders-0 has no leader, so its log end is unknown"),
        (PartitionProblem.UNAUTHORIZED, "not authorised to read the offsets of orders-0"),
        (PartitionProblem.TIMEOUT, "the broker did not answer for orders-0 in time"),
        (PartitionProblem.ERROR, "the broker answered with an error for orders-0"),
    ],
)
def test_an_end_that_could_not_be_read_is_unknown(problem: Any, evidence: str) -> None:
    whole, _ = watch({"orders-0": 7}, {"orders-0": failed(problem)}, polls=1)
    assert whole.finding.status is Status.UNKNOWN
    assert whole.finding.evidence == evidence
    assert whole.lag.records is None


def test_a_partition_without_a_commit_among_others() -> None:
    whole, rows = watch({"orders-0": 9, "orders-1": None}, {"orders-0": 9, "orders-1": end(48_200, start=200)}, polls=1)
    assert rows["orders-1"].finding.status is Status.NEVER_COMMITTED
    assert rows["orders-0"].finding.status is Status.OK
    assert whole.finding.evidence == "no committed offset on orders-1, which has offsets 200 to 48,200 (48,000 records)"
    assert whole.worst == 1


def test_an_empty_partition_needs_no_commit() -> None:
    assert status(None, end(200, start=200), polls=1) is Status.OK


def test_a_group_that_polls_and_never_commits() -> None:
    whole, _ = watch({"orders-0": None, "orders-1": None}, {"orders-0": 30, "orders-1": 70}, members=2)
    assert whole.finding.status is Status.NEVER_COMMITTED
    assert whole.worst is None
    assert whole.finding.evidence == (
        "2 members, and no committed offset on any of 2 partitions; "
        "no committed offset on orders-1, which has offsets 0 to 70 (70 records)"
    )


@pytest.mark.parametrize("state", ["Empty", "Dead"])
def test_records_wait_and_the_group_has_no_member(state: str) -> None:
    whole, _ = watch({"orders-0": 5, "orders-1": 9}, {"orders-0": 30, "orders-1": 9}, polls=1, members=0, state=state)
    assert whole.finding.status is Status.NO_MEMBERS
    assert whole.worst is None
    assert whole.finding.evidence == (
        f"the group is {state} and 25 records behind (known for 2 of 2 partitions); "
        "largest: 25 records wait on orders-0, and the group has no members"
    )


def test_an_empty_group_without_lag_is_ok() -> None:
    assert status(30, 30, members=0, state="Empty") is Status.OK


def test_an_empty_group_stays_without_members_however_long_it_rests() -> None:
    assert status(5, 30, polls=40, members=0, state="Empty") is Status.NO_MEMBERS


def test_a_consumer_that_assigns_partitions_itself_is_alive_while_its_commits_move() -> None:
    assert status(steps(0, 10), steps(20, 10), members=0, state="Empty") is Status.OK


def test_a_group_whose_last_member_has_just_gone_is_stopped_not_merely_empty() -> None:
    whole, _ = watch({"orders-0": steps(0, 10, 6) + [50] * 6}, {"orders-0": steps(20, 10)}, members=0, state="Empty")
    assert whole.finding.status is Status.STOPPED
    assert whole.finding.evidence.startswith(
        "the group has no members any more; no committed offset of the group moved"
    )


# rest: stalled, stopped, held, markers


def test_a_partition_that_rests_while_others_move_is_stalled() -> None:
    whole, rows = watch(
        {"orders-0": 500, "orders-1": steps(0, 10)}, {"orders-0": steps(600, 100), "orders-1": steps(0, 10)}
    )
    assert rows["orders-0"].finding.status is Status.STALLED
    assert rows["orders-0"].last_moved_ms is None
    assert rows["orders-1"].last_moved_ms == 1_110_000
    assert whole.finding.status is Status.STALLED
    assert whole.worst == 0
    assert since(whole.finding) == 1_000_000
    assert whole.finding.evidence == (
        "committed offset unchanged at 500 in 12 of 12 polls (1 min 50 s) while 1,100 records arrived on orders-0; "
        "other committed offsets of the group moved"
    )


def test_a_partition_that_rested_before_is_not_stalled_once_it_moves() -> None:
    committed = [500] * 11 + [501]
    _, rows = watch({"orders-0": committed, "orders-1": steps(0, 10)}, {"orders-0": 900, "orders-1": steps(0, 10)})
    assert rows["orders-0"].finding.status is Status.OK


def test_a_group_of_which_no_commit_moves_is_stopped() -> None:
    whole, rows = watch({"orders-0": 500, "orders-1": 70}, {"orders-0": steps(600, 100), "orders-1": 80})
    assert {found.finding.status for found in rows.values()} == {Status.STOPPED}
    assert whole.worst is None
    assert since(whole.finding) == 1_000_000
    assert whole.finding.evidence == (
        "no committed offset of the group moved, and it is 1,210 records behind (known for 2 of 2 partitions); "
        "committed offset unchanged at 500 in 12 of 12 polls (1 min 50 s) while 1,100 records arrived on orders-0"
    )


def test_the_run_of_a_stop_begins_where_the_commits_ended() -> None:
    moves = [*steps(0, 10, 6), *[50] * 6]
    whole, rows = watch({"orders-0": moves}, {"orders-0": steps(20, 10)})
    assert whole.finding.status is Status.STOPPED
    assert since(whole.finding) == rows["orders-0"].last_moved_ms == 1_050_000
    assert "unchanged at 50 in the last 7 of 12 polls (1 min) while 60 records arrived" in whole.finding.evidence


def test_partitions_that_stop_a_poll_apart_are_stopped_and_not_stalled() -> None:
    first, second = [*steps(0, 10, 5), *[40] * 7], [*steps(0, 10, 6), *[50] * 6]
    _, rows = watch({"orders-0": first, "orders-1": second}, {"orders-0": 900, "orders-1": 900})
    assert {found.finding.status for found in rows.values()} == {Status.STOPPED}


@pytest.mark.parametrize(("polls", "every_s"), [(2, 200), (9, 10)], ids=["too few polls", "too short"])
def test_a_rest_that_is_too_short_says_nothing(polls: int, every_s: int) -> None:
    assert status(500, 900, polls=polls, every_s=every_s) is Status.OK


@pytest.mark.parametrize(("polls", "every_s"), [(3, 75), (10, 10)], ids=["fewest polls", "shortest time"])
def test_the_shortest_rest_that_counts(polls: int, every_s: int) -> None:
    """As long as no commit tells how often the group commits, it is taken to do so every minute."""
    assert status(500, 900, polls=polls, every_s=every_s) is Status.STOPPED


def test_the_thresholds_are_settings() -> None:
    at_once = Rules(min_samples=2, min_s=1, assumed_interval_s=0)
    assert status(500, 900, polls=2, every_s=1, rules=at_once) is Status.STOPPED
    assert status(500, 900, polls=6, rules=Rules(assumed_interval_s=10)) is Status.STOPPED
    assert status(500, 900, rules=Rules(lag_floor=400)) is Status.OK
    assert status(500, 900, rules=Rules(lag_floor=399)) is Status.STOPPED


def test_a_record_that_came_just_now_after_an_idle_hour_is_no_stall() -> None:
    assert status(500, [500] * 10 + [590] * 2) is Status.OK
    assert status(500, [500] * 6 + [590] * 10, polls=16) is Status.STOPPED


def test_a_group_that_commits_in_long_steps_gets_a_quarter_more_than_its_longest_step_and_a_poll() -> None:
    slow = [0] * 6 + [600] * 6 + [1200] * 6
    assert status(slow, steps(9000, 100, 18), polls=18) is Status.OK
    slower = [0] * 6 + [600] * 6 + [1200] * 10
    assert status(slower, 9000, polls=22) is Status.STOPPED
    assert status(slower, 9000, polls=21) is Status.WATCHING
    assert status(slower, 9000, polls=20) is Status.CATCHING_UP


def test_an_idle_time_without_lag_is_no_step() -> None:
    ends = [0] * 30 + [50] * 2 + [99] * 20
    committed = [0] * 31 + [50] * 21
    assert status(committed, ends, polls=42) is Status.STOPPED
    assert status(committed, ends, polls=41) is Status.WATCHING
    assert status(committed, ends, polls=40) is Status.OK


def test_polls_that_knew_nothing_neither_break_a_rest_nor_count() -> None:
    ends = [900, failed(), 900, failed(), failed(), 900]
    whole, _ = watch({"orders-0": 500}, {"orders-0": ends}, polls=6, every_s=20)
    assert whole.finding.status is Status.STOPPED
    assert "in 3 of 3 polls (1 min 40 s)" in whole.finding.evidence
    assert status(500, [900, failed(), failed(), failed(), failed(), 900], polls=6) is Status.OK


def test_the_evidence_of_a_calm_group_leaves_its_lag_to_the_headline() -> None:
    committed = [n * 90 for n in range(12)]
    ends: dict[str, Any] = {"orders-0": [offset + 210 for offset in committed], "orders-1": 5}
    two, _ = watch({"orders-0": committed, "orders-1": 5}, ends)
    assert two.finding.evidence == "largest: 210 records behind on orders-0; no rule fired in 12 polls"
    none, _ = watch({"orders-0": 5}, {"orders-0": 5})
    assert none.finding.evidence == "no rule fired in 12 polls"


def test_one_record_that_may_be_a_transaction_marker_is_no_stall() -> None:
    whole, rows = watch({"orders-0": 99}, {"orders-0": 100})
    assert whole.finding.status is Status.OK
    assert rows["orders-0"].finding.evidence == (
        "1 record behind on orders-0; committed offset unchanged at 99 in 12 of 12 polls (1 min 50 s) "
        "while 1 record waited on orders-0 and none arrived: possibly only a transaction marker"
    )
    assert whole.finding.evidence == rows["orders-0"].finding.evidence.removeprefix("1 record behind on orders-0; ")
    assert whole.lag.records == 1
    assert whole.drain_s is None
    assert whole.time_lag.reason == "the remaining offsets may be transaction markers only"


def test_a_group_without_commit_and_record_has_no_lag_and_not_a_lag_of_0() -> None:
    whole, _ = watch({"orders-0": None}, {"orders-0": 0})
    assert whole.lag.records is None
    assert whole.finding.status is Status.OK
    assert whole.finding.evidence == "no committed offset on orders-0, and no records"
    assert whole.time_lag.reason == "no committed offset on orders-0, and no records"


def test_a_second_record_ends_the_doubt() -> None:
    assert status(98, 100) is Status.STOPPED
    assert status(99, 100, rules=Rules(marker_records=0)) is Status.STOPPED


def test_a_marker_in_an_empty_group_is_no_lack_of_members() -> None:
    assert status(99, 100, members=0, state="Empty") is Status.OK
    assert status(98, 100, members=0, state="Empty") is Status.NO_MEMBERS


def test_an_open_transaction_holds_the_group() -> None:
    whole, _ = watch({"orders-0": 50}, {"orders-0": [end(e, stable=50) for e in steps(60, 10)]})
    assert whole.finding.status is Status.HELD
    assert since(whole.finding) == 1_000_000
    assert whole.finding.evidence == (
        "last stable offset 50 of orders-0 is 120 records below the log end 170: an open transaction holds back "
        "read_committed consumers; committed offset 50 unchanged in 12 of 12 polls (1 min 50 s)"
    )


def test_a_group_that_has_not_read_up_to_the_open_transaction_is_stopped() -> None:
    assert status(49, end(100, stable=50)) is Status.STOPPED


def test_a_transaction_that_is_open_at_every_poll_does_not_hold_a_moving_group() -> None:
    ends = [end(e + 10, stable=e) for e in steps(50, 10)]
    assert status(steps(50, 10), ends) is Status.OK


# movement: rewound, falling behind, catching up


def test_a_commit_that_went_back_is_rewound_until_it_regains_its_place() -> None:
    whole, rows = watch({"orders-0": [*steps(0, 100, 10), 300, 400]}, {"orders-0": 1200})
    assert rows["orders-0"].finding.status is Status.REWOUND
    assert whole.finding.evidence == (
        "committed offset of orders-0 went back from 900 within the last 1 min 50 s and is at 400: "
        "500 records to be committed again"
    )
    assert status([*steps(0, 100, 10), 300, 900], steps(1200, 100)) is Status.OK


def test_two_polls_are_too_few_for_rewound() -> None:
    assert status([900, 300], 1200, polls=2) is Status.OK
    assert status([900, 300, 400], 1200, polls=3) is Status.REWOUND


def test_a_steadily_growing_lag_is_falling_behind() -> None:
    whole, rows = watch({"orders-0": steps(0, 80)}, {"orders-0": steps(1000, 100)})
    assert whole.finding.status is Status.FALLING_BEHIND
    assert whole.finding.evidence == (
        "lag on orders-0 grew from 1,020 to 1,180 records in 1 min 50 s (medians of the first and last third of "
        "12 polls), 1,220 now: 10.0 records/s arrive, 8.0 are committed"
    )
    assert (whole.consume_rate, whole.produce_rate) == (8.0, 10.0)
    assert whole.drain_s == rows["orders-0"].drain_s == float("inf")


def test_a_growth_within_the_noise_is_not() -> None:
    assert status(steps(0, 100), steps(1000, 101)) is Status.OK
    assert status(steps(0, 99), steps(60, 100)) is Status.OK


def test_five_polls_are_too_few_for_a_trend() -> None:
    assert status(steps(0, 80), steps(1000, 100), polls=5) is Status.OK
    assert status(steps(0, 50), steps(1000, 100), polls=6) is Status.FALLING_BEHIND


def test_a_burst_is_not_falling_behind() -> None:
    assert status(steps(0, 10), [*steps(20, 10, 10), 5000, 5010]) is Status.OK


def burst(burst_at: int, polls: int, behind: int = 50) -> list[int]:
    """A log that gets 10 records a poll, and 5,000 more at one poll."""
    return [behind + 10 * poll + (5000 if poll >= burst_at else 0) for poll in range(polls)]


def test_a_burst_is_worked_off_at_the_pace_since_it_came() -> None:
    whole, rows = watch({"orders-0": steps(0, 60, 25)}, {"orders-0": burst(10, 25)}, polls=25)
    assert (whole.consume_rate, whole.produce_rate) == (6.0, 1.0)
    assert rows["orders-0"].drain_s == whole.drain_s == (50 + 5000 - 24 * 50) / 5.0


def test_a_burst_that_is_worked_off_is_never_falling_behind() -> None:
    committed = {f"orders-{poll}": steps(0, 50, 60) for poll in range(1, 60)}
    ends = {f"orders-{poll}": burst(poll, 60) for poll in range(1, 60)}
    _, rows = watch(committed, ends, polls=60, every_s=5)
    assert {found.finding.status for found in rows.values()} == {Status.OK, Status.WATCHING, Status.CATCHING_UP}


def test_until_the_pace_after_a_burst_is_known_the_drain_time_is_not() -> None:
    at_once, _ = watch({"orders-0": steps(0, 60, 51)}, {"orders-0": burst(50, 51, 3000)}, polls=51, every_s=5)
    assert at_once.drain_s == float("inf")
    soon, _ = watch({"orders-0": steps(0, 60, 59)}, {"orders-0": burst(50, 59, 3000)}, polls=59, every_s=5)
    assert (soon.drain_s, soon.produce_rate) == (None, (5000 + 36 * 10) / 180)
    then, _ = watch({"orders-0": steps(0, 60, 60)}, {"orders-0": burst(50, 60, 3000)}, polls=60, every_s=5)
    assert (then.drain_s, then.produce_rate) == ((3000 + 5000 - 59 * 50) / 10, 2.0)


def test_a_first_poll_that_saw_a_topic_half_filled_makes_no_drain_time_never() -> None:
    committed, full = steps(0, 50, 20), [5900 + 4 * poll for poll in range(19)]
    whole, rows = watch(
        {"r-0": committed, "r-1": committed}, {"r-0": [5896, *full], "r-1": [1500, *full]}, polls=20, every_s=5
    )
    assert whole.finding.status is Status.CATCHING_UP
    assert whole.drain_s == rows["r-1"].drain_s == pytest.approx(rows["r-0"].drain_s, rel=0.01)
    assert {found.finding.status for found in rows.values()} == {Status.CATCHING_UP}


def test_teeth_of_a_level_lag_never_drain_whichever_way_the_last_one_goes() -> None:
    for polls in range(31, 43):
        committed = [120 * (poll // 12) for poll in range(polls)]
        whole, _ = watch({"orders-0": committed}, {"orders-0": steps(1000, 10, polls)}, polls=polls, every_s=5)
        assert whole.drain_s == float("inf")


def test_a_lag_that_shrinks_is_catching_up() -> None:
    whole, _ = watch({"orders-0": steps(0, 200)}, {"orders-0": steps(5000, 100)})
    assert whole.finding.status is Status.CATCHING_UP
    assert whole.finding.evidence == (
        "lag on orders-0 shrank from 4,800 to 4,000 records in 1 min 50 s (medians of the first and last third of "
        "12 polls), 3,900 now: 10.0 records/s arrive, 20.0 are committed"
    )
    assert whole.drain_s == 390.0


def test_a_lag_that_is_nearly_gone_is_no_longer_catching_up() -> None:
    assert status(steps(0, 200), [*steps(5000, 100, 11), 2240]) is Status.OK


def test_a_group_that_turns_the_corner_is_no_longer_falling_behind() -> None:
    committed = [*steps(0, 50, 10), 650, 900]
    whole, _ = watch({"orders-0": committed}, {"orders-0": steps(1000, 100)}, rules=Rules(rates_s=30))
    assert whole.finding.status is Status.CATCHING_UP


def test_a_new_partition_is_judged_from_its_own_first_poll() -> None:
    committed = [None] * 6 + steps(0, 50, 6)
    assert status(committed, steps(1000, 100)) is Status.FALLING_BEHIND


# groups


def test_a_group_takes_its_most_urgent_partition_and_of_equals_the_one_with_most_lag() -> None:
    whole, _ = watch(
        {"orders-0": 10, "orders-1": 20, "orders-2": steps(0, 1)},
        {"orders-0": 30, "orders-1": 90, "orders-2": steps(0, 1)},
    )
    assert whole.finding.status is Status.STALLED
    assert whole.worst == 1
    assert whole.unhealthy == {Status.STALLED: 2}
    assert whole.finding.evidence.endswith("on orders-1 and none arrived; other committed offsets of the group moved"
                                           "; the worst of 2 partitions")  # fmt: skip


def test_rates_and_times_of_a_group_are_sums_and_those_of_its_worst_partition() -> None:
    whole, rows = watch(
        {"orders-0": steps(0, 200), "orders-1": steps(0, 100), "gone-0": 4},
        {"orders-0": steps(2100, 100), "orders-1": steps(30, 100), "gone-0": deleted()},
    )
    assert (whole.consume_rate, whole.produce_rate) == (30.0, 20.0)
    assert rows["orders-0"].drain_s == whole.drain_s == 100.0
    assert rows["orders-1"].drain_s == 3.0  # it keeps up: 30 records at 10 a second
    assert rows["orders-1"].time_lag.seconds == 3.0
    assert rows["orders-0"].time_lag.seconds == whole.time_lag.seconds == 100.0
    assert (whole.lag.records, whole.lag.known, whole.lag.partitions) == (1030, 2, 3)
    assert whole.lag_trend.tolist() == [2130 - 100 * i for i in range(12)]


def test_a_lag_that_keeps_its_level_never_drains_and_the_few_records_of_a_group_that_keeps_up_do() -> None:
    level, _ = watch({"orders-0": steps(0, 100)}, {"orders-0": steps(5000, 100)})
    assert (level.finding.status, level.drain_s) == (Status.OK, float("inf"))
    slightly, _ = watch({"orders-0": steps(0, 103)}, {"orders-0": steps(1153, 100)})
    assert slightly.drain_s == pytest.approx(1120 / 0.3)
    keeping_up, _ = watch({"orders-0": steps(0, 103)}, {"orders-0": steps(53, 100)})
    assert keeping_up.drain_s == pytest.approx(20 / 10.3)


def test_a_record_older_than_the_window_makes_the_group_s_time_lag_a_lower_bound() -> None:
    whole, rows = watch({"orders-0": 5, "orders-1": steps(0, 100)}, {"orders-0": 900, "orders-1": steps(30, 100)})
    assert rows["orders-0"].time_lag.at_least_s == whole.time_lag.at_least_s == 110.0
    assert whole.time_lag.seconds is None
    assert whole.time_lag.reason == "the record is older than the first poll, 1 min 50 s ago"


def test_the_first_poll_knows_neither_rates_nor_time_lag() -> None:
    whole, rows = watch({"orders-0": 5}, {"orders-0": 900}, polls=1)
    assert (whole.consume_rate, whole.produce_rate, whole.drain_s) == (None, None, None)
    assert (whole.time_lag.seconds, whole.time_lag.at_least_s) == (None, None)
    assert whole.time_lag.reason == "one poll so far, two are needed"
    assert rows["orders-0"].finding.evidence == "895 records behind on orders-0; 1 of 3 polls needed for a verdict"


def test_a_share_group_s_trend_is_that_of_the_broker_s_lag() -> None:
    share = GroupType.SHARE
    whole, rows = watch({"orders-0": 5}, {"orders-0": 9}, polls=2, type=share, broker_lag={"orders-0": 3})
    assert (whole.lag.records, whole.lag_trend.tolist(), rows["orders-0"].lag_trend.tolist()) == (
        3,
        [3.0, 3.0],
        [3.0, 3.0],
    )


def test_the_onset_is_known_beyond_the_window() -> None:
    """The group last committed in poll 20 of 200; the window has the last 60."""
    whole, _ = watch({"orders-0": [min(poll, 20) for poll in range(200)]}, {"orders-0": steps(30, 1, 200)}, polls=200)
    assert whole.finding.status is Status.STOPPED
    assert whole.finding.onset == Onset(1_000_000 + 20 * 10_000, True, OnsetSource.WINDOW)


def test_a_group_stopped_with_its_last_commit_on_any_partition() -> None:
    """orders-0 stopped in poll 20, orders-1 in poll 80; records wait on both all the time."""
    committed = {"orders-0": [min(poll, 20) for poll in range(200)], "orders-1": [min(poll, 80) for poll in range(200)]}
    whole, rows = watch(committed, {"orders-0": steps(300, 1, 200), "orders-1": steps(100, 1, 200)}, polls=200)
    assert whole.finding.status is Status.STOPPED
    assert since(whole.finding) == since(rows["orders-1"].finding) == 1_000_000 + 80 * 10_000
    assert since(rows["orders-0"].finding) == 1_000_000 + 20 * 10_000


def test_an_onset_at_our_first_poll_may_be_earlier() -> None:
    whole, _ = watch({"orders-0": 5}, {"orders-0": steps(30, 1, 200)}, polls=200)
    assert whole.finding.onset == Onset(1_000_000, False, OnsetSource.WINDOW)


def test_an_onset_begins_again_when_all_records_were_read() -> None:
    """Nothing waits up to poll 150, and the committed offset never changes."""
    ends = [30 if poll < 150 else 40 for poll in range(200)]
    whole, _ = watch({"orders-0": 30}, {"orders-0": ends}, polls=200)
    assert whole.finding.onset == Onset(1_000_000 + 150 * 10_000, True, OnsetSource.WINDOW)


def test_a_share_group_is_not_rewound_while_records_are_in_flight() -> None:
    """Its start offset stays below records that members have acknowledged out of order."""
    whole, _ = watch(
        {"orders-0": steps(5, 10)}, {"orders-0": steps(9, 10)}, type=GroupType.SHARE, broker_lag={"orders-0": 1}
    )
    assert whole.finding.status is Status.OK


SHARE_GROUPS: Mapping[Status, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    Status.STOPPED: ({"orders-0": 5}, {"orders-0": steps(9, 10)}),
    Status.STALLED: ({"orders-0": 5, "orders-1": steps(5, 10)}, {"orders-0": 9, "orders-1": steps(9, 10)}),
    Status.LOST: ({"orders-0": 100}, {"orders-0": end(900, start=600)}),
    Status.BEYOND_END: ({"orders-0": 120}, {"orders-0": 100}),
    Status.FALLING_BEHIND: ({"orders-0": steps(5, 10)}, {"orders-0": steps(900, 900)}),
    Status.NEVER_COMMITTED: ({"orders-0": None}, {"orders-0": 9}),
    Status.HELD: ({"orders-0": 50}, {"orders-0": end(60, stable=50)}),
    Status.CATCHING_UP: ({"orders-0": steps(5, 90)}, {"orders-0": steps(9000, 10)}),
    Status.TOPIC_DELETED: ({"orders-0": 5, "paid-0": 9}, {"orders-0": deleted(), "paid-0": 9}),
    Status.OK: ({"orders-0": 9}, {"orders-0": 9}),
}


@pytest.mark.parametrize("verdict", SHARE_GROUPS)
def test_the_evidence_about_a_share_group_names_its_start_offset(verdict: Status) -> None:
    """It commits nothing."""
    whole, rows = watch(*SHARE_GROUPS[verdict], type=GroupType.SHARE)
    assert whole.finding.status is verdict
    for found in (whole.finding, *(row.finding for row in rows.values())):
        stated = f"{found.rule}; {found.evidence}".replace("read_committed consumers", "")
        assert "commit" not in stated
    if verdict not in (Status.FALLING_BEHIND, Status.CATCHING_UP, Status.OK):
        assert "start offset" in f"{whole.finding.evidence}"


def test_a_share_group_without_a_time_lag_says_that_its_start_offset_is_unknown() -> None:
    _, rows = watch({"orders-0": None}, {"orders-0": 9}, type=GroupType.SHARE)
    assert rows["orders-0"].time_lag.reason == "the start offset or the log end is unknown"


def test_a_share_group_s_lag_is_the_broker_s_own() -> None:
    whole, _ = watch({"orders-0": 5}, {"orders-0": 9}, type=GroupType.SHARE, broker_lag={"orders-0": 0})
    assert whole.finding.status is Status.OK
    assert whole.lag.records == 0
    assert whole.time_lag.seconds == 0.0


def test_a_group_without_members_and_partitions_is_ok_and_one_that_could_not_be_read_is_unknown() -> None:
    whole, _ = watch({}, {}, polls=1, members=0, state="Empty")
    assert whole.finding.status is Status.OK
    assert whole.time_lag.reason == "the group has no partitions"
    whole, _ = watch({}, {}, polls=1, complete=False)
    assert whole.finding.status is Status.UNKNOWN
    assert whole.finding.evidence == "the partitions of the group could not be read"


def test_a_partition_without_a_commit_waits_also_without_members() -> None:
    """Its topic grew, and nobody has read it since."""
    grown = {"orders-0": 9, "orders-1": None}
    whole, rows = watch(grown, {"orders-0": 9, "orders-1": 4}, members=0, state="Empty")
    assert whole.finding.status is rows["orders-1"].finding.status is Status.NO_MEMBERS
    waits = "4 records wait on orders-1, which has no committed offset, and the group has no members"
    assert rows["orders-1"].finding.evidence == waits
    behind = "the group is Empty and 0 records behind (known for 1 of 2 partitions)"
    assert whole.finding.evidence == f"{behind}; largest: {waits}"
    empty, _ = watch(grown, {"orders-0": 9, "orders-1": 0}, members=0, state="Empty")
    assert empty.finding.status is Status.OK


def test_a_consumer_that_assigns_its_own_partitions_never_committed_the_others() -> None:
    """It commits elsewhere, so it does not know of the new one."""
    grown = {"orders-0": steps(9, 5), "orders-1": None}
    whole, _ = watch(grown, {"orders-0": steps(9, 5), "orders-1": 4}, members=0, state="Empty")
    assert whole.finding.status is Status.NEVER_COMMITTED


def test_a_commit_on_a_partition_that_a_smaller_topic_does_not_have_names_the_partition() -> None:
    left = {"orders-0": 9, "orders-5": 7}
    whole, _ = watch(left, {"orders-0": 9, "orders-5": deleted()}, polls=1, members=0, state="Empty")
    assert whole.finding.status is Status.TOPIC_DELETED
    assert whole.finding.evidence == (
        "partition 5 of topic orders no longer exists; the committed offset 7 on orders-5 remains"
    )
