"""Values equal the snapshot's whatever the names are; both formats are what Prometheus's own client reads."""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import parser as plain_parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from app.metrics.options import NAME_SETS
from app.metrics.text_format import OPENMETRICS, PLAIN
from app.metrics.view import Polled
from app.server.access.visible import visible_report
from lag.model import ClusterSnapshot, GroupSnapshot, GroupType, Member
from lag.offsets import PartitionLag, PartitionProblem
from lag.polling.report import CollectorStatus, Report
from lag.verdict.judge import judge
from lag.verdict.rules.status_rules import MARKERS_ONLY, RECORDS
from lag.verdict.window.sample_window import SampleRing
from tests.app.metrics.clusters import one, small, text, unread
from tests.lag.make import End, GroupSpec, cluster, deleted, end, failed, tp

Key = tuple[str, ...]
Values = dict[str, dict[Key, float]]
"""Metric name -> label values in the order of the labels' names -> value."""

ODD = st.text(st.sampled_from('a"\\\n\r\t,{}= #é漢\u2028\x00'), min_size=1, max_size=6)
NAMES = ODD | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
ENDS = st.one_of(st.builds(end, st.integers(50, 99), st.integers(0, 50)), st.builds(deleted), st.builds(failed))


@st.composite
def clusters(draw: st.DrawFn) -> ClusterSnapshot:
    """Any cluster of up to four topics with up to three partitions each, and up to four groups."""
    topics = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    ends: dict[str, End] = {}
    for topic in topics:
        is_deleted = draw(st.booleans())
        for partition in range(draw(st.integers(1, 3))):
            ends[f"{topic}-{partition}"] = deleted() if is_deleted else draw(ENDS.filter(lambda e: e != deleted()))
    groups = {name: draw(_groups(list(ends))) for name in draw(st.lists(NAMES, max_size=4, unique=True))}
    return cluster(groups, ends, at_ms=10_000)


@st.composite
def _groups(draw: st.DrawFn, keys: list[str]) -> GroupSpec:
    mine = draw(st.lists(st.sampled_from(keys), unique=True))
    committed = {key: draw(st.none() | st.integers(0, 120)) for key in mine}
    unread_rows = {key: PartitionProblem.TIMEOUT for key in mine if committed[key] is None and draw(st.booleans())}
    members = tuple(
        Member(f"m{i}{draw(NAMES)}", draw(NAMES), draw(NAMES), assigned=tuple(tp(key) for key in mine[i::2]))
        for i in range(draw(st.integers(0, 2)))
    )
    complete = not unread_rows and draw(st.booleans())
    kind = draw(st.sampled_from(GroupType))
    return GroupSpec(committed, members, type=kind, complete=complete, row_problems=unread_rows)


def parsed(exposition: str, *, is_openmetrics: bool = False) -> Values:
    """What Prometheus's client reads."""
    parse = (openmetrics_parser if is_openmetrics else plain_parser).text_string_to_metric_families
    found: Values = defaultdict(dict)
    for family in parse(exposition):
        for sample in family.samples:
            key = tuple(sample.labels.values())
            assert key not in found[sample.name], "the same series twice"
            found[sample.name][key] = sample.value
    return found


def same(values: Mapping[Key, float], expected: Mapping[Any, float | None], *, nan: bool = False) -> bool:
    """Unknown, None, is NaN or without a series."""
    wanted = {key: math.nan if value is None else value for key, value in expected.items() if nan or value is not None}
    return values.keys() == wanted.keys() and all(
        values[key] == value or (math.isnan(value) and math.isnan(values[key])) for key, value in wanted.items()
    )


def rows(snapshot: ClusterSnapshot) -> list[tuple[GroupSnapshot, PartitionLag]]:
    return [(group, row) for group in snapshot.groups for row in group.partitions]


def key(group: GroupSnapshot, row: PartitionLag) -> Key:
    return (group.group_id, row.tp.topic, str(row.tp.partition))


