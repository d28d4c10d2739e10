"""One topic: how long until deletion reaches what its groups have not read, and what is shown when they are many."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.ui import state, verdicts
from app.ui.table_limits import MAX_LAG_COLUMNS
from app.views.topics import text, topic_tables
from app.views.topics.topic_tables import TopicView
from lag.model import FOREVER
from lag.offsets import PartitionProblem
from lag.polling.report import Report
from lag.verdict.judge import judge
from lag.verdict.window.sample_window import SampleRing
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import page_text, table
from tests.lag.make import End, cluster, deleted, end, failed, group

HOUR_MS = 3_600_000
Polls = Sequence[tuple[Mapping[str, Mapping[str, int | None]], Mapping[str, End]]]


def viewed(polls: Polls, retention_ms: int | None = HOUR_MS, topic: str = "t") -> TopicView:
    """The view of the topic after those polls (groups, ends), 10 s apart."""
    trend = SampleRing()
    for number, (groups, ends) in enumerate(polls):
        snapshot = cluster(
            {name: group(commits) for name, commits in groups.items()}, ends, number + 1, number * 10_000
        )
        window = trend.append(snapshot)
    if topic in snapshot.topics:
        changed = replace(snapshot.topics[topic], retention_ms=retention_ms)
        snapshot = replace(snapshot, topics={**snapshot.topics, topic: changed})
    return topic_tables.view(snapshot, judge(snapshot, window), window, topic)


def reader(polls: Polls, name: str = "g", **rest: Any) -> tuple[float | None, str]:
    """(seconds left, where) of a group."""
    row = viewed(polls, **rest).readers.set_index("group").loc[name]
    return (None if np.isnan(row["left_s"]) else float(row["left_s"]), str(row["where"]))


def growing(commits: Mapping[str, int | None], partitions: int = 1) -> Polls:
    """Four polls: partition p has 100, 110, 120, 130 records, and the group stands still."""
    return [({"g": commits}, {f"t-{p}": end(100 + 10 * n) for p in range(partitions)}) for n in range(4)]


def test_the_worst_partition_counts_and_is_named() -> None:
    assert reader(growing({"t-0": 120, "t-1": 105, "t-2": 130}, 3)) == (3600.0 - 25, "partition 1")


def test_partitions_that_are_not_known_are_counted() -> None:
    assert reader(growing({"t-0": 120, "t-1": 125, "t-2": None}, 3)) == (3590.0, "partition 0; unknown for 1 of 3")


def test_a_record_older_than_our_polls_has_at_most_what_is_left() -> None:
    seconds, why = reader(growing({"t-0": 120, "t-1": 90}, 2))
    assert seconds is None
    assert "at most 59 min 30 s on partition 1" in why
    assert viewed(growing({"t-0": 120, "t-1": 90}, 2)).readers["at_most_s"].tolist() == [3570.0]


def test_a_lost_record_is_gone_already() -> None:
    polls = [(commits, {"t-0": end(130, start=10)}) for commits, _ in growing({"t-0": 5})]
    assert reader(polls) == (0.0, "partition 0: unread records are deleted")


def test_what_has_outlived_its_retention_may_go_at_any_moment() -> None:
    assert reader(growing({"t-0": 90}), retention_ms=30_000) == (0.0, "partition 0: deletion possible at any time")


def test_a_group_faster_than_deletion_is_not_reached() -> None:
    polls = [({"g": {"t-0": 500 + 50 * n}}, {"t-0": end(900, start=10 * n)}) for n in range(4)]
    assert reader(polls, retention_ms=FOREVER)[0] == np.inf


@pytest.mark.parametrize(("retention_ms", "why"), [(FOREVER, "no deletion by age"), (None, "retention.ms is unknown")])
def test_a_countdown_that_is_not_known_has_its_reason(retention_ms: Any, why: str) -> None:
    assert reader(growing({"t-0": 120}), retention_ms=retention_ms) == (None, why)


def test_a_lag_that_is_not_known_is_the_reason() -> None:
    no_leader = verdicts.problem(PartitionProblem.LEADERLESS)
    assert reader([({"g": {"t-0": 5}}, {"t-0": failed(), "t-1": end(3)})]) == (None, no_leader)
    gone = verdicts.problem(PartitionProblem.TOPIC_DELETED)
    assert reader([({"g": {"t-0": 5}}, {"t-0": deleted()})]) == (None, gone)


def test_each_group_has_its_own_numbers_most_urgent_first() -> None:
    """`b` has lost records; `a` and `c` read only; `d` reads another topic."""
    ends = [{"t-0": end(100 + 10 * n, start=40), "t-1": end(60, start=10), "u-0": end(5)} for n in range(4)]
    commits = {"a": {"t-0": 115}, "b": {"t-0": 30, "t-1": 20}, "c": {"t-1": 60}, "d": {"u-0": 1}}
    frame = viewed([(commits, e) for e in ends]).readers
    assert frame["group"].tolist() == ["b", "a", "c"]
    assert frame["lag"].tolist() == [90 + 40, 15, 0]
    assert frame["known"].tolist() == ["all 2", "all 1", "all 1"]
    assert frame["lost"].tolist() == [10, 0, 0]
    assert frame["lead"].tolist() == [0.0, 75 / 90 * 100, 100.0]
    assert frame["left_s"].tolist() == [0.0, 3600.0 - 15, 3600.0]


def test_a_topic_without_readers_or_unknown_has_an_empty_view() -> None:
    for topic in ("t", "nope"):
        view = viewed([({}, {"t-0": end(5)})], topic=topic)
        assert (len(view.readers), len(view.partitions)) == (0, int(topic == "t"))
        assert topic_tables.with_lags(view, []).columns.tolist()[:2] == ["partition", "leader"]


def test_lags_are_put_beside_the_partitions_for_the_groups_asked_for() -> None:
    commits: dict[str, dict[str, int | None]] = {
        "a": {"t-0": 70, "t-2": 5},
        "b": {"t-1": None, "t-2": 9},
        "c": {"t-0": 1},
    }
    view = viewed([(commits, {f"t-{p}": end(100 + p) for p in range(3)} | {"u-0": end(1)})])
    frame = topic_tables.with_lags(view, ["b", "a"])
    assert [c for c in frame.columns if c.startswith("lag: ")] == ["lag: b", "lag: a"]
    assert [None if pd.isna(lag) else lag for lag in frame["lag: a"]] == [30, None, 97]
    assert [None if pd.isna(lag) else lag for lag in frame["lag: b"]] == [None, None, 93]
    assert frame["log_end"].tolist() == [100, 101, 102]


def soon(
    left_s: float, lag: int = 10, drain_s: float = np.nan, lost: int = 0, at_most_s: float = np.nan
) -> dict[str, Any]:
    name = f"g{left_s:.0f}"
    return {"group": name, "left_s": left_s, "at_most_s": at_most_s, "lag": lag, "drain_s": drain_s, "lost": lost}


@pytest.mark.parametrize(
    ("rows", "reported"),
    [
        ([soon(2461)], "`g2461` is about to lose records of `t`: retention may delete unread ones in 41 min 1 s"),
        (
            [soon(7000), soon(900), soon(60)],
            "`g60` is about to lose records of `t`: retention may delete unread ones in 1 min; "
            "1 more group within the hour",
        ),
        (
            [soon(900), soon(np.nan, at_most_s=700)],
            "`gnan` is about to lose records of `t`: retention may delete unread ones within 11 min 40 s; "
            "1 more group within the hour",
        ),
        ([soon(0)], "`g0` is about to lose records of `t`: retention may delete unread ones at any time"),
        ([soon(0, lost=3)], "`g0` is losing records of `t`: Kafka deletes them unread"),
    ],
)
def test_less_than_an_hour_left_is_the_conclusion(rows: Any, reported: str) -> None:
    assert text.losing("`t`", topic_tables.soon(pd.DataFrame(rows))) == reported


FAR = soon(np.nan, at_most_s=3601)


@pytest.mark.parametrize("row", [soon(3601), soon(np.nan), soon(np.inf), soon(60, lag=0), soon(60, drain_s=59), FAR])
def test_what_is_far_or_drained_in_time_is_no_conclusion(row: Any) -> None:
    assert topic_tables.soon(pd.DataFrame([row])).empty


def one_topic(groups: int, partitions: int = 3, **rest: Any) -> Report:
    """Groups that all read `t`, g0 with most lag; retention one hour, or as `rest` says."""
    specs = [
        synthetic.Spec(f"g{i:03}", synthetic.rows("t", [9_000] * partitions, [1 + groups - i] * partitions, 0))
        for i in range(groups)
    ]
    made: Report = feeds.report(specs, at_ms=state.now_ms(), **rest)
    return made


def test_the_page_counts_down_and_says_where(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = one_topic(2)
    feed.report.snapshot.topics["t"] = replace(feed.report.snapshot.topics["t"], retention_ms=600_000)
    feed.report.health.groups[0] = replace(feed.report.health.groups[0], drain_s=np.inf)
    feed.report.health.groups[1] = replace(feed.report.health.groups[1], drain_s=1.0)
    page = open_page("topics", topic="t")
    assert not page.exception
    left = "`g000` is about to lose records of `t`: retention may delete unread ones in 10 min"
    assert page.title[0].value == left
    readers = table(page, "Groups that read").set_index("group")
    assert readers.loc["g000", "left"] == pd.Timedelta(seconds=599)
    assert readers.loc["g000", "where"] == "partition 0"


def test_partitions_show_the_most_urgent_groups_and_say_how_many_are_not_shown(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    feed.report = one_topic(30)
    page = open_page("topics", topic="t")
    lags = [c for c in table(page, "with offsets").columns if c.startswith("lag: ")]
    assert lags == [f"lag: g{i:03}" for i in range(MAX_LAG_COLUMNS)]
    assert len(table(page, "Groups that read")) == 30
    assert f"{MAX_LAG_COLUMNS} most urgent of 30 groups" in page_text(page)


def test_a_text_filter_over_the_groups_leads_to_all_of_them(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = one_topic(30)
    page = open_page("topics", topic="t", readers_q="G029")
    assert table(page, "Groups that read")["group"].tolist() == ["g029"]
    assert [c for c in table(page, "with offsets").columns if c.startswith("lag: ")] == ["lag: g029"]
    assert "most urgent of" not in page_text(page)
    assert "No group passes" in page_text(open_page("topics", topic="t", readers_q="nobody"))


def test_partitions_beyond_the_limit_are_counted(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = one_topic(1, 5_003)
    page = open_page("topics", topic="t")
    assert len(table(page, "with offsets")) == 5_000
    assert "The first 5,000 of 5,003 partitions" in page_text(page)


def test_groups_beyond_the_limit_are_counted(
    open_page: Open, feed: feeds.HandFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.topics.one_topic.MAX_ROWS", 4)
    feed.report = one_topic(6)
    page = open_page("topics", topic="t")
    assert table(page, "Groups that read")["group"].tolist() == ["g000", "g001", "g002", "g003"]
    assert "The first 4 of 6 groups" in page_text(page)


def test_the_groups_of_a_topic_can_be_downloaded(open_page: Open) -> None:
    page = open_page("topics", topic="orders")
    assert {"readers_csv", "readers_json", "topic_csv", "topic_json"} <= {b.key for b in page.get("download_button")}


def test_a_topic_is_viewed_once_per_snapshot(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = topic_tables.view

    def counted(*arguments: Any) -> TopicView:
        made.append(1)
        return real(*arguments)

    monkeypatch.setattr(topic_tables, "view", counted)
    page = open_page("topics", topic="orders")
    page.run()
    assert made == [1]
