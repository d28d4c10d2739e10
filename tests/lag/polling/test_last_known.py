"""Groups whose coordinator is away stay on the page, marked as old; deleted groups go."""

from dataclasses import replace
from typing import Any

import pytest

from lag.model import Broker, ClusterSnapshot, Problem, Scope
from lag.offsets import PartitionProblem
from lag.polling.last_known import carry_forward
from lag.verdict.judge import judge
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import Status
from lag.verdict.window.sample_window import SampleRing
from tests.lag.make import BROKERS, cluster, deleted, end, group, judged
from tests.support.known import known

AT = 1_795_000_000_000
ENDS = {"orders-0": end(100), "orders-1": end(50, leader=2)}
SILENT = (BROKERS[0], replace(BROKERS[1], error="did not answer within 5 s"), BROKERS[2])
TIMEOUT = Problem("timeout", Scope.BROKER, "2", "broker 2 did not answer within 5 s")

BILLING = group({"orders-0": 90, "orders-1": 45}, members=2, coordinator=2)
AUDIT = group({"orders-1": 50}, coordinator=1)
ZEBRA = group({"orders-0": 99}, coordinator=3)


def before() -> ClusterSnapshot:
    return cluster({"audit": AUDIT, "billing": BILLING, "zebra": ZEBRA}, ENDS, 1, AT)


def after(number: int = 2, **rest: Any) -> ClusterSnapshot:
    """Without billing; broker 2 does not answer."""
    arguments = {"brokers": SILENT, "problems": [TIMEOUT], **rest}
    return cluster({"audit": AUDIT, "zebra": ZEBRA}, ENDS, number, AT + number * 10_000, **arguments)


def test_a_group_whose_coordinator_does_not_answer_is_kept() -> None:
    kept = carry_forward(before(), after())
    assert [g.group_id for g in kept.groups] == ["audit", "billing", "zebra"]
    billing = kept.group("billing")
    assert (known(billing).state, known(billing).complete, known(billing).at_ms) == ("Stable", False, AT)
    assert [member.member_id for member in known(billing).members] == ["m0", "m1"]
    assert [str(problem) for problem in known(billing).problems] == [
        "group billing: its coordinator, broker 2, has not answered since 2026-11-18 11:06:40 UTC: "
        "state and members are from that time; the group was 15 records behind (known for 2 of 2 partitions). "
        "Start the broker"
    ]


def test_a_kept_group_s_rows_stay_without_the_commits_that_may_have_moved() -> None:
    kept = carry_forward(before(), after())
    rows = known(kept.group("billing")).partitions
    assert [(str(r.tp), r.committed, r.log_end, r.lag_records, r.problem, r.member_id) for r in rows] == [
        ("orders-0", None, 100, None, PartitionProblem.TIMEOUT, "m0"),
        ("orders-1", None, 50, None, PartitionProblem.TIMEOUT, "m1"),
    ]
    assert kept.offsets.bounds.tolist() == [0, 1, 3, 4]


def test_the_other_groups_are_as_they_were_read() -> None:
    kept = carry_forward(before(), after())
    fresh = after()
    for name in ("audit", "zebra"):
        assert list(known(kept.group(name)).partitions) == list(known(fresh.group(name)).partitions)
        assert known(kept.group(name)).at_ms == fresh.at_ms


def test_a_coordinator_that_is_gone_from_the_cluster_counts_as_silent() -> None:
    leaderless = Problem("coordinator_unavailable", Scope.CLUSTER, "__consumer_offsets", "1 of 50 has no leader")
    kept = carry_forward(before(), after(brokers=(BROKERS[0], BROKERS[2]), problems=[leaderless]))
    assert kept.group("billing") is not None


def test_a_group_moves_while_its_new_coordinator_still_loads() -> None:
    loading = Problem("groups_unlisted", Scope.BROKER, "3", "broker 3 does not list its groups")
    kept = carry_forward(before(), after(brokers=BROKERS, problems=[loading]))
    assert kept.group("billing") is not None


def test_a_group_whose_new_coordinator_does_not_answer_is_kept_although_the_former_answers() -> None:
    now = replace(after(), offsets_leaders=(2,) * 50)
    was = replace(before(), groups=tuple(replace(g, coordinator=1) for g in before().groups))
    assert carry_forward(was, now).group("billing") is not None
    assert carry_forward(was, after()).group("billing") is None


