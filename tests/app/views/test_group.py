"""The Group page: conclusion with evidence, members, assignment, partitions, and its states without a group."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.ui import state
from app.ui.formats import code
from app.views.group.lag.text import trend_alt
from app.views.group.text import facts, rebalance_now
from app.views.group.view import group_view
from assignors.model import TopicPartition
from lag.generations.explanation import Comparison, Explanation
from lag.generations.recorded import Origin, Recording, TimedEvent
from lag.model import GroupType, Member, undecoded
from lag.verdict.judge import judge
from lag.verdict.rules.status_rules import MARKERS_ONLY
from lag.verdict.status import Status
from lag.verdict.window.sample_window import SampleRing
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import alt, figure, page_text, table
from tests.lag.generations.recorded import test_consumer
from tests.lag.generations.recorded.events import recorded
from tests.lag.make import cluster, end, group


def test_the_member_that_holds_the_stalled_partitions_is_named(open_page: Open) -> None:
    page = open_page("group", group="billing-settlement")
    assert not page.exception
    title = page.title[0].value
    assert title.startswith(
        "`billing-settlement` is stuck: `settle-7c9f-0` has not committed partitions 7 to 9, since "
    )


def test_verdict_evidence_and_rule_stand_under_the_conclusion(open_page: Open) -> None:
    page = open_page("group", group="billing-settlement")
    text = page_text(page)
    (evidence,) = [one.value for one in page.markdown if "84 of 84 samples" in one.value]
    assert "□ Stalled" in evidence.replace("\u00a0", " ")
    assert "commit unchanged in 84 of 84 samples" in text
    assert "Rule: lag at every sample" in text
    assert "records behind, known for 38 of 40 partitions" in text


@pytest.mark.parametrize("group", sorted(s.group_id for s in synthetic.specs()))
def test_every_group_opens(open_page: Open, group: Any) -> None:
    page = open_page("group", group=group)
    assert not page.exception
    assert page.title[0].value.startswith(code(group))


def test_a_group_with_only_markers_left_has_no_oldest_record_and_nothing_that_drains() -> None:
    snapshot = cluster({"g": group({"t-0": 8})}, {"t-0": end(10)})
    health = judge(snapshot, SampleRing().append(snapshot), remainders=np.array([MARKERS_ONLY], np.uint8))
    line = facts(group_view(snapshot.groups[0], snapshot, health))
    assert "oldest record" not in line
    assert "drain" not in line


def test_rebalances_stand_on_the_time_axis_of_the_lag(open_page: Open, feed: feeds.HandFeed) -> None:
    now_ms = feed.report.snapshot.at_ms
    events = [TimedEvent(timed.at_ms + now_ms - 10_000, timed.event) for timed in test_consumer.BEGIN]
    early = [TimedEvent(timed.at_ms, timed.event) for timed in test_consumer.A_JOINS]
    feed.seen["billing-settlement"] = Recording(Origin.RECORDED, recorded(*early, *events[len(early) :]))
    page = open_page("group", group="billing-settlement")
    assert not page.exception
    (marks,) = [one for one in figure(page, "lag_over_time")["data"] if one.get("marker", {}).get("symbol")]
    assert marks["customdata"] == ["Generation 3: c-b joined<br>took 1.7 s in 4 steps<br>recorded"]
    assert "1 rebalance, recorded; at " in page_text(page).replace("\\", "")
    assert alt(page, "lag_over_time").endswith(": c-b joined")


def test_partitions_are_sorted_worst_first_with_their_reason(open_page: Open) -> None:
    frame = table(open_page("group", group="billing-settlement"), "most urgent first")
    assert list(frame["partition"][:5]) == [7, 8, 9, 21, 33]
    unknown = frame.set_index("partition").loc[21]
    assert pd.isna(unknown["lag"])
    assert "did not answer in time" in unknown["note"]


def test_lost_records_are_counted_apart_from_lag(open_page: Open) -> None:
    page = open_page("group", group="orders-enrichment")
    frame = table(page, "most urgent first").set_index("partition")
    assert frame.loc[0, "lost"] == 1_200
    assert frame.loc[0, "lag"] == 10_000
    assert "2,400 records lost" in page_text(page)


def test_what_an_open_transaction_holds_is_explained(open_page: Open) -> None:
    page = open_page("group", group="tx-reader")
    assert "3,500 records held by an open transaction" in page_text(page)
    assert table(page, "most urgent first").iloc[0]["held"] == 3_500


def test_what_fits_beside_each_other_is_shown_and_the_rest_is_in_the_column_menu(open_page: Open) -> None:
    page = open_page("group", group="orders-enrichment")
    members, *_, partitions = (list(element.proto.column_order) for element in page.dataframe)
    assert members == ["member", "v", "lag", "partitions", "moved", "epoch", "note"]
    assert partitions == [
        *("partition", "v", "lag", "owner", "time_lag", "drains", "trend", "note", "lost"),
        *("committed", "log_end", "log_start"),
    ]
    assert "More columns: Produced/s, Committed/s." in page_text(page)


def test_a_group_without_members_whose_offsets_move_assigns_partitions_itself(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    alone = replace(synthetic.Spec("ledger", synthetic.rows("t", [5], [0], 0), ()), state="Empty")
    feed.report = feeds.report([alone], at_ms=state.now_ms())
    assert "No members, but the group's offsets move: the application assigns" in page_text(
        open_page("group", group="ledger")
    )


def test_members_show_share_epoch_and_what_they_wait_for(open_page: Open) -> None:
    frame = table(open_page("group", group="orders-enrichment"), "Members of").set_index("member")
    assert frame.loc["enrich-static-2", "epoch"] == "7 of 8"
    assert frame.loc["enrich-static-3", "note"] == "reconciling: 3 to take"
    assert frame.loc["enrich-static-3", "v"] == ["◌ Waiting"]


def test_a_member_without_partitions_is_idle(open_page: Open) -> None:
    page = open_page("group", group="billing-settlement")
    frame = table(page, "Members of").set_index("member")
    assert frame.loc["settle-7c9f-4", "v"] == ["○ Idle"]
    assert "5 members, 1 idle" in page_text(page)


def test_a_worker_of_kafka_connect_is_not_called_idle(open_page: Open, feed: feeds.HandFeed) -> None:
    workers = tuple(replace(worker, assigned=()) for worker in synthetic.members(2))
    report = feeds.report([synthetic.Spec("g", (), workers)])
    groups = tuple(replace(group, protocol_type="connect") for group in report.snapshot.groups)
    report.snapshot = replace(report.snapshot, groups=groups)
    report.health = replace(report.health, snapshot=report.snapshot)
    feed.report = report
    page = open_page("group", group="g")
    assert not page.exception
    assert [label for label, *_ in table(page, "Members of")["v"]] == ["● OK", "● OK"]
    text = page_text(page)
    assert "Its members do not share partitions." in text
    assert "idle" not in text


def test_a_member_whose_assignment_cannot_be_decoded_is_named_and_not_called_idle(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    reason = "its assignment cannot be decoded (version -1)"
    snapshot = feed.report.snapshot
    found = snapshot.group("billing-settlement")
    assert found is not None
    *others, idle = found.members
    problem = undecoded(found.group_id, [f"member {idle.member_id}: {reason}"])
    now = replace(
        found, members=(*others, replace(idle, problem=reason)), complete=False, problems=(*found.problems, problem)
    )
    groups = tuple(now if group is found else group for group in snapshot.groups)
    feed.report.snapshot = replace(snapshot, groups=groups, complete=False)
    feed.report.health = replace(feed.report.health, snapshot=feed.report.snapshot)
    page = open_page("group", group="billing-settlement")
    assert not page.exception
    frame = table(page, "Members of").set_index("member")
    assert frame.loc["settle-7c9f-4", "v"] == ["◌ Unknown"]
    assert (frame.loc["settle-7c9f-4", "note"], pd.isna(frame.loc["settle-7c9f-4", "partitions"])) == (reason, True)
    text = page_text(page).replace("\\", "")
    assert "5 members" in text
    assert "1 idle" not in text
    assert f"member {idle.member_id}: {reason}" in text


def test_partitions_that_an_undecoded_member_may_own_are_not_called_unassigned() -> None:
    snapshot = cluster(
        {"g": group({"t-0": 1, "t-1": 1}, [Member("a", assigned=(TopicPartition("t", 0),)), Member("b")])},
        {"t-0": end(1), "t-1": end(1)},
    )
    health = judge(snapshot, SampleRing().append(snapshot))
    found = snapshot.groups[0]
    members = (found.members[0], replace(found.members[1], problem="its assignment cannot be decoded (version -1)"))
    assert list(group_view(found, snapshot, health).lanes()) == ["a", "b", "unassigned"]
    assert list(group_view(replace(found, members=members), snapshot, health).lanes()) == ["a", "b", "owner not known"]


def test_pictures_state_their_finding(open_page: Open) -> None:
    page = open_page("group", group="billing-settlement")
    assert alt(page, "lag_by_partition") == "Partitions 7 to 9 hold 99 % of the lag"
    assert alt(page, "lag_over_time").startswith("Lag rose from")
    assert alt(page, "owners") == "5 members own 40 partitions, 1 owns none"


def test_tiles_carry_every_partition_once(open_page: Open) -> None:
    spec = figure(open_page("group", group="billing-settlement"), "owners")
    numbers = sorted(int(t) for trace in spec["data"] for row in trace.get("text", ()) for t in row if t.strip())
    assert numbers == list(range(40))


def test_where_the_assignor_would_have_it_otherwise_is_a_table(open_page: Open) -> None:
    """`enrich-static-3` has nothing yet of its target, which holds each fourth partition."""
    page = open_page("group", group="orders-enrichment")
    assert table(page, "actual and computed").to_dict("list") == {
        "topic": ["orders"] * 3,
        "partition": [3, 7, 11],
        "actual": ["unassigned"] * 3,
        "computed": ["enrich-static-3"] * 3,
    }
    text = page_text(page).replace("\\", "")
    assert "move 0 of 12 partitions and assign 3 that have no owner" in text
    assert "2 would keep their owner" in text


def test_an_assignment_that_the_assignor_gives_has_no_such_table(open_page: Open, feed: feeds.HandFeed) -> None:
    one = tuple(replace(m, topics=("t",)) for m in synthetic.members(1))
    alone = [synthetic.Spec("alone", synthetic.rows("t", [9], [4], 1), one, assignor="range")]
    feed.report = feeds.report(alone, at_ms=state.now_ms())
    page = open_page("group", group="alone")
    assert "Why this assignment" in page_text(page)
    assert "The assignor computes exactly this assignment" in page_text(page)
    assert not [element for element in page.dataframe if "actual and computed" in element.proto.alt]


def test_of_many_differences_the_first_hundred_stand_there(open_page: Open, feed: feeds.HandFeed) -> None:
    one = tuple(replace(m, topics=("t",), assigned=()) for m in synthetic.members(1))
    new = [synthetic.Spec("new", synthetic.rows("t", [9] * 140, [1] * 140, 0), one, assignor="range")]
    feed.report = feeds.report(new, at_ms=state.now_ms())
    page = open_page("group", group="new")
    assert len(table(page, "actual and computed")) == 100
    assert "The first 100 of 140 differences." in page_text(page)


def test_a_share_group_says_that_partitions_are_shared(open_page: Open, feed: feeds.HandFeed) -> None:
    two = tuple(replace(m, assigned=(TopicPartition("t", 0),)) for m in synthetic.members(2))
    shared = [synthetic.Spec("shared", synthetic.rows("t", [9], [4], 0), two, type=GroupType.SHARE)]
    feed.report = feeds.report(shared, at_ms=state.now_ms())
    page = open_page("group", group="shared")
    assert "share group: members can read the same partition" in page_text(page)
    assert table(page, "most urgent first").iloc[0]["owner"] == "c-0, c-1"
    assert list(table(page, "Members of")["lag"]) == [4, 4]


@pytest.mark.parametrize(
    ("type_", "reason"), [(GroupType.SHARE, "no partition"), (GroupType.CONSUMER, "2 members, 1 partition")]
)
def test_only_where_a_partition_has_one_owner_are_members_idle_for_lack_of_partitions(
    open_page: Open, feed: feeds.HandFeed, type_: GroupType, reason: str
) -> None:
    one, idle = synthetic.members(2)
    members = (replace(one, assigned=(TopicPartition("t", 0),)), replace(idle, assigned=()))
    feed.report = feeds.report([synthetic.Spec("g", synthetic.rows("t", [9], [4], 0), members, type=type_)])
    notes = figure(open_page("group", group="g"), "owners")["layout"]["annotations"]
    assert f"idle: {reason}" in [note["text"] for note in notes]


@pytest.mark.parametrize(
    ("type_", "label"),
    [(GroupType.SHARE, "Start offset"), (GroupType.CLASSIC, "Committed"), (GroupType.CONSUMER, "Committed")],
)
def test_the_offset_of_a_share_group_is_no_commit(
    open_page: Open, feed: feeds.HandFeed, type_: GroupType, label: str
) -> None:
    """Its lag is the broker's own count, not the distance to the log end."""
    spec = synthetic.Spec("g", synthetic.rows("t", [3578], [1], 0), synthetic.members(1), type=type_)
    feed.report = feeds.report([spec], at_ms=state.now_ms())
    page = open_page("group", group="g")
    shown = next(each for each in page.dataframe if "most urgent first" in each.proto.alt)
    columns = json.loads(shown.proto.columns)
    assert columns["committed"]["label"] == label
    says_commit = any("ommit" in f"{column.get('label')}{column.get('help')}" for column in columns.values())
    assert says_commit == (type_ is not GroupType.SHARE)
    has_ruler = any(box.key == "partition_pick" for box in page.selectbox)
    assert has_ruler == (type_ is not GroupType.SHARE)


