"""Patterns and the limit of series choose what is served; what is left out is counted."""

import re
import tracemalloc

import numpy as np
import pytest

from app.metrics.options import NAME_SETS, Granularity, InvalidOption
from app.metrics.view import Polled
from lag.model import ClusterSnapshot, GroupSnapshot, GroupType, Topic
from lag.offsets import EndOffsets, OffsetTable
from lag.polling.report import CollectorStatus, Report
from lag.verdict.health import GroupColumns, Health, PartitionHealth, PartitionHealths
from lag.verdict.onset import OnsetColumns
from lag.verdict.status import STATUS_CODE, Status
from lag.verdict.window.sample_window import Window
from tests.app.metrics.clusters import of_family, one, samples, small, text
from tests.lag.make import BROKERS, cluster, end, group

LAG = "groupscope_group_lag_records"
TOPIC_LAG = "groupscope_group_topic_lag_records"
ROW_LAG = "groupscope_group_partition_lag_records"


def groups_of(lines: list[str], family: str) -> list[str]:
    return [re.findall(r'group="([^"]*)"', line)[0] for line in of_family(lines, family)]


def test_patterns_match_whole_names() -> None:
    ends = {"orders-0": end(9), "orders2-0": end(9)}
    each = {name: group({"orders-0": 1, "orders2-0": 2}) for name in ("a", "ab", "b", "é\n")}
    polled = one(cluster(each, ends))
    assert groups_of(samples(polled, groups="a|b"), LAG) == ["a", "b"]
    assert groups_of(samples(polled, groups="a.*", exclude_groups=".b"), LAG) == ["a"]
    assert groups_of(samples(polled, groups=r"(?s)\pL."), LAG) == ["ab", "é\\n"]
    of_topics = samples(polled, topics="orders", groups="a")
    assert of_family(of_topics, TOPIC_LAG) == ['{cluster="prod",group="a",topic="orders"} 8']
    assert of_family(of_topics, "groupscope_partition_log_end_offset") == [
        '{cluster="prod",topic="orders",partition="0"} 9'
    ]


def test_sums_of_a_group_cover_the_topics_that_patterns_leave_out() -> None:
    polled = one(cluster({"a": group({"orders-0": 1, "pay-0": 2})}, {"orders-0": end(9), "pay-0": end(9)}))
    lines = samples(polled, exclude_topics="pay")
    assert of_family(lines, LAG) == ['{cluster="prod",group="a"} 15']
    assert len(of_family(lines, ROW_LAG)) == 1


def left_out(exposition: str, what: str) -> dict[str, int]:
    found = re.findall(rf'^groupscope_scrape_{what}_left_out{{.*granularity="(\w+)"}} (\d+)$', exposition, re.MULTILINE)
    return {granularity: int(count) for granularity, count in found}


def fleet(groups: int, partitions: int) -> Polled:
    ends = {f"orders-{p}": end(9) for p in range(partitions)}
    return one(cluster({f"g{g}": group(dict.fromkeys(ends, 5)) for g in range(groups)}, ends))


def test_limit_keeps_coarse_series_and_whole_groups_in_alphabetical_order() -> None:
    """Families: 11 of a group, 1 of a topic, 3 of a group's topic, 3 of a partition, 2 of a group's partition."""
    whole = 5 * 11 + 1 + 5 * 3 + 3 * 4 + 5 * 2 * 4
    every = text(fleet(5, 4), max_series=whole)
    assert left_out(every, "groups") == {"group": 0, "topic": 0, "partition": 0}
    exposition = text(fleet(5, 4), max_series=whole - 1)
    assert left_out(exposition, "groups") == {"group": 0, "topic": 0, "partition": 1}
    assert groups_of(exposition.splitlines(), ROW_LAG) == ["g0"] * 4 + ["g1"] * 4 + ["g2"] * 4 + ["g3"] * 4
    assert groups_of(exposition.splitlines(), TOPIC_LAG) == ["g0", "g1", "g2", "g3", "g4"]


def test_limit_that_not_even_the_groups_fit_leaves_out_all_that_is_finer() -> None:
    exposition = text(fleet(5, 4), max_series=34)
    assert groups_of(exposition.splitlines(), LAG) == ["g0", "g1", "g2"]
    assert left_out(exposition, "groups") == {"group": 2, "topic": 5, "partition": 5}
    assert left_out(exposition, "topics") == {"topic": 0, "partition": 1}


