"""The text of a small cluster under each set of names, and the rules of each set by their events."""

from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from app.metrics.options import NAME_SETS, Granularity
from lag.model import GroupType, Problem, Scope, undecoded
from lag.offsets import PartitionProblem
from lag.polling.last_known import carry_forward
from lag.verdict.burrow.evaluator import BurrowStatus
from tests.app.metrics.clusters import NOW_MS, of_family, one, report, samples, small, snapshot, text, unread
from tests.lag.make import BROKERS, cluster, end, failed, group

EXPECTED = Path(__file__).with_name("expected")
VERSION = metadata.version("groupscope")


@pytest.mark.parametrize("name", NAME_SETS)
def test_small_cluster_has_exactly_the_expected_text(name: str) -> None:
    expected = (EXPECTED / f"{name}.txt").read_text().replace("VERSION", VERSION)
    assert text(small(), names=(name,)) == expected


def test_all_sets_together_are_each_set_once_and_share_no_name() -> None:
    each = [line for name in NAME_SETS for line in samples(small(), names=(name,))]
    assert samples(small(), names=NAME_SETS) == each
    heads = [line for line in text(small(), names=NAME_SETS).splitlines() if line.startswith("# TYPE")]
    assert len(set(heads)) == len(heads)


def test_granularity_leaves_out_finer_series() -> None:
    of_groups = samples(small(), names=NAME_SETS, granularity=Granularity.GROUP)
    of_topics = samples(small(), names=NAME_SETS, granularity=Granularity.TOPIC)
    assert not [line for line in of_groups if "topic" in line.partition("{")[2].partition("}")[0].partition("=")[0]]
    assert not [line for line in of_topics if ',partition="' in line or ",partition_id" in line]
    whole = samples(small(), names=NAME_SETS)
    assert set(of_groups) < set(of_topics) < set(whole)


def test_cluster_that_was_never_read_says_only_that_it_is_down() -> None:
    assert samples(unread(), names=NAME_SETS) == [
        'groupscope_cluster_up{cluster="dark"} 0',
        'groupscope_polls_total{cluster="dark"} 0',
        'groupscope_poll_failures{cluster="dark"} 3',
        f'kminion_exporter_up{{version="{VERSION}"}} 0',
        "kminion_exporter_offset_consumer_records_consumed_total 0",
    ]


def test_cluster_that_fails_after_a_good_poll_is_down_and_keeps_its_last_snapshot() -> None:
    failing = replace(small(), status=unread().status, now_ms=NOW_MS + 60_000)
    lines = samples(failing, names=("own", "kminion"))
    assert of_family(lines, "groupscope_cluster_up") == ['{cluster="prod"} 0']
    assert of_family(lines, "groupscope_poll_age_seconds") == ['{cluster="prod"} 64.5']
    assert '{cluster="prod",group="billing"} 60' in of_family(lines, "groupscope_group_lag_records")


def test_exporter_is_up_after_a_complete_poll() -> None:
    polled = one(cluster({"a": group({"orders-0": 1})}, {"orders-0": end(2)}))
    assert of_family(samples(polled, names=("kminion",)), "kminion_exporter_up") == [f'{{version="{VERSION}"}} 1']


def test_group_without_enough_polls_for_a_verdict_has_none() -> None:
    lines = samples(one(cluster({"a": group({"orders-0": 1})}, {"orders-0": end(2)})))
    assert of_family(lines, "groupscope_group_verdict") == []
    assert {line[-2:] for line in of_family(lines, "groupscope_groups")} == {" 0"}


def test_group_of_an_earlier_poll_has_no_members_no_state_and_no_lag() -> None:
    ends = {"orders-0": end(9)}
    before = cluster({"a": group({"orders-0": 4}, coordinator=2)}, ends, 1, 10_000)
    gone = Problem("timeout", Scope.BROKER, "2", "broker 2 did not answer within 5 s")
    now = cluster({}, ends, 2, 20_000, brokers=BROKERS, problems=(gone,), complete=False)
    polled = replace(one(before), report=report([before, carry_forward(before, now)]))
    lines = samples(polled, names=NAME_SETS)
    about = [line for line in lines if '"a"' in line and not line.endswith("NaN")]
    assert about == [
        'groupscope_group_partitions{cluster="prod",group="a"} 1',
        'groupscope_group_lag_known_partitions{cluster="prod",group="a"} 0',
        'groupscope_group_verdict{cluster="prod",group="a",verdict="unknown"} 1',
        'groupscope_group_topic_partitions{cluster="prod",group="a",topic="orders"} 1',
        'groupscope_group_topic_lag_known_partitions{cluster="prod",group="a",topic="orders"} 0',
    ]