def test_without_a_group_the_most_urgent_are_offered(open_page: Open) -> None:
    page = open_page("group")
    assert page.title[0].value == "Which group?"
    assert list(table(page, "most urgent")["group"][:2]) == ["fraud-scoring-v2", "billing-settlement"]
    page.selectbox(key="group_pick").select("billing-settlement").run()
    assert page.query_params["group"] == "billing-settlement"
    assert page.title[0].value.startswith("`billing-settlement` is stuck")


def test_a_group_that_is_gone_is_reported_as_gone(open_page: Open) -> None:
    page = open_page("group", group="nobody-knows-me")
    assert page.title[0].value == "`nobody-knows-me` is not on this cluster"


def test_picking_another_group_changes_the_url(open_page: Open) -> None:
    page = open_page("group", group="billing-settlement")
    page.selectbox(key="group_pick").select("tx-reader").run()
    assert page.query_params["group"] == "tx-reader"
    assert page.title[0].value.startswith("`tx-reader` has been held back")


def test_a_group_id_full_of_markup_is_shown_as_it_is(open_page: Open, feed: feeds.HandFeed) -> None:
    name = "a`b](x) **c** :red[d]\n$e$"
    odd = [synthetic.Spec(name, synthetic.rows("t", [9], [9], 1), synthetic.members(1), Status.STOPPED, evidence="*x*")]
    feed.report = feeds.report(odd, at_ms=state.now_ms())
    page = open_page("group", group=name)
    assert not page.exception
    assert page.title[0].value.startswith("`aˋb](x) **c** :red[d] $e$` has lag")
    assert "\\*x\\*" in page_text(page)


