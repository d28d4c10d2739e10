"""The Topics page: who reads what, who is behind, and one topic partition by partition."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.ui import state, verdicts
from app.ui.groups.deletion import REASONS
from app.ui.verdicts import RANK
from app.views.topics import tables, text, topic_tables
from lag.model import FOREVER, ClusterSnapshot
from lag.offsets import PartitionProblem
from lag.verdict.catalogue import VERDICTS
from lag.verdict.judge import judge
from lag.verdict.window.sample_window import SampleRing, Window
from lag.verdict.window.time_to_loss import NoTime
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import alt, figure, page_text, table
from tests.lag.make import End, cluster, deleted, end, failed, group
from tests.support.known import known


def test_the_slowest_reader_is_the_conclusion(open_page: Open) -> None:
    page = open_page("topics")
    assert not page.exception
    assert page.title[0].value == "`billing-settlement` is furthest behind: 1,181,855 records on `billing.events`"
    assert "13 topics, 1 of them deleted" in page_text(page)


def test_each_topic_has_its_groups_lag_and_size(open_page: Open) -> None:
    frame = table(open_page("topics"), "by urgency").set_index("topic")
    assert frame.loc["payments", "groups"] == 2
    assert frame.loc["payments", "urgent_group"] == "fraud-scoring-v2"
    assert frame.loc["payments", "urgent_lag"] == 318_396
    assert frame.loc["tx.events", "records"] == 12_500
    assert frame.loc["payments", "produce"] == 480.0
    assert frame.loc["returns.v1", "v"] == ["○ Deleted"]
    assert pd.isna(frame.loc["billing.events", "records"])


def test_text_filter_from_the_url(open_page: Open) -> None:
    frame = table(open_page("topics", topics_q="AUDIT"), "by urgency")
    assert sorted(frame["topic"]) == ["audit.a", "audit.b"]


def test_one_topic_lists_its_groups_and_their_lag_per_partition(open_page: Open) -> None:
    page = open_page("topics", topic="orders")
    assert not page.exception
    assert page.title[0].value.startswith("`orders-enrichment` is losing records of `orders`")
    readers = table(page, "Groups that read").set_index("group")
    assert readers.loc["orders-enrichment", "lost"] == 2_400
    matrix = table(page, "with offsets").set_index("partition")
    assert matrix.loc[1, "lag: orders-enrichment"] == 10_999
    order = [name.partition(":")[0] for name in matrix.columns]
    assert order == [*["lag"] * order.count("lag"), "leader", "log_start", "log_end"]
    assert len(matrix) == 12


def test_a_leaderless_topic_comes_first_and_says_which_partition(open_page: Open, feed: feeds.HandFeed) -> None:
    rows = list(synthetic.rows("t", [9, 9], [1, 1], 1))
    rows[1] = synthetic.Row("t", 1, 8, None, 0, problem=PartitionProblem.LEADERLESS)
    odd = [synthetic.Spec("g", tuple(rows), synthetic.members(1))]
    feed.report = feeds.report(odd, at_ms=state.now_ms())
    assert open_page("topics").title[0].value == "1 of 1 topic has partitions without a leader: `t`"
    page = open_page("topics", topic="t")
    assert page.title[0].value == "`t` has 1 partition without a leader"
    assert pd.isna(table(page, "with offsets").set_index("partition").loc[1, "log_end"])


def test_a_deleted_topic_names_who_still_keeps_commits(open_page: Open) -> None:
    page = open_page("topics", topic="returns.v1")
    assert page.title[0].value.startswith("`returns.v1` does not exist, but 1 group ")


def test_an_unknown_topic_is_reported_as_unknown(open_page: Open) -> None:
    page = open_page("topics", topic="nope")
    assert not page.exception
    assert page.title[0].value == "`nope` does not exist"


@pytest.mark.parametrize(
    ("retention_ms", "reported"),
    [(604_800_000, "retention 7 days"), (-1, "no time-based retention"), (None, "retention unknown")],
)
def test_retention_of_a_topic(open_page: Open, feed: feeds.HandFeed, retention_ms: int | None, reported: str) -> None:
    topics = feed.report.snapshot.topics
    topics["orders"] = replace(topics["orders"], retention_ms=retention_ms)
    assert reported in page_text(open_page("topics", topic="orders"))


def test_readers_are_counted_from_the_offset_table_columns() -> None:
    specs = synthetic.specs()
    snapshot = synthetic.snapshot(specs)
    found = tables.readers(snapshot, synthetic.health(specs, snapshot), synthetic.window(specs, snapshot))
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
    why = "the last poll did not read the log end of 1 of 2 partitions"
    assert frame.loc["t", "produce_why"] == why
    assert frame.loc["t", "note"] == f"produce rate unknown: {why}"
    assert frame.loc["gone", "note"].startswith("deleted")


def test_a_partition_that_only_the_last_poll_has_read_is_the_reason_for_no_produce_rate() -> None:
    frame = built(cluster({}, {"t-0": end(9), "t-1": end(9)}), {"t": [(4, 9), (-1, 9)]})
    why = "two polls at least 5 s apart have not yet read the log end of 1 of 2 partitions"
    assert (pd.isna(frame.loc["t", "produce"]), frame.loc["t", "produce_why"]) == (True, why)


def test_the_first_poll_says_why_there_is_no_produce_rate(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = feeds.report(at_ms=state.now_ms(), samples=1)
    page = open_page("topics", topic="orders")
    assert "produce rate unknown: two polls are needed" in page_text(page)


def test_records_of_a_topic_are_not_known_when_those_of_a_partition_are_not() -> None:
    ends = {"a-0": end(9, start=2), "b-0": end(30, start=10), "b-1": end(8), "c-0": end(5), "c-1": failed()}
    frame = built(cluster({}, ends), {"a": [(9, 9)], "b": [(30, 30), (8, 8)], "c": [(5, 5), (-1, -1)]})
    assert frame["records"].dropna().to_dict() == {"a": 7, "b": 28}


def built(snapshot: ClusterSnapshot, log_ends: Mapping[str, Sequence[tuple[int, int]]]) -> pd.DataFrame:
    """The table of all topics; `log_ends` per topic the ends of its partitions 10 s before the snapshot and in it."""
    columns = zip(*(pair for topic in sorted(log_ends) for pair in log_ends[topic]), strict=True)
    times, offsets = np.array([0, 10_000]), snapshot.offsets
    starts, log_ends_seen = offsets.ends.log_start, tuple(np.array(column) for column in columns)
    seen = Window(times, offsets.end, (offsets.committed,) * 2, (starts, starts), log_ends_seen)
    by_topic = tables.readers(snapshot, judge(snapshot, SampleRing().append(snapshot)), seen)
    return tables.build(snapshot, by_topic, seen).set_index("topic")


@pytest.mark.parametrize(
    ("committed", "verdict"), [({"t-0": None}, "◁ Never committed"), ({"t-0": 90}, "▷ Beyond the end")]
)
def test_a_topic_has_the_verdict_of_its_only_group_without_lag(committed: dict[str, int | None], verdict: str) -> None:
    snapshot = cluster({"g": group(committed)}, {"t-0": end(9)})
    frame = built(snapshot, {"t": [(9, 9)]})
    assert (frame.loc["t", "urgent_group"], frame.loc["t", "urgent_status"]) == ("g", verdict)
    window = SampleRing().append(snapshot)
    readers = topic_tables.view(snapshot, judge(snapshot, window), window, "t").readers
    reported = text.all_topics(frame.reset_index()), text.one_topic("t", snapshot.topics["t"], readers, readers[:0])
    assert all(f"unknown: {verdict[2:]}" in one and "behind" not in one for one in reported)


def test_a_topic_whose_groups_have_no_lag_says_so() -> None:
    snapshot = cluster({"g": group({"t-0": 9})}, {"t-0": end(9)})
    window = SampleRing().append(snapshot)
    readers = topic_tables.view(snapshot, judge(snapshot, window), window, "t").readers
    assert "no group is behind" in text.all_topics(built(snapshot, {"t": [(9, 9)]}).reset_index())
    assert "none behind" in text.one_topic("t", snapshot.topics["t"], readers, readers[:0])


def test_verdict_and_lag_are_those_of_the_most_urgent_group_and_the_slowest_is_noted() -> None:
    groups = {"slow": group({"t-0": 1}), "early": group({"t-0": None, "t-1": 4})}
    row = built(cluster(groups, {"t-0": end(9), "t-1": end(9)}), {"t": [(9, 9), (9, 9)]}).loc["t"]
    assert (row["urgent_group"], row["urgent_status"], row["urgent_lag"]) == ("early", "◁ Never committed", 5)
    assert (row["worst_group"], row["worst_lag"], row["lag"]) == ("slow", 8, 13)
    assert row["note"] == "furthest behind: slow, 8 records"


def test_of_groups_with_one_verdict_the_slowest_counts() -> None:
    groups = {"a": group({"t-0": 8}), "b": group({"t-0": 2}), "c": group({"t-0": 5})}
    row = built(cluster(groups, {"t-0": end(9)}), {"t": [(9, 9)]}).loc["t"]
    assert (row["urgent_group"], row["urgent_status"], row["urgent_lag"], row["note"]) == ("b", "◌ Unknown", 7, "")


def test_every_row_has_the_verdict_and_lag_of_the_group_it_names(open_page: Open, feed: feeds.HandFeed) -> None:
    snapshot, health = feed.report.snapshot, feed.report.health
    frame = table(open_page("topics"), "by urgency")
    for row in frame.to_dict("records"):
        status = health.groups[snapshot.by_group[row["urgent_group"]]].finding.status
        lags = [
            r.lag_records for r in known(snapshot.group(row["urgent_group"])).partitions if r.tp.topic == row["topic"]
        ]
        assert row["w"] == [VERDICTS[status].label]
        assert [row["urgent_lag"]] == [sum(lag for lag in lags if lag is not None)] or set(lags) == {None}
    by_rank = [RANK[health.groups[snapshot.by_group[name]].finding.status] for name in frame["urgent_group"][:-1]]
    assert by_rank == sorted(by_rank)


Polls = Sequence[tuple[Mapping[str, Mapping[str, int | None]], Mapping[str, End]]]
HOUR_MS = 3_600_000


def row_after(polls: Polls, retention_ms: int | None = HOUR_MS) -> pd.Series:
    """The row of the topic t after those polls (groups, ends), 10 s apart."""
    ring = SampleRing()
    for number, (groups, ends) in enumerate(polls):
        of = {name: group(commits) for name, commits in groups.items()}
        snapshot = cluster(of, ends, number + 1, number * 10_000)
        window = ring.append(snapshot)
    topics = {name: replace(topic, retention_ms=retention_ms) for name, topic in snapshot.topics.items()}
    snapshot = replace(snapshot, topics=topics)
    health = judge(snapshot, window)
    detail = topic_tables.view(snapshot, health, window, "t").readers
    row = tables.build(snapshot, tables.readers(snapshot, health, window), window).query("topic == 't'").iloc[0]
    unread = detail[(detail["lag"].fillna(0) > 0) & np.isfinite(detail["left_s"])]
    if pd.notna(row["deleted_in_s"]):
        assert row["deleted_in_s"] == unread["left_s"].min()  # as the page of the topic says
    return row


def growing(commits: Mapping[str, Mapping[str, int | None]]) -> Polls:
    """Four polls: partitions 0 and 1 have 100, 110, 120, 130 records, and the groups stand still."""
    return [(commits, {f"t-{p}": end(100 + 10 * n) for p in range(2)}) for n in range(4)]


def test_deletion_counts_down_for_the_group_with_the_least_time() -> None:
    row = row_after(growing({"a": {"t-0": 120, "t-1": 130}, "b": {"t-0": 130, "t-1": 105}, "c": {"t-0": 130}}))
    assert (row["deleted_in_s"], row["deleted_in_group"], row["deleted_in_why"]) == (3600.0 - 25, "b", "")


def test_a_deletion_that_is_far_is_not_noted() -> None:
    row = row_after(growing({"a": {"t-0": None, "t-1": 130}, "b": {"t-0": 130, "t-1": 105}}), 2 * HOUR_MS)
    assert (row["urgent_group"], row["deleted_in_group"]) == ("a", "b")
    assert "first to lose" not in row["note"]


def test_a_group_that_loses_records_before_the_most_urgent_one_is_noted() -> None:
    row = row_after(growing({"a": {"t-0": None, "t-1": 130}, "b": {"t-0": 130, "t-1": 105}}))
    assert (row["urgent_group"], row["deleted_in_s"]) == ("a", 3600.0 - 25)
    assert "first to lose unread records: b" in row["note"]


def test_records_that_are_deleted_unread_leave_no_time() -> None:
    polls = [({"g": {"t-0": 5}}, {"t-0": end(130, start=10)}) for _ in range(4)]
    assert row_after(polls, HOUR_MS)["deleted_in_s"] == 0.0
    assert np.isnan(row_after(polls, None)["deleted_in_s"])  # nothing shows that more are deleted


@pytest.mark.parametrize(
    ("commits", "retention_ms", "why"),
    [
        ({}, HOUR_MS, "no group reads it"),
        ({"g": {"t-0": 130, "t-1": 130}}, HOUR_MS, "no unread records"),
        ({"g": {"t-0": 130, "t-1": None}}, HOUR_MS, verdicts.problem(PartitionProblem.NO_COMMIT)),
        ({"g": {"t-0": 120}}, None, "retention.ms is unknown"),
        ({"g": {"t-0": 120}}, FOREVER, "no deletion by age"),
        ({"g": {"t-0": 120, "t-1": 90}}, HOUR_MS, "at most 59 min 30 s on t-1"),
    ],
)
def test_without_a_time_until_deletion_there_is_a_reason(
    commits: Mapping[str, Mapping[str, int | None]], retention_ms: int | None, why: str
) -> None:
    row = row_after(growing(commits), retention_ms)
    assert pd.isna(row["deleted_in_s"])
    assert why in row["deleted_in_why"]


def test_a_group_faster_than_deletion_has_no_countdown() -> None:
    polls = [({"g": {"t-0": 500 + 50 * n}}, {"t-0": end(900, start=10 * n)}) for n in range(4)]
    row = row_after(polls, FOREVER)
    assert (pd.isna(row["deleted_in_s"]), row["deleted_in_why"]) == (True, REASONS[NoTime.NEVER_REACHED])


def test_the_map_has_a_row_for_every_group_and_a_tile_for_every_topic_it_reads(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    page = open_page("topics")
    drawn = figure(page, "who_reads_what")
    labels, topics = drawn["layout"]["yaxis"]["ticktext"], drawn["layout"]["xaxis"]["ticktext"]
    assert labels[:2] == ["■ fraud-scoring-v2", "□ billing-settlement"]
    hovers = drawn["data"][0]["customdata"]
    (hover,) = [one for one in hovers[0] if one]
    assert hover == "fraud-scoring-v2<br>■ Stopped · 318,396 records behind"
    assert topics[hovers[0].index(hover)] == "payments"
    reads = sum(
        len(found) for found in tables.readers(feed.report.snapshot, feed.report.health, feed.report.window).values()
    )
    assert sum(bool(one) for row in hovers for one in row) == reads
    assert "8 need attention: fraud-scoring-v2, billing-settlement" in alt(page, "who_reads_what")


def test_for_a_narrow_window_the_map_is_also_a_list(open_page: Open) -> None:
    page = open_page("topics")
    assert page.get("plotly_chart")
    assert list(table(page, "pairs of group and topic").iloc[0]) == ["■ fraud-scoring-v2", "payments", 318_396]


def test_on_a_phone_the_map_is_a_list(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "is_phone", lambda: True)
    page = open_page("topics")
    assert not page.exception
    assert not page.get("plotly_chart")
    assert list(table(page, "pairs of group and topic").iloc[0]) == ["■ fraud-scoring-v2", "payments", 318_396]


def test_a_map_beyond_its_limits_is_left_out_and_says_so(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = feeds.report(synthetic.many(61), at_ms=state.now_ms())
    assert "61 groups" in page_text(open_page("topics"))
    assert not open_page("topics").get("plotly_chart")
    assert len(figure(open_page("topics", topics_q="topic-0"), "who_reads_what")["layout"]["yaxis"]["ticktext"]) == 7