def test_kafka_exporter_has_no_topic_on_which_the_group_never_committed() -> None:
    ends = {"orders-0": end(9), "other-0": end(5)}
    lines = samples(one(cluster({"a": group({"orders-0": 4, "other-0": None})}, ends)), names=("kafka-exporter",))
    assert of_family(lines, "kafka_consumergroup_lag") == ['{consumergroup="a",topic="orders",partition="0"} 5']
    assert of_family(lines, "kafka_consumergroup_lag_sum") == ['{consumergroup="a",topic="orders"} 5']


@pytest.mark.parametrize("assigned", [True, False])
def test_kafka_exporter_says_minus_one_of_every_partition_without_a_commit(assigned: bool) -> None:
    """Assigned or not: it asks for every partition of the cluster."""
    ends = {f"orders-{p}": end(9) for p in range(3)}
    committed = {"orders-1": 4} | ({"orders-0": None, "orders-2": None} if assigned else {})
    lines = samples(one(cluster({"a": group(committed)}, ends)), names=("kafka-exporter",))
    labels = '{consumergroup="a",topic="orders",partition='
    assert of_family(lines, "kafka_consumergroup_current_offset") == [
        f'{labels}"{p}"}} {offset}' for p, offset in enumerate([-1, 4, -1])
    ]
    assert of_family(lines, "kafka_consumergroup_lag") == [
        f'{labels}"{p}"}} {lag}' for p, lag in enumerate([-1, 5, -1])
    ]
    assert of_family(lines, "kafka_consumergroup_current_offset_sum") == ['{consumergroup="a",topic="orders"} 2']
    assert of_family(lines, "kafka_consumergroup_lag_sum") == ['{consumergroup="a",topic="orders"} 5']


def test_kafka_exporter_does_not_take_what_could_not_be_read_for_no_commit() -> None:
    ends = {f"orders-{p}": end(9) for p in range(3)}
    unreadable = {"orders-0": PartitionProblem.TIMEOUT}
    spec = group({"orders-0": None, "orders-1": 4}, row_problems=unreadable, complete=False)
    lines = samples(one(cluster({"a": spec}, ends)), names=("kafka-exporter",))
    only = ['{consumergroup="a",topic="orders",partition="1"} ']
    assert [line[:-1] for line in of_family(lines, "kafka_consumergroup_current_offset")] == only
    assert of_family(lines, "kafka_consumergroup_current_offset_sum") == ['{consumergroup="a",topic="orders"} 4']


def test_kafka_exporter_knows_where_no_commit_is_though_a_member_cannot_be_decoded() -> None:
    ends = {f"orders-{p}": end(9) for p in range(2)}
    problem = undecoded("a", ["member m0: its assignment cannot be decoded (version -1)"])
    spec = group({"orders-1": 4}, complete=False, problems=(problem,))
    lines = samples(one(cluster({"a": spec}, ends)), names=("kafka-exporter",))
    labels = '{consumergroup="a",topic="orders",partition='
    assert of_family(lines, "kafka_consumergroup_current_offset") == [f'{labels}"0"}} -1', f'{labels}"1"}} 4']


def test_kafka_exporter_has_no_partition_without_a_log_end() -> None:
    ends = {"orders-0": end(9), "orders-1": failed()}
    lines = samples(one(cluster({"a": group({"orders-0": 4, "orders-1": 3})}, ends)), names=("kafka-exporter",))
    only = '{consumergroup="a",topic="orders",partition="0"}'
    assert of_family(lines, "kafka_consumergroup_current_offset") == [f"{only} 4"]
    assert of_family(lines, "kafka_consumergroup_current_offset_sum") == ['{consumergroup="a",topic="orders"} 4']


