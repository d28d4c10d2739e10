"""The Topics page: who reads what, who is behind, and one topic partition by partition."""

from dataclasses import replace

import pandas as pd
import pytest

from app import state
from app.tables import topics as tables
from lag.model import PartitionProblem
from tests.app import feeds, synthetic
from tests.app.reading import said, table


def test_the_slowest_reader_is_the_conclusion(open_page):
    page = open_page("topics")
    assert not page.exception
    assert page.header[0].value == "`billing-settlement` is furthest behind: 1,181,855 records on `billing.events`"
    assert "13 topics, 1 of them deleted" in said(page)


def test_each_topic_has_its_groups_lag_and_size(open_page):
    frame = table(open_page("topics"), "worst lag").set_index("topic")
    assert frame.loc["payments", "groups"] == 2
    assert frame.loc["payments", "worst_group"] == "fraud-scoring-v2"
    assert frame.loc["payments", "worst_lag"] == 318_396
    assert frame.loc["tx.events", "records"] == 12_500
    assert frame.loc["payments", "produce"] == 480.0
    assert frame.loc["returns.v1", "v"] == ["○ Deleted"]
    assert pd.isna(frame.loc["billing.events", "records"])


def test_text_filter_from_the_url(open_page):
    frame = table(open_page("topics", topics_q="AUDIT"), "worst lag")
    assert sorted(frame["topic"]) == ["audit.a", "audit.b"]


def test_one_topic_lists_its_groups_and_their_lag_per_partition(open_page):
    page = open_page("topics", topic="orders")
    assert not page.exception
    assert page.header[0].value == "`orders` is read by 9 groups; `orders-enrichment` is 29,999 records behind"
    readers = table(page, "Groups that read").set_index("group")
    assert readers.loc["orders-enrichment", "lost"] == 2_400
    matrix = table(page, "with offsets").set_index("partition")
    assert matrix.loc[1, "lag: orders-enrichment"] == 10_999
    assert len(matrix) == 12


def test_a_leaderless_topic_comes_first_and_says_which_partition(open_page, feed):
    rows = list(synthetic.rows("t", [9, 9], [1, 1], 1))
    rows[1] = synthetic.Row("t", 1, 8, None, 0, problem=PartitionProblem.LEADERLESS)
    odd = [synthetic.Spec("g", tuple(rows), synthetic.members(1))]
    feed.report = feeds.report(odd, at_ms=state.now_ms())
    assert open_page("topics").header[0].value == "1 of 1 topic has partitions without a leader: `t`"
    page = open_page("topics", topic="t")
    assert page.header[0].value == "`t` has 1 partition without a leader"
    assert pd.isna(table(page, "with offsets").set_index("partition").loc[1, "log_end"])


def test_a_deleted_topic_names_who_still_keeps_commits(open_page):
    page = open_page("topics", topic="returns.v1")
    assert page.header[0].value == "`returns.v1` does not exist: 1 group still keep commits for it"


def test_an_unknown_topic_is_said_to_be_unknown(open_page):
    page = open_page("topics", topic="nope")
    assert not page.exception
    assert page.header[0].value == "`nope` does not exist"


@pytest.mark.parametrize(
    ("retention_ms", "told"), [(604_800_000, "retention 7 days"), (-1, "kept for ever"), (None, "retention not known")]
)
def test_retention_of_a_topic(open_page, feed, retention_ms, told):
    topics = feed.report.snapshot.topics
    topics["orders"] = replace(topics["orders"], retention_ms=retention_ms)
    assert told in said(open_page("topics", topic="orders"))


def test_readers_are_counted_from_the_offset_table_columns():
    specs = synthetic.specs()
    snapshot = synthetic.snapshot(specs)
    found = tables.readers(snapshot, synthetic.health(specs, snapshot))
    for topic, those in found.items():
        for reader in those:
            rows = [r for r in snapshot.group(reader.group).partitions if r.tp.topic == topic]
            known = [r.lag_records for r in rows if r.lag_records is not None]
            assert (reader.partitions, reader.known) == (len(rows), len(known))
            assert reader.lag == (sum(known) if known else None)


def test_lead_above_the_log_start_is_a_share_of_the_log():
    specs = [synthetic.Spec("g", (synthetic.Row("t", 0, 250, 1_000, start=200),), ())]
    snapshot = synthetic.snapshot(specs)
    risks = tables.risks(snapshot, synthetic.health(specs, snapshot), "t")
    assert risks.iloc[0][["lead_records", "lead_share"]].tolist() == [50, 6.25]
