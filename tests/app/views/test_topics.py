"""The Topics page: who reads what, who is behind, and one topic partition by partition."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.ui import state
from app.views.topics import tables
from lag.model import ClusterSnapshot
from lag.offsets import PartitionProblem
from lag.verdict.judge import judge
from lag.verdict.sample_window import SampleRing, Window
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import said, table
from tests.lag.make import cluster, deleted, end, failed, group
from tests.support.known import known


def test_the_slowest_reader_is_the_conclusion(open_page: Open) -> None:
    page = open_page("topics")
    assert not page.exception
    assert page.header[0].value == "`billing-settlement` is furthest behind: 1,181,855 records on `billing.events`"
    assert "13 topics, 1 of them deleted" in said(page)


def test_each_topic_has_its_groups_lag_and_size(open_page: Open) -> None:
    frame = table(open_page("topics"), "highest lag").set_index("topic")
    assert frame.loc["payments", "groups"] == 2
    assert frame.loc["payments", "worst_group"] == "fraud-scoring-v2"
    assert frame.loc["payments", "worst_lag"] == 318_396
    assert frame.loc["tx.events", "records"] == 12_500
    assert frame.loc["payments", "produce"] == 480.0
    assert frame.loc["returns.v1", "v"] == ["○ Deleted"]
    assert pd.isna(frame.loc["billing.events", "records"])


def test_text_filter_from_the_url(open_page: Open) -> None:
    frame = table(open_page("topics", topics_q="AUDIT"), "highest lag")
    assert sorted(frame["topic"]) == ["audit.a", "audit.b"]


def test_one_topic_lists_its_groups_and_their_lag_per_partition(open_page: Open) -> None:
    page = open_page("topics", topic="orders")
    assert not page.exception
    assert page.header[0].value == "`orders` is read by 9 groups; `orders-enrichment` is 29,999 records behind"
    readers = table(page, "Groups that read").set_index("group")
    assert readers.loc["orders-enrichment", "lost"] == 2_400
    matrix = table(page, "with offsets").set_index("partition")
    assert matrix.loc[1, "lag: orders-enrichment"] == 10_999
    assert len(matrix) == 12


def test_a_leaderless_topic_comes_first_and_says_which_partition(open_page: Open, feed: feeds.HandFeed) -> None:
    rows = list(synthetic.rows("t", [9, 9], [1, 1], 1))
    rows[1] = synthetic.Row("t", 1, 8, None, 0, problem=PartitionProblem.LEADERLESS)
    odd = [synthetic.Spec("g", tuple(rows), synthetic.members(1))]
    feed.report = feeds.report(odd, at_ms=state.now_ms())
    assert open_page("topics").header[0].value == "1 of 1 topic has partitions without a leader: `t`"
    page = open_page("topics", topic="t")
    assert page.header[0].value == "`t` has 1 partition without a leader"
    assert pd.isna(table(page, "with offsets").set_index("partition").loc[1, "log_end"])


def test_a_deleted_topic_names_who_still_keeps_commits(open_page: Open) -> None:
    page = open_page("topics", topic="returns.v1")
    assert page.header[0].value.startswith("`returns.v1` does not exist, but 1 group ")


def test_an_unknown_topic_is_said_to_be_unknown(open_page: Open) -> None:
    page = open_page("topics", topic="nope")
    assert not page.exception
    assert page.header[0].value == "`nope` does not exist"


@pytest.mark.parametrize(
    ("retention_ms", "told"),
    [(604_800_000, "retention 7 days"), (-1, "unlimited retention"), (None, "retention unknown")],
)
def test_retention_of_a_topic(open_page: Open, feed: feeds.HandFeed, retention_ms: int | None, told: str) -> None:
    topics = feed.report.snapshot.topics
    topics["orders"] = replace(topics["orders"], retention_ms=retention_ms)
    assert told in said(open_page("topics", topic="orders"))


def test_readers_are_counted_from_the_offset_table_columns() -> None:
    specs = synthetic.specs()
    snapshot = synthetic.snapshot(specs)
    found = tables.readers(snapshot, synthetic.health(specs, snapshot))
    for topic, those in found.items():
        for reader in those:
            rows = [r for r in known(snapshot.group(reader.group)).partitions if r.tp.topic == topic]
            lags = [r.lag_records for r in rows if r.lag_records is not None]
            assert (reader.partitions, reader.known) == (len(rows), len(lags))
            assert reader.lag == (sum(lags) if lags else None)


def test_a_topic_that_no_group_reads_has_a_produce_rate() -> None:
    snapshot = cluster({"g": group({"read-0": 1})}, {"read-0": end(9), "unread-0": end(500), "unread-1": end(80)})
    frame = built(snapshot, {"read": [(9, 9)], "unread": [(200, 500), (60, 80)]})
    assert list(frame.loc["unread"][["produce", "groups", "note"]]) == [32.0, 0, ""]
    assert frame.loc["read", "produce"] == 0.0


def test_a_produce_rate_that_is_not_known_has_its_reason() -> None:
    ends = {"t-0": end(9), "t-1": failed(), "gone-0": deleted()}
    snapshot = cluster({"g": group({"gone-0": 3})}, ends)
    frame = built(snapshot, {"gone": [(-1, -1)], "t": [(4, 9), (-1, -1)]})
    assert pd.isna(frame.loc["t", "produce"])
    told = "fewer than two polls have read the log end of 1 of 2 partitions"
    assert frame.loc["t", "produce_why"] == told
    assert frame.loc["t", "note"] == f"produce rate unknown: {told}"
    assert frame.loc["gone", "note"].startswith("deleted")


def test_the_first_poll_says_why_there_is_no_produce_rate(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = feeds.report(at_ms=state.now_ms(), samples=1)
    page = open_page("topics", topic="orders")
    assert "produce rate unknown: two polls are needed" in said(page)


def test_records_of_a_topic_are_not_known_when_those_of_a_partition_are_not() -> None:
    ends = {"a-0": end(9, start=2), "b-0": end(30, start=10), "b-1": end(8), "c-0": end(5), "c-1": failed()}
    frame = built(cluster({}, ends), {"a": [(9, 9)], "b": [(30, 30), (8, 8)], "c": [(5, 5), (-1, -1)]})
    assert frame["records"].dropna().to_dict() == {"a": 7, "b": 28}


def built(snapshot: ClusterSnapshot, log_ends: Mapping[str, Sequence[tuple[int, int]]]) -> pd.DataFrame:
    """The table of all topics; `log_ends` per topic the ends of its partitions 10 s before the snapshot and in it."""
    columns = zip(*(pair for topic in sorted(log_ends) for pair in log_ends[topic]), strict=True)
    times, starts = np.array([0, 10_000]), snapshot.offsets.ends.log_start
    seen = Window(times, snapshot.offsets.end, (), (starts, starts), tuple(np.array(column) for column in columns))
    return tables.build(snapshot, judge(snapshot, SampleRing().append(snapshot)), seen).set_index("topic")


@pytest.mark.parametrize(
    ("committed", "verdict"), [({"t-0": None}, "◁ Never committed"), ({"t-0": 90}, "▷ Beyond the end")]
)
def test_a_topic_has_the_verdict_of_its_only_group_without_lag(committed: dict[str, int | None], verdict: str) -> None:
    frame = built(cluster({"g": group(committed)}, {"t-0": end(9)}), {"t": [(9, 9)]})
    assert (frame.loc["t", "urgent_group"], frame.loc["t", "urgent_status"]) == ("g", verdict)


def test_the_most_urgent_group_is_noted_where_it_is_not_the_slowest() -> None:
    groups = {"slow": group({"t-0": 1}), "early": group({"t-0": None})}
    frame = built(cluster(groups, {"t-0": end(9)}), {"t": [(9, 9)]})
    assert (frame.loc["t", "worst_group"], frame.loc["t", "note"]) == ("slow", "never committed: early")