@given(clusters())
def test_lag_and_offset_of_every_partition_are_the_snapshots_under_all_names(snapshot: ClusterSnapshot) -> None:
    found = parsed(text(one(snapshot), names=NAME_SETS))
    lag = {key(*each): each[1].lag_records for each in rows(snapshot)}
    committed = {key(*each): each[1].committed for each in rows(snapshot)}
    with_cluster = {("prod", *k): v for k, v in lag.items()}
    offsets = {("prod", *k): v for k, v in committed.items()}
    assert same(found["groupscope_group_partition_lag_records"], with_cluster)
    assert same(found["burrow_kafka_consumer_partition_lag"], with_cluster)
    assert same(found["kminion_kafka_consumer_group_topic_partition_lag"], lag)
    assert same(found["groupscope_group_partition_committed_offset"], offsets)
    owned = {k[:4]: v for k, v in found["kafka_consumergroup_group_lag"].items()}
    assert same(owned, with_cluster, nan=True)


@given(clusters())
def test_owner_of_every_partition_is_the_snapshots(snapshot: ClusterSnapshot) -> None:
    found = parsed(text(one(snapshot), names=("lag-exporter",)))["kafka_consumergroup_group_offset"]
    owners = {
        (group.group_id, m.member_id): (m.host if "/" in m.host else f"/{m.host}", m.member_id, m.client_id)
        for group in snapshot.groups
        for m in group.members
    }
    nobody = ("unknown", "unknown", "unknown")
    assert found.keys() == {
        ("prod", *key(group, row), *owners.get((group.group_id, row.member_id or ""), nobody))
        for group, row in rows(snapshot)
    }


@given(clusters())
def test_sums_of_groups_and_topics_are_those_of_their_partitions(snapshot: ClusterSnapshot) -> None:
    found = parsed(text(one(snapshot), names=NAME_SETS))
    lags: dict[Key, list[int | None]] = defaultdict(list)
    for group, row in rows(snapshot):
        lags["prod", group.group_id].append(row.lag_records)
        lags["prod", group.group_id, row.tp.topic].append(row.lag_records)
    known = {k: [lag for lag in each if lag is not None] for k, each in lags.items()}
    total = {k: sum(each) if each else None for k, each in known.items()}
    whole = {k: total[k] if None not in lags[k] else None for k in lags}
    topic = {k: v for k, v in total.items() if len(k) == 3}
    group_total = {k: v for k, v in total.items() if len(k) == 2}
    assert same(found["groupscope_group_topic_lag_records"], topic)
    assert same(found["kminion_kafka_consumer_group_topic_lag"], {k[1:]: v for k, v in topic.items()})
    assert same(found["kafka_consumergroup_lag_sum"], {k[1:]: v for k, v in topic.items()})
    assert same(found["burrow_kafka_consumer_lag_total"], group_total)
    assert same(found["kafka_consumergroup_group_topic_sum_lag"], {k: whole[k] for k in topic}, nan=True)
    assert same(found["kafka_consumergroup_group_sum_lag"], {k: whole[k] for k in group_total}, nan=True)
    largest = {k: max(each) if each and None not in lags[k] else None for k, each in known.items() if len(k) == 2}
    assert same(found["kafka_consumergroup_group_max_lag"], largest, nan=True)
    empty = [("prod", g.group_id) for g in snapshot.groups if g.complete and not len(g.partitions) and not g.members]
    assert same(found["groupscope_group_lag_records"], {**group_total, **dict.fromkeys(empty, 0)})


def as_kafka_exporter(snapshot: ClusterSnapshot, group: GroupSnapshot, topic: str) -> dict[int, tuple[int, int | None]]:
    """Partition -> offset and lag, by its rules: it asks for all partitions that have a log end."""
    ends = snapshot.offsets.ends
    has_end = {
        ends.tp(row).partition for row in range(len(ends)) if ends.tp(row).topic == topic and ends.log_end[row] >= 0
    }
    mine = {row.tp.partition: row for row in group.partitions if row.tp.topic == topic and row.tp.partition in has_end}
    if all(row.committed is None for row in mine.values()):
        return {}
    found: dict[int, tuple[int, int | None]] = {}
    for partition in has_end:
        row = mine.get(partition)
        if row is not None and row.committed is not None:
            found[partition] = row.committed, row.lag_records
        elif group.complete if row is None else row.problem is PartitionProblem.NO_COMMIT:
            found[partition] = -1, -1
    return found


