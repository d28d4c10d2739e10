"""The Overview: what it concludes, shows, filters, and says when something fails."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from app.ui import downloads, state, verdicts
from app.ui.formats import drain
from app.ui.group_table import build_group_table
from app.ui.groups.deletion import of_groups, two_units
from app.ui.groups.headlines import SOURCES, clock
from app.views.overview import tables
from lag.cluster.requests.error_codes import group_problem
from lag.errors import AddressError
from lag.merged_problems import of_topics
from lag.model import Remainder
from lag.verdict.catalogue import VERDICTS
from lag.verdict.judge import judge
from lag.verdict.onset import OnsetSource
from lag.verdict.rules.status_rules import REMAINDERS
from lag.verdict.status import Status
from lag.verdict.window.sample_window import SampleRing
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import asked, page_text
from tests.lag.make import cluster, end, group


def groups(page: AppTest) -> list[str]:
    return list(page.dataframe[0].value["group"])


def test_the_worst_group_is_the_conclusion(open_page: Open) -> None:
    page = open_page()
    assert not page.exception
    worst = r"`fraud-scoring-v2` has lag and has not committed since .*\d\d:\d\d.* \(15 min\)"
    assert re.match(f"8 of 30 groups need attention: {worst}", page.title[0].value)


def test_coverage_and_pace_stand_in_the_second_line(open_page: Open) -> None:
    line = page_text(open_page())
    assert "lag known for 308 of 323 partitions" in line  # those of the 12 of our own reader do not count
    assert "polled every 10 s" in line


def test_the_page_says_which_verdicts_need_attention(open_page: Open) -> None:
    assert "Groups from Stopped to Held, the most urgent first, need attention" in page_text(open_page("overview"))


def test_groups_are_sorted_by_urgency(open_page: Open) -> None:
    names = groups(open_page())
    assert names[:4] == ["fraud-scoring-v2", "billing-settlement", "orders-enrichment", "recreated-topic-reader"]
    assert names.index("search-indexer") < names.index("share-thumbnailer")


def test_unknown_lag_is_empty_not_zero(open_page: Open) -> None:
    table = open_page().dataframe[0].value.set_index("group")
    assert pd.isna(table.loc["recreated-topic-reader", "lag"])
    assert pd.isna(table.loc["gdpr-erasure-worker", "lag"])
    assert table.loc["gdpr-erasure-worker", "why"] == "not authorised to describe it"


def test_our_own_groups_are_hidden_until_asked_for(open_page: Open) -> None:
    assert "groupscope-probe" not in groups(open_page())
    assert "groupscope-probe" in groups(open_page(internal="true"))


def test_verdict_chip_in_the_url_filters(open_page: Open) -> None:
    assert groups(open_page(verdict=["stalled", "held"])) == ["billing-settlement", "tx-reader"]


def test_a_chosen_verdict_stays_chosen_when_no_group_has_it(open_page: Open) -> None:
    calm = [spec for spec in synthetic.specs() if spec.group_id == "audit-pair"]
    its = feeds.source(demo=feeds.HandFeed(feeds.report(calm, at_ms=state.now_ms())))
    page = open_page(its=its, verdict="stalled")
    assert page.dataframe[0].value.empty
    assert "No group passes" in page_text(page)


def test_choosing_a_chip_writes_the_url(open_page: Open) -> None:
    page = open_page()
    pills: Any = page.get("pills")[0]
    pills.set_value(["stopped"]).run()
    assert page.query_params["verdict"] == "stopped"
    assert groups(page) == ["fraud-scoring-v2"]


def test_text_finds_groups_and_topics(open_page: Open) -> None:
    assert groups(open_page(q="BILL")) == ["billing-settlement"]
    assert set(groups(open_page(q="tx.mark"))) == {"tx-reader"}


def test_lag_and_topic_filter_from_the_url(open_page: Open) -> None:
    assert groups(open_page(lag="300000")) == ["fraud-scoring-v2", "billing-settlement", "search-indexer"]
    assert set(groups(open_page(reads="payments"))) == {"fraud-scoring-v2", "payments-ledger-writer"}


def test_markup_in_a_url_does_nothing(open_page: Open) -> None:
    page = open_page(verdict="<script>", state=":red[x]", q="**bold**")
    assert not page.exception
    assert page.dataframe[0].value.empty


def test_problems_stand_on_one_line_each(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = feeds.report(at_ms=state.now_ms(), brokers=synthetic.BROKEN_BROKER, problems=synthetic.PROBLEMS)
    lines = page_text(open_page())
    assert "did not answer within 5 s" in lines
    assert "`gdpr\\-erasure\\-worker`" not in lines
    assert "`gdpr-erasure-worker`: Grant DESCRIBE" in lines


def test_groups_that_we_may_not_describe_are_one_line_with_the_fix(open_page: Open, feed: feeds.HandFeed) -> None:
    lines = page_text(open_page())
    assert "1 group: not authorised to describe it" in lines.replace("\\", "")
    assert "`gdpr-erasure-worker`: Grant DESCRIBE on group gdpr-erasure-worker" in lines.replace("\\", "")
    feed.report = feeds.report([denied(f"g-{number:03}") for number in range(300)], 2, state.now_ms())
    lines = page_text(open_page()).replace("\\", "")
    assert "Not authorised for 300 groups" in lines
    assert "`g-000, g-001, g-002 and 297 more`: Grant DESCRIBE on these groups" in lines


def test_topics_that_we_may_not_describe_are_one_line_with_the_fix(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = feeds.report(at_ms=state.now_ms(), problems=tuple(of_topics({"pay", "tax"})))
    lines = page_text(open_page()).replace("\\", "")
    assert "Not authorised for 2 topics" in lines
    assert "`pay, tax`: Grant DESCRIBE on these topics" in lines


def denied(group_id: str) -> synthetic.Spec:
    problems = (group_problem(group_id, synthetic.GROUP_AUTHORIZATION_FAILED),)
    return synthetic.Spec(group_id, status=Status.UNKNOWN, state="Unknown", problems=problems)


def test_a_failing_poll_keeps_the_table_and_says_why(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.error = AddressError("b1:9092 refuses the connection", "Is the broker running?")
    feed.failing_since_ms = state.now_ms() - 60_000
    feed.next_poll_ms = state.now_ms() + 30_000
    page = open_page()
    assert "No new data since" in page_text(page)
    assert "refuses the connection" in page_text(page)
    assert len(groups(page)) == 30


def test_old_data_turns_the_conclusion_grey(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = feeds.report(at_ms=state.now_ms() - 120_000)
    page = open_page()
    assert page.title[0].value.startswith(":gray[")
    assert "This data is old" in page_text(page)


def test_pause_keeps_the_snapshot_and_resume_follows(open_page: Open, feed: feeds.HandFeed) -> None:
    page = open_page()
    page.button(key="pause").click().run()
    feed.report = feeds.report(synthetic.many(3), number=2, at_ms=state.now_ms())
    page.run()
    assert len(groups(page)) == 30
    assert "paused" in page_text(page)
    page.button(key="pause").click().run()
    assert len(groups(page)) == 3


def test_a_paused_page_shows_no_other_cluster(open_page: Open, feed: feeds.HandFeed) -> None:
    other = feeds.HandFeed(feeds.report(synthetic.many(3), at_ms=state.now_ms()))
    page = open_page(its=feeds.source(demo=feed, other=other), cluster="other")
    page.button(key="pause").click().run()
    assert (len(groups(page)), "paused" in page_text(page)) == (3, True)
    page.query_params["cluster"] = "demo"  # as Back or a link does
    page.run()
    assert (len(groups(page)), "paused" in page_text(page)) == (30, False)


def test_a_group_is_not_carried_to_another_cluster(open_page: Open, feed: feeds.HandFeed) -> None:
    other = feeds.HandFeed(feeds.report(synthetic.many(3), at_ms=state.now_ms()))
    its = feeds.source(demo=feed, other=other)
    page = open_page("group", its=its, cluster="demo", group="billing-settlement")
    for cluster_, carried in (("other", None), ("demo", "billing-settlement")):
        page._page_hash = calc_hash("generations" if carried is None else "history")
        page.query_params.clear()
        page.query_params["cluster"] = cluster_
        page.run()
        assert asked(page).get("group") == carried


def test_a_new_snapshot_is_drawn_on_the_next_run(open_page: Open, feed: feeds.HandFeed) -> None:
    page = open_page()
    feed.report = feeds.report(synthetic.many(3), number=2, at_ms=state.now_ms())
    assert len(groups(page.run())) == 3


def test_before_the_first_poll_the_page_says_that_it_reads(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = None
    assert open_page().title[0].value == "Reading `demo` for the first time"


def test_a_cluster_that_never_answered_says_why_and_offers_a_try(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report, feed.error = None, AddressError("b1:9092 refuses the connection", "Is the broker running?")
    feed.consecutive_failures = 3
    page = open_page()
    assert page.title[0].value == "`demo` cannot be read"
    assert "3 attempts failed" in page_text(page)
    page.button(key="try_now").click().run()
    assert feed.polled_now == [1]


def test_without_a_cluster_the_page_teaches_how_to_start(open_page: Open) -> None:
    page = open_page(its=feeds.source())
    assert page.title[0].value == "No cluster is configured"
    assert "groupscope serve --bootstrap-server" in page.code[0].value


def test_a_cluster_without_groups_teaches(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = feeds.report([], at_ms=state.now_ms())
    page = open_page()
    assert page.title[0].value == "No consumer group yet"
    assert "first member joins" in page_text(page)


def test_two_clusters_can_be_switched(open_page: Open, feed: feeds.HandFeed) -> None:
    other = feeds.HandFeed(feeds.report(synthetic.many(2), at_ms=state.now_ms()))
    page = open_page(its=feeds.source(demo=feed, prod=other), q="bill")
    assert groups(page) == ["billing-settlement"]
    page.selectbox(key="cluster_picker").select("prod").run()
    assert page.query_params["cluster"] == "prod"
    assert not page.exception
    assert len(groups(open_page(its=feeds.source(demo=feed, prod=other), cluster="prod"))) == 2


def test_at_most_five_thousand_rows_are_sent(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.report = feeds.report(synthetic.many(5_003, 1), at_ms=state.now_ms())
    page = open_page()
    assert len(page.dataframe[0].value) == 5_000
    assert "trend" not in page.dataframe[0].value.columns
    assert "The first 5,000 of 5,003 groups" in page_text(page)


@pytest.mark.parametrize(("records", "shown"), [(0, "now"), (40, "< 1 min")])
def test_drain_time_in_words(records: int, shown: str) -> None:
    assert drain(1.0, records) == shown


def test_every_verdict_is_explained(open_page: Open) -> None:
    page = open_page()
    table = page.expander[0].markdown[0].value.replace(verdicts.NO_BREAK, " ")
    assert [verdict.label for verdict in VERDICTS.values() if verdict.label not in table] == []


def exported(specs: list[synthetic.Spec]) -> pd.DataFrame:
    """What a download of all groups holds."""
    snapshot = synthetic.snapshot(specs)
    table = build_group_table(snapshot, synthetic.health(specs, snapshot))
    return tables.export(tables.with_deletion(table, snapshot, synthetic.window(specs, snapshot)).frame)


def test_export_has_plain_units_and_every_row() -> None:
    specs = [replace(spec, drain_s=float("inf")) for spec in synthetic.specs()]
    out = exported(specs)
    assert list(out.columns[:4]) == ["group", "status", "lag_records", "lag_known_for"]
    assert set(out["drain_s"]) == {"never"}
    assert len(out) == 31


def why(
    committed: Callable[[int], int | None],
    ends: Callable[[int], int],
    polls: int = 12,
    left: Remainder = Remainder.UNKNOWN,
    status: Status = Status.OK,
    **spec: Any,
) -> str:
    """What the Overview says of the group "g" with the one partition t-0, after polls ten seconds apart."""
    trend = SampleRing()
    for number in range(polls):
        its = {"g": group({"t-0": committed(number)}, **spec)}
        snapshot = cluster(its, {"t-0": end(ends(number))}, number + 1, number * 10_000)
        window = trend.append(snapshot)
    health = judge(snapshot, window, remainders=np.array([REMAINDERS.index(left)], np.uint8))
    (row,) = build_group_table(snapshot, health).frame.to_dict("records")
    assert row["status"] == status
    return str(row["why"])


def test_a_group_of_which_only_markers_are_left_says_so_beside_its_lag() -> None:
    assert why(lambda n: 8, lambda n: 10, left=Remainder.MARKERS_ONLY) == (
        "only transaction markers or aborted records are left between committed offset 8 and log end 10: a "
        "read_committed consumer reads none of them"
    )


def test_a_group_of_which_markers_may_be_left_says_so() -> None:
    assert why(lambda n: 9, lambda n: 10) == "the remaining offsets may be transaction markers only"


def test_a_group_says_for_how_long_it_is_watched_until_it_has_a_verdict() -> None:
    rest = "a verdict needs 6 in 45 s; 80 records behind on t-0"
    first, second = (why(lambda n: 10, lambda n: 90, polls=polls, status=Status.UNKNOWN) for polls in (1, 2))
    assert first == f"too early after 1 poll in 0 s: {rest}"
    assert second == f"too early after 2 polls in 10 s: {rest}; oldest record more than 10 s old"


def test_a_group_that_is_well_says_why_its_time_lag_is_not_known() -> None:
    assert why(lambda n: None, lambda n: 0) == "no committed offset on t-0, and no records"


def test_a_group_that_is_well_and_whose_numbers_are_known_needs_no_words() -> None:
    assert why(lambda n: 10 * n, lambda n: 10 * n) == ""
    assert why(lambda n: 100 * n, lambda n: 100 * n + 100) == ""


@pytest.mark.parametrize("lag", ["1e999", "-1e999", "nan", "soon", "-5", "9" * 400, "1_000", ""])
def test_a_link_with_a_lag_that_is_no_number_of_records_shows_all_groups(open_page: Open, lag: str) -> None:
    page = open_page(lag=lag)
    assert not page.exception
    assert groups(page) == groups(open_page())


def test_a_link_with_a_minimum_lag_filters(open_page: Open) -> None:
    assert 0 < len(groups(open_page(lag="1000"))) < len(groups(open_page()))


def test_the_table_has_the_onset_of_every_verdict(open_page: Open, feed: feeds.HandFeed) -> None:
    snapshot, health = feed.report.snapshot, feed.report.health
    shown = open_page(zone="UTC").dataframe[0].value.set_index("group")["since"]
    onsets = {name: health.groups[snapshot.by_group[name]].finding.onset for name in shown.index}
    assert {name for name, onset in onsets.items() if onset} >= {
        "fraud-scoring-v2",
        "replayer",
        "payments-ledger-writer",
    }
    assert shown.to_dict() == {name: onset and clock(onset, snapshot.at_ms, UTC) for name, onset in onsets.items()}


def test_the_headline_and_the_group_page_have_the_time_of_the_table(open_page: Open) -> None:
    page = open_page(zone="UTC")
    since = page.dataframe[0].value.set_index("group").loc["fraud-scoring-v2", "since"]
    assert f"since {since} (15 min)" in page.title[0].value
    assert SOURCES[OnsetSource.COMMIT] in page_text(page)
    group = open_page("group", zone="UTC", group="fraud-scoring-v2")
    assert f"since {since} (15 min)" in group.title[0].value
    assert SOURCES[OnsetSource.COMMIT] in page_text(group)


def test_files_have_the_onset_and_its_source() -> None:
    rows = json.loads(downloads.records(exported(synthetic.specs())))
    found = {row["group"]: (row["onset_at_ms"], row["onset_is_exact"], row["onset_source"]) for row in rows}
    assert found["fraud-scoring-v2"] == (synthetic.NOW_MS - 900_000, True, "commit_timestamp")
    assert found["audit-pair"] == (None, None, None)


def test_deletion_counts_down_in_the_table_and_its_reason_is_in_the_files(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    table = open_page().dataframe[0].value.set_index("group")
    left = of_groups(feed.report.snapshot, feed.report.window)
    assert table.loc["orders-enrichment", "deleted_in"] == pd.Timedelta(0)
    shown = table["deleted_in"].dropna().dt.total_seconds()
    assert shown.to_dict() == two_units(left["deleted_in_s"])[shown.index].to_dict()
    rows = exported(synthetic.specs()).set_index("group")
    assert rows.loc["dlq-replayer", "deleted_in_why"] == left.loc["dlq-replayer", "deleted_in_why"]
    assert rows.loc["gdpr-erasure-worker", "deleted_in_why"] == "it has no offsets"