def test_a_group_whose_coordinator_changed_is_kept_for_one_poll() -> None:
    """Its new coordinator answers before it has begun to load it."""
    now = replace(after(2, brokers=BROKERS, problems=[]), offsets_leaders=(3,) * 50)
    kept = carry_forward(before(), now)
    assert (kept.complete, known(kept.group("billing")).complete) == (False, False)
    later = replace(after(3, brokers=BROKERS, problems=[]), offsets_leaders=(3,) * 50)
    assert carry_forward(kept, later) is later


def test_a_group_that_vanishes_from_a_complete_snapshot_was_deleted() -> None:
    now = after(brokers=BROKERS, problems=[])
    assert carry_forward(before(), now) is now


def test_a_group_whose_coordinator_answers_without_it_was_deleted() -> None:
    now = after(brokers=(Broker(1, "b1", 9092), Broker(2, "b2", 9092), Broker(3, "b3", 9092, error="silent")))
    now = replace(now, problems=(Problem("timeout", Scope.BROKER, "3", "broker 3 did not answer"),))
    assert carry_forward(before(), now).group("billing") is None


def test_the_first_poll_has_nothing_to_keep() -> None:
    now = after()
    assert carry_forward(None, now) is now


def test_a_group_that_stays_unreadable_keeps_its_first_problem() -> None:
    second = carry_forward(before(), after(2))
    third = carry_forward(second, after(3))
    assert known(third.group("billing")).problems == known(second.group("billing")).problems
    assert known(third.group("billing")).at_ms == AT
    assert third.offsets.at_ms == AT + 30_000


def test_a_group_that_is_back_is_as_it_was_read() -> None:
    away = carry_forward(before(), after(2))
    now = cluster({"audit": AUDIT, "billing": BILLING, "zebra": ZEBRA}, ENDS, 3, AT + 30_000)
    assert carry_forward(away, now) is now


def test_a_row_that_only_the_kept_group_named_is_left_out() -> None:
    alone = group({"gone-0": 4, "orders-1": 45}, coordinator=2)
    was = cluster({"billing": alone}, {**ENDS, "gone-0": deleted()}, 1, AT)
    kept = carry_forward(was, cluster({}, ENDS, 2, AT + 10_000, brokers=SILENT, problems=[TIMEOUT]))
    assert [str(row.tp) for row in known(kept.group("billing")).partitions] == ["orders-1"]


@pytest.mark.parametrize("partitions", [{}, {"gone-0": 4}], ids=["no rows", "no row left"])
def test_a_kept_group_may_have_no_rows(partitions: Any) -> None:
    was = cluster({"billing": group(partitions, coordinator=2)}, {**ENDS, "gone-0": deleted()}, 1, AT)
    kept = carry_forward(was, cluster({}, ENDS, 2, AT + 10_000, brokers=SILENT, problems=[TIMEOUT]))
    assert list(known(kept.group("billing")).partitions) == []
    assert judged([kept]).groups[0].finding.status is Status.UNKNOWN


def test_a_kept_group_is_unknown_and_says_since_when() -> None:
    health = judged([before(), carry_forward(before(), after())])
    found = health.group("billing")
    assert known(found).finding.status is Status.UNKNOWN
    assert known(found).finding.onset == Onset(AT, is_exact=True, source=OnsetSource.WINDOW)
    assert known(found).finding.evidence.startswith(
        "its coordinator, broker 2, has not answered since 2026-11-18 11:06:40 UTC"
    )
    assert (known(found).lag.records, known(found).lag.known, known(found).lag.partitions) == (None, 0, 2)
    assert known(found).drain_s is None


def test_a_kept_group_has_its_past_again_when_it_is_back() -> None:
    trend = SampleRing()
    polls = [before(), carry_forward(before(), after(2))]
    polls.append(cluster({"audit": AUDIT, "billing": BILLING, "zebra": ZEBRA}, ENDS, 3, AT + 30_000))
    for poll in polls:
        window = trend.append(poll)
    health = judge(polls[-1], window)
    assert window.rows(slice(1, 3)).committed.tolist() == [[90, 45], [-1, -1], [90, 45]]
    trend_of_billing = known(health.group("billing")).lag_trend
    assert trend_of_billing[[0, 2]].tolist() == [15.0, 15.0]
    assert trend_of_billing[1] != trend_of_billing[1]  # not known