@given(clusters())
def test_kafka_exporters_rules_about_minus_one_hold(snapshot: ClusterSnapshot) -> None:
    found = parsed(text(one(snapshot), names=("kafka-exporter",)))
    positions = {
        (group.group_id, topic): as_kafka_exporter(snapshot, group, topic)
        for group in snapshot.groups
        for topic in snapshot.offsets.ends.topics
    }
    each = {(*k, str(p)): position for k, of_topic in positions.items() for p, position in of_topic.items()}
    assert same(found["kafka_consumergroup_current_offset"], {k: offset for k, (offset, _) in each.items()})
    assert same(found["kafka_consumergroup_lag"], {k: lag for k, (_, lag) in each.items()})
    sums = {k: sum(offset for offset, _ in of_topic.values()) for k, of_topic in positions.items() if of_topic}
    assert same(found["kafka_consumergroup_current_offset_sum"], sums)


@given(clusters())
def test_both_formats_have_the_same_values(snapshot: ClusterSnapshot) -> None:
    polled = one(snapshot)
    plain = parsed(text(polled, names=NAME_SETS))
    openmetrics = parsed(text(polled, names=NAME_SETS, form=OPENMETRICS), is_openmetrics=True)
    assert plain.keys() == openmetrics.keys()
    assert all(same(values, openmetrics[name]) for name, values in plain.items())


@given(st.lists(NAMES, min_size=1, max_size=3, unique=True))
def test_names_of_clusters_are_escaped(names: list[str]) -> None:
    found = parsed(text(*map(unread, names), names=NAME_SETS))
    assert found["groupscope_cluster_up"].keys() == {(name,) for name in names}


def test_openmetrics_names_the_family_of_a_counter_without_total_and_ends_with_eof() -> None:
    openmetrics, plain = text(small(), form=OPENMETRICS), text(small(), form=PLAIN)
    assert "# TYPE groupscope_polls counter\ngroupscope_polls_total{" in openmetrics
    assert "# TYPE groupscope_polls_total counter\ngroupscope_polls_total{" in plain
    assert openmetrics.endswith("\n# EOF\n")
    assert "EOF" not in plain


@pytest.mark.parametrize("seen", ["ab", "b"])
def test_the_time_lag_is_0_where_only_markers_are_left(seen: str) -> None:
    """For a visitor who sees some of the groups as well."""
    ring = SampleRing()
    for number in range(1, 8):
        groups = {"a": GroupSpec({"t-0": 9}), "b": GroupSpec({"t-0": 8})}
        snapshot = cluster(groups, {"t-0": end(10)}, number, 10_000 * number)
        window = ring.append(snapshot)
    health = judge(snapshot, window, remainders=np.array([RECORDS, MARKERS_ONLY], np.uint8))
    report = visible_report(Report(snapshot, health, window), seen.__contains__)
    found = parsed(text(Polled("prod", report, CollectorStatus(10.0), 0), names=NAME_SETS))
    of_rows, of_groups = (found[f"kafka_consumergroup_group_{name}"] for name in ("lag_seconds", "max_lag_seconds"))
    assert [value for labels, value in of_rows.items() if labels[1] == "b"] == [0]
    assert of_groups["prod", "b"] == found["groupscope_group_time_lag_seconds"]["prod", "b"] == 0


def test_nothing_is_served_without_clusters() -> None:
    assert text(names=NAME_SETS) == ""
    assert text(names=NAME_SETS, form=OPENMETRICS) == "# EOF\n"