def test_a_large_group_is_counted_instead_of_tiled(open_page: Open, feed: feeds.HandFeed) -> None:
    large = [synthetic.Spec("large", synthetic.rows("t", [9] * 900, [1] * 900, 50), synthetic.members(50), Status.OK)]
    feed.report = feeds.report(large, at_ms=state.now_ms())
    page = open_page("group", group="large")
    assert not page.exception
    assert "partitions per member and topic" in page_text(page)
    assert "the 400 of 900 partitions" in page_text(page)


def test_members_are_found_by_any_of_their_names_and_downloaded(open_page: Open) -> None:
    page = open_page("group", group="orders-enrichment")
    assert {"members_csv", "members_json"} <= {button.key for button in page.get("download_button")}
    assert len(table(page, "Members of")) == 4
    for asked, found in (("STATIC-2", ["enrich-2"]), ("10.4.3.", ["enrich-1", "enrich-3"]), ("H-0-8C", ["enrich-0"])):
        page.text_input(key="members_q").set_value(asked).run()
        assert sorted(table(page, "Members of")["client"]) == found
    page.text_input(key="members_q").set_value("nobody").run()
    assert "No member passes" in page_text(page)


def test_members_beyond_the_limit_are_counted(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.views.group.members.MAX_ROWS", 3)
    page = open_page("group", group="orders-enrichment", members_q="enrich")
    assert len(table(page, "Members of")) == 3
    assert "The first 3 of 4 members" in page_text(page)


def test_every_partition_beyond_the_limit_can_be_found(
    open_page: Open, feed: feeds.HandFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.group.partitions.MAX_ROWS", 100)
    rows = synthetic.rows("t", [9_000] * 103, range(103), 10) + synthetic.rows("u", [9], [0], 0)
    feed.report = feeds.report([synthetic.Spec("large", rows, synthetic.members(10))], at_ms=state.now_ms())
    page = open_page("group", group="large")
    shown = table(page, "most urgent first")
    assert (len(shown), "t-0" in set(shown["topic"] + "-" + shown["partition"].astype(str))) == (100, False)
    assert "The first 100 of 104 partitions" in page_text(page)
    for query, found in (("T-10", [102, 101, 100, 10]), ("u-", [0]), ("c-9", range(102, 98, -1))):
        page = page.text_input(key="partitions_q").set_value(query).run()
        assert list(table(page, "most urgent first")["partition"]) == list(found)
    page.text_input(key="partitions_q").set_value("nowhere").run()
    assert not page.exception
    assert "No partition passes the filter" in page_text(page)


@pytest.mark.parametrize(
    ("values", "reported"),
    [
        ([5.0, 9.0], "Lag rose from 5 to 9 records"),
        ([9.0, 2.0, 5.0], "Lag fell from 9 to 5 records, lowest 2"),
        ([5.0, 9.0, 2.0, 5.0], "Lag went from 5 to 5 records, lowest 2, highest 9"),
        ([5.0, 5.0], "Lag stayed at 5 records"),
    ],
)
def test_the_text_on_lag_over_time_gives_no_number_twice(values: list[float], reported: str) -> None:
    assert trend_alt(np.array(values)) == reported


def test_only_members_that_claim_partitions_can_rejoin_without_claiming() -> None:
    found = Explanation(Comparison.SAME, "", partitions=4, moves_now=0, stay_if_fresh=3)
    moves = "A rebalance now would move 0 of 4 partitions."
    claims = "If all members rejoined without claiming their partitions, 3 would keep their owner."
    assert rebalance_now(found, GroupType.CONSUMER) == f"{moves} {claims}"
    assert rebalance_now(found, GroupType.SHARE) == moves


def test_a_group_that_could_not_be_read_is_unknown_and_not_empty(open_page: Open) -> None:
    page = open_page("group", group="gdpr-erasure-worker")
    assert "lag unknown · members unknown" in page_text(page)
    assert "Its members, assignment and partitions are not known: not authorised to describe it" in page_text(page)
    assert "**Grant DESCRIBE on group gdpr\\-erasure\\-worker" in page_text(page)
    assert any(
        "kafka-acls --bootstrap-server" in code.value and "--operation DESCRIBE" in code.value for code in page.code
    )
    assert "0 records behind" not in page_text(page)
    assert "No partition" not in page_text(page)