def test_lag_exporter_does_not_know_a_sum_of_which_a_part_is_unknown() -> None:
    ends = {"orders-0": end(9), "orders-1": end(9)}
    lines = samples(one(cluster({"a": group({"orders-0": 4, "orders-1": None})}, ends)), names=("lag-exporter",))
    labels = '{cluster_name="prod",group="a"}'
    assert of_family(lines, "kafka_consumergroup_group_sum_lag") == [f"{labels} NaN"]
    assert of_family(lines, "kafka_consumergroup_group_max_lag") == [f"{labels} NaN"]


def test_lag_exporter_names_no_owner_of_a_partition_that_several_members_share() -> None:
    lines = samples(small(), names=("lag-exporter",))
    labels = 'member_host="unknown",consumer_id="unknown",client_id="unknown"}'
    (early,) = [line for line in of_family(lines, "kafka_consumergroup_group_lag") if 'group="early"' in line]
    assert early.endswith(f"{labels} 100")


def test_kminion_counts_members_without_partitions_only_if_there_are_some() -> None:
    polled = one(cluster({"a": group({"orders-0": 4}, 2), "b": group({"orders-0": 4})}, {"orders-0": end(9)}))
    lines = samples(polled, names=("kminion",))
    assert of_family(lines, "kminion_kafka_consumer_group_empty_members") == ['{group_id="a"} 1']


def test_burrow_has_offset_and_status_of_a_partition_once_ten_commits_are_known() -> None:
    polls = [
        cluster({"a": group({"t-0": 5 * n, "t-1": 3})}, {"t-0": end(10 * n), "t-1": end(9)}, n, 10_000 * n)
        for n in range(1, 11)
    ]
    early, late = (
        samples(replace(one(made[-1]), report=report(made)), names=("burrow",)) for made in (polls[:9], polls)
    )
    moving = '{cluster="prod",consumer_group="a",topic="t",partition="0"}'
    assert of_family(early, "burrow_kafka_consumer_current_offset") == []
    assert of_family(early, "burrow_kafka_topic_partition_status") == []
    assert of_family(late, "burrow_kafka_consumer_current_offset") == [f"{moving} 50"]
    assert of_family(late, "burrow_kafka_topic_partition_status") == [f"{moving} {BurrowStatus.WARN}"]
    assert of_family(late, "burrow_kafka_consumer_status") == [
        f'{{cluster="prod",consumer_group="a"}} {BurrowStatus.ERR}'
    ]


def test_burrow_has_no_status_of_a_group_without_a_commit() -> None:
    lines = samples(one(cluster({"a": group({"t-0": None})}, {"t-0": end(9)})), names=("burrow",))
    assert of_family(lines, "burrow_kafka_consumer_status") == []


@pytest.mark.parametrize("kind", GroupType)
def test_every_set_has_groups_of_every_type(kind: GroupType) -> None:
    polled = one(cluster({"a": group({"orders-0": 4}, type=kind)}, {"orders-0": end(9)}))
    for family in (
        "groupscope_group_partition_lag_records",
        "kminion_kafka_consumer_group_topic_partition_lag",
        "kafka_consumergroup_group_lag",
        "kafka_consumergroup_lag",
        "burrow_kafka_consumer_partition_lag",
    ):
        (line,) = of_family(samples(polled, names=NAME_SETS), family)
        assert line.endswith("} 5")


def test_sets_without_a_cluster_label_have_one_when_several_clusters_are_served() -> None:
    one_cluster = samples(small("a"), names=("kminion", "kafka-exporter"))
    two = samples(small("a"), small("b"), names=("kminion", "kafka-exporter"))
    assert 'kafka_consumergroup_members{consumergroup="billing"} 2' in one_cluster
    assert 'kafka_consumergroup_members{cluster="b",consumergroup="billing"} 2' in two
    assert 'kafka_brokers{cluster="a"} 2' in two
    assert len(two) == len(set(two)) == 2 * len(one_cluster)
    assert samples(small("a"), small("b"), names=("kminion", "kafka-exporter"), clusters=("a",)) == one_cluster


def test_partition_that_only_a_commit_names_is_not_one_of_its_topic() -> None:
    """The topic was created again with fewer partitions."""
    made = snapshot(1)
    smaller = replace(made, topics={**made.topics, "orders": replace(made.topics["orders"], partitions=1)})
    lines = samples(one(smaller), names=("kminion", "own"))
    assert of_family(lines, "kminion_kafka_topic_high_water_mark_sum") == [
        '{topic_name="orders"} 70',
        '{topic_name="pay"} 10',
    ]