def test_what_the_limit_leaves_out_is_a_comment_where_the_format_has_them() -> None:
    comments = [line for line in text(fleet(5, 4), max_series=34).splitlines() if line.startswith("# The limit")]
    assert comments == [
        "# The limit of 34 series leaves out the series by group of 2 groups of 'prod'",
        "# The limit of 34 series leaves out the series by topic of 5 groups of 'prod'",
        "# The limit of 34 series leaves out the series by partition of 5 groups of 'prod'",
        "# The limit of 34 series leaves out the series by partition of 1 topics of 'prod'",
    ]


def test_clusters_share_the_limit() -> None:
    exposition = text(small("a"), small("b"), max_series=2 * 33)
    found = [re.findall(r'cluster="(\w)",group="(\w+)"', line)[0] for line in of_family(exposition.splitlines(), LAG)]
    assert found == [("a", "billing"), ("a", "early"), ("b", "billing"), ("b", "early")]


def test_counts_of_verdicts_cover_groups_that_are_left_out() -> None:
    lines = samples(small(), groups="none")
    assert '{cluster="prod",verdict="stopped"} 1' in of_family(lines, "groupscope_groups")
    assert of_family(lines, LAG) == []


def test_cluster_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidOption, match="cluster: unknown; choose from a, b"):
        text(small("a"), small("b"), clusters=("c",))


GROUPS, PARTITIONS = 10_000, 1_000
LIMIT = 50_000


def bomb() -> Polled:
    """10,000 groups on 1,000 partitions each: ten million rows, almost all of whose columns take no memory."""
    n = GROUPS * PARTITIONS

    def constant(value: int, dtype: type[np.generic], size: int) -> np.ndarray:
        return np.broadcast_to(np.array(value, dtype), size)

    ends = EndOffsets(
        ("orders",),
        constant(0, np.int32, PARTITIONS),
        np.arange(PARTITIONS, dtype=np.int32),
        constant(1, np.int32, PARTITIONS),
        constant(0, np.int64, PARTITIONS),
        constant(90, np.int64, PARTITIONS),
        constant(90, np.int64, PARTITIONS),
        constant(1, np.int32, PARTITIONS),
        constant(0, np.uint8, PARTITIONS),
    )
    table = OffsetTable(
        0,
        ends,
        PARTITIONS * np.arange(GROUPS + 1, dtype=np.int64),
        np.tile(np.arange(PARTITIONS, dtype=np.int32), GROUPS),
        constant(60, np.int64, n),
        constant(30, np.int64, n),
        constant(0, np.int64, n),
        constant(0, np.uint8, n),
        constant(-1, np.int32, n),
    )
    groups = tuple(
        GroupSnapshot("prod", f"group-{g:05d}", GroupType.CLASSIC, "Empty", 1, None, None, (), (), 0)
        for g in range(GROUPS)
    )
    topics = {"orders": Topic("orders", None, PARTITIONS)}
    snapshot = ClusterSnapshot("prod", "id", 1, 0, 0.1, True, BROKERS, 1, groups, topics, table)
    columns = GroupColumns(
        np.full(GROUPS, STATUS_CODE[Status.NO_MEMBERS], np.int8),
        np.full(GROUPS, np.nan),
        np.full(GROUPS, np.nan),
        np.zeros(GROUPS, np.int64),
        OnsetColumns.none(GROUPS),
    )
    times_ms = np.zeros(1, np.int64)
    window = Window(times_ms, table.end, (table.committed,), (ends.log_start,), (ends.log_end,))
    none = PartitionHealths(np.empty(0, np.uint8), list[PartitionHealth]().__getitem__)
    health = Health(snapshot, times_ms, (), lambda _: none, columns=columns)
    return Polled("prod", Report(snapshot, health, window), CollectorStatus(10.0, polls=1), 0)


def test_ten_million_partitions_of_groups_are_served_within_the_limit_and_in_bounded_memory() -> None:
    polled = bomb()
    tracemalloc.start()
    exposition = samples(polled, names=NAME_SETS, max_series=LIMIT)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    of_groups_and_topics = [line for line in exposition if re.search("group|topic", line.partition("{")[2])]
    assert 0.5 * LIMIT < len(of_groups_and_topics) <= LIMIT
    assert peak < 200_000_000
    assert len(of_family(exposition, "groupscope_group_partitions")) < GROUPS


def test_granularity_of_groups_serves_every_group_of_the_ten_million_partitions() -> None:
    exposition = text(bomb(), max_series=11 * GROUPS, granularity=Granularity.GROUP)
    assert len(of_family(exposition.splitlines(), LAG)) == GROUPS
    assert left_out(exposition, "groups") == {"group": 0}
