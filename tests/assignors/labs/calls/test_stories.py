"""The stories of the call lab: what is refused, how each ends, and what the calls on the way come to."""

import doctest

import pytest

from assignors.labs import calls
from assignors.labs.calls import STORIES, Kind, PartitionOffsets, Turn, play_on, script
from assignors.model import TopicPartition

GENERATION_1 = "A: generation 1, range, leads, and assigns for A-1, B-2; B: generation 1, range, follows A-1"
FIRST_STEP = "MEMBER_ID_REQUIRED"
"""KIP-394: every new dynamic member meets it once."""

REFUSED_AND_END: dict[str, tuple[list[str], dict[str, str]]] = {
    "subscribe-replaces": ([], {"assigned": "orders-0, orders-1, payments-0"}),
    "subscription-modes": (["IllegalStateException"] * 4, {"subscription": "AUTO_PATTERN: ord.*"}),
    "unsubscribe": (["IllegalStateException"], {"subscription": "NONE", "assigned": ""}),
    "pattern": ([], {"assigned": "orders-eu-0, orders-us-0"}),
    "assign": ([], {"subscription": "USER_ASSIGNED", "committed": "orders-0 3"}),
    "no-group-id": (["InvalidGroupIdException"] * 2, {"position": "orders-0 2", "committed": ""}),
    "one-thread": (["ConcurrentModificationException"] * 2, {"assigned": "orders-0"}),
    "wakeup": (["WakeupException"], {"position": "orders-0 1"}),
    "poll": ([], {"position": "orders-0 1, orders-1 3"}),
    "pause": (["IllegalStateException"], {"position": "orders-0 5, orders-1 1"}),
    "flow-control": ([], {"position": "customers-0 3, orders-0 2"}),
    "seek": (["IllegalStateException", "IllegalArgumentException"], {"position": "orders-0 5"}),
    "seek-back": ([], {"position": "orders-0 5", "committed": "orders-0 5"}),
    "rewind": ([], {"position": "orders-0 250", "committed": "orders-0 250"}),
    "store": ([], {"position": "orders-0 6", "committed": ""}),
    "close": (["IllegalStateException"], {"subscription": "closed", "committed": "orders-0 3"}),
    "interceptors": ([], {"position": "orders-0 4", "committed": "orders-0 4"}),
    "positions": ([], {"position": "orders-0 5", "committed": "orders-0 3", "log end": "orders-0 5"}),
    "by-partition": ([], {"committed": "orders-0 2, orders-1 3"}),
    "open-transaction": ([], {"position": "orders-0 7", "committed": "orders-0 7", "log end": "orders-0 7"}),
    "reset-latest": ([], {"position": "orders-0 7"}),
    "reset-earliest": ([], {"position": "orders-0 5", "committed": "orders-0 1"}),
    "reset-none": (["NoOffsetForPartitionException", "OffsetOutOfRangeException"], {"position": "orders-0 9"}),
    "reset-by-duration": ([], {"position": "orders-0 8"}),
    "max-poll-records": ([], {"position": "orders-0 7"}),
    "big-message": (["RecordTooLargeException"], {"position": "orders-0 3"}),
    "lag": ([], {"position": "orders-0 4", "committed": "orders-0 4", "log end": "orders-0 10"}),
    "join-and-sync": ([], {"group": "Stable", "generation": "1", "members": "A-1 leads, B-2", "time": "6 s"}),
    "states": (["UNKNOWN_MEMBER_ID"], {"group": "Empty", "generation": "2"}),
    "commit-in-rebalance": (
        ["REBALANCE_IN_PROGRESS", "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION"],
        {"group": "Stable", "generation": "2", "committed": "orders-0 6"},
    ),
    "member-id": ([], {"time": "45 s", "group": "Stable", "members": "A-2 leads", "waiting": ""}),
    "id-never-used": ([], {"time": "48 s", "group": "CompletingRebalance", "generation": "2"}),
    "errors": (
        [
            "ILLEGAL_GENERATION",
            "UNKNOWN_MEMBER_ID",
            "INCONSISTENT_GROUP_PROTOCOL",
            "INVALID_SESSION_TIMEOUT",
            "UNKNOWN_MEMBER_ID",
            "UNKNOWN_MEMBER_ID",
        ],
        {"group": "PreparingRebalance", "generation": "1", "members": "B-2 leads"},
    ),
    "failure-detection": (["UNKNOWN_MEMBER_ID"], {"group": "Stable", "generation": "2", "members": "A-1 leads"}),
    "generation-fencing": (["ILLEGAL_GENERATION"], {"generation": "2", "committed": "orders-5 7"}),
    "parked-join": ([], {"time": "1 min 6 s", "generation": "2", "members": "A-1 leads"}),
    "parked-newcomer": ([], {"time": "5 min 3 s", "generation": "2", "members": "A-1 leads"}),
    "slow-consumer": (["UNKNOWN_MEMBER_ID"] * 3, {"generation": "3", "members": "A-1 leads, B-3"}),
    "two-assignors": ([], {"group": "Stable", "generation": "1"}),
    "static-member": (["FENCED_INSTANCE_ID"], {"generation": "1", "members": "pod-1-2 leads"}),
    "standalone-commit": (["UNKNOWN_MEMBER_ID"], {"group": "Empty", "committed": "orders-0 5"}),
    "offset-expiry": (["UNKNOWN_MEMBER_ID"], {"group": "no group", "committed": ""}),
    "failover-stable": (
        ["COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"],
        {"time": "51 s", "group": "PreparingRebalance", "members": "A-1 leads"},
    ),
    "failover-told": (["REBALANCE_IN_PROGRESS"] * 2, {"group": "PreparingRebalance", "generation": "1"}),
    "failover-joining": (["UNKNOWN_MEMBER_ID"], {"generation": "2", "members": "A-1 leads, B-2, C-4"}),
    "failover-not-written": (["ILLEGAL_GENERATION"], {"group": "CompletingRebalance", "generation": "2"}),
    "failover-written": ([], {"group": "Stable", "generation": "2"}),
    "broker-plans": ([], {"group": "Stable", "epoch": "4", "members": "A STABLE@4"}),
    "broker-errors": (
        [
            "GROUP_ID_NOT_FOUND",
            "UNSUPPORTED_ASSIGNOR",
            "INVALID_REGULAR_EXPRESSION",
            "UNKNOWN_MEMBER_ID",
            "FENCED_MEMBER_EPOCH",
            "STALE_MEMBER_EPOCH",
            "UNRELEASED_INSTANCE_ID",
        ],
        {"epoch": "3", "members": "A STABLE@2, T STABLE@2"},
    ),
    "finder": (["COORDINATOR_NOT_AVAILABLE"], {"brokers alive": "1"}),
    "connections": ([], {"open": ""}),
    "connections-stay": ([], {"open": "bootstrap b1, coordinator b2, leader b1"}),
    "queue-and-broadcast": ([], {"idle": "billing/c4"}),
    "offsets-topic": ([], {"latest": "(test, orders-0) = 8"}),
}


def reported(name: str) -> tuple[Turn, ...]:
    return play_on(STORIES[name].machine, STORIES[name].script)


def outcomes(name: str, verb: str, who: str = "") -> list[str]:
    """What came of those calls, in turn."""
    return [turn.outcome for turn in reported(name) if (turn.call.verb, turn.call.who) == (verb, who)]


def test_every_story_has_its_end_here() -> None:
    assert list(REFUSED_AND_END) == list(STORIES)


@pytest.mark.parametrize("name", REFUSED_AND_END)
def test_what_is_refused_and_how_it_ends(name: str) -> None:
    refused, end = REFUSED_AND_END[name]
    turns = reported(name)
    assert [turn.error for turn in turns if turn.error not in (None, FIRST_STEP)] == refused
    assert {column: turns[-1].state[column] for column in end} == end
    assert len({tuple(turn.state) for turn in turns}) == 1


# The consumer


def test_a_subscription_counts_from_the_next_poll_on() -> None:
    assigned = [(turn.call.verb, turn.state["assigned"]) for turn in reported("subscribe-replaces")[2:]]
    assert assigned == [
        ("subscribe", ""),
        ("poll", "orders-0, orders-1"),
        ("subscribe", "orders-0, orders-1"),
        ("poll", "payments-0"),
        ("subscribe", "payments-0"),
        ("poll", "orders-0, orders-1, payments-0"),
    ]


def test_a_topic_that_matches_is_seen_when_the_metadata_is_five_minutes_old() -> None:
    polls = [turn.state["assigned"] for turn in reported("pattern") if turn.call.verb == "poll"]
    assert polls == ["orders-eu-0", "orders-eu-0", "orders-eu-0, orders-us-0"]


def test_a_thread_in_poll_is_ended_by_wakeup_alone() -> None:
    assert outcomes("one-thread", "wakeup", "worker") == ["the poll of main ends with WakeupException"]
    assert outcomes("wakeup", "commit") == ["nothing to commit"]


def test_a_paused_partition_returns_nothing_until_it_is_resumed() -> None:
    assert [text.rpartition("returns ")[2] for text in outcomes("pause", "poll")] == [
        "orders-0 0–1",
        "orders-1 0",
        "orders-0 2–4",
    ]


def test_close_commits_and_leaves() -> None:
    closed = "auto-commit: commits orders-0 3; leaves the group; closed (it may take up to 30 s)"
    assert outcomes("close", "close") == [closed]


def test_the_chain_goes_on_behind_an_interceptor_that_throws() -> None:
    first, second = outcomes("interceptors", "poll")
    thrown = "broken throws in onConsume: the exception is logged, and the chain continues"
    assert first.endswith(f"returns orders-0 2; ttl drops orders-0 0, orders-0 1; {thrown}")
    assert second == f"returns no records; ttl drops orders-0 3; {thrown}"
    committed = [text.partition(";")[0] for text in outcomes("interceptors", "commit")]
    assert committed == ["commits orders-0 3", "commits orders-0 4"]  # behind what was dropped


def test_a_rewind_begins_100_records_before_the_commit() -> None:
    again = "assigned orders-0; onPartitionsAssigned seeks orders-0 150; returns orders-0 150–249"
    assert outcomes("rewind", "poll")[1] == again


def test_the_store_and_not_kafka_knows_where_to_go_on() -> None:
    again = "assigned orders-0; onPartitionsAssigned seeks orders-0 4; returns orders-0 4–5"
    assert outcomes("store", "poll")[1] == again
    assert outcomes("store", "describe") == ["orders-0: lag -"]


@pytest.mark.parametrize(
    ("policy", "begins"), [("latest", 5), ("earliest", 0), ("by_duration:PT1H", 3), ("by_duration:PT30M", 5)]
)
def test_where_a_consumer_without_an_offset_begins(policy: str, begins: int) -> None:
    lines = ["topic t 1", "produce t-0 3", "wait 2h", "produce t-0 2", f"config auto.offset.reset {policy}"]
    if policy == "by_duration:PT30M":
        lines += ["wait 40min", "subscribe t", "poll", "produce t-0 1"]  # nothing is that young: it asks again
    turns = play_on(Kind.CLIENT, "\n".join([*lines, "subscribe t", "poll"]))
    stated = f"no offset is committed, so {policy}: t-0 {begins}"
    assert stated in turns[-1].outcome


def test_an_offset_in_range_is_kept_whatever_the_policy() -> None:
    before, after = outcomes("reset-earliest", "poll")[1:]
    assert before == "1 is out of range, so earliest: orders-0 4; returns orders-0 4"
    assert after == "returns no records"


def test_a_fetch_of_seven_is_handed_out_in_threes() -> None:
    given = [text.rpartition("returns ")[2] for text in outcomes("max-poll-records", "poll")]
    assert given == ["orders-0 0–2", "orders-0 3–5", "orders-0 6", "no records"]


def test_the_largest_logs_are_read_to_their_ends() -> None:
    lines = ["config auto.offset.reset earliest", "config max.poll.records 5000", "topic t 20"]
    lines += [*(f"produce t-{at} 5000" for at in range(20)), "subscribe t", *["poll"] * 36]
    end = play_on(Kind.CLIENT, "\n".join(lines))[-1].offsets
    assert [its.position for its in end] == [5000] * 20
    assert {sum(map(len, its.consumed)) for its in end} == {5000}


def test_a_message_above_both_limits_comes_alone() -> None:
    kib, fetch_max = 60_000, 50 * 1024 * 1024
    assert kib * 1024 > fetch_max
    given = [text.rpartition("returns ")[2] for text in outcomes("big-message", "poll")]
    assert given == ["orders-0 0", "orders-0 1–2"]


def test_an_open_transaction_holds_back_all_that_follows_it() -> None:
    first, held, rest = outcomes("open-transaction", "poll")
    assert first.endswith("returns orders-0 0–1")
    assert held == "returns no records"
    assert rest == "returns orders-0 2–5"  # the marker at 6 is not returned, and the position is past it
    assert outcomes("open-transaction", "metrics") == ["records-lag-max 0, records-lead-min 2"]
    assert outcomes("open-transaction", "describe") == ["orders-0: lag 4"]


def test_offsets_show_the_last_stable_offset_and_what_poll_took() -> None:
    turns = reported("open-transaction")
    held, end = turns[7].offsets[0], turns[-1].offsets[0]
    assert held == PartitionOffsets(TopicPartition("orders", 0), 0, None, 2, 2, 6, True, (), (range(2),))
    assert end == PartitionOffsets(TopicPartition("orders", 0), 0, 7, 7, 7, 7, True, (6,), (range(2), range(2, 6)))
    assert reported("finder")[-1].offsets == ()


@pytest.mark.parametrize(
    ("level", "ends", "most", "position"),
    [
        ("read_uncommitted", False, 500, 5),
        ("read_committed", False, 500, 2),
        ("read_uncommitted", True, 500, 6),
        ("read_committed", True, 500, 6),
        ("read_committed", True, 5, 5),
    ],
)
def test_the_position_after_a_transaction(level: str, ends: bool, most: int, position: int) -> None:
    lines = [f"config isolation.level {level}", f"config max.poll.records {most}", "topic t 1", "produce t-0 2"]
    lines += ["produce t-0 3 transaction=open", *(["end-transaction t-0"] if ends else [])]
    lines += ["config auto.offset.reset earliest", "subscribe t", "poll"]
    assert play_on(Kind.CLIENT, "\n".join(lines))[-1].offsets[0].position == position


def test_latest_is_the_last_stable_offset_for_read_committed() -> None:
    lines = ["config isolation.level read_committed", "topic t 1", "produce t-0 2 transaction=open", "subscribe t"]
    assert play_on(Kind.CLIENT, "\n".join([*lines, "poll"]))[-1].offsets[0].position == 0


def test_a_transaction_that_is_not_open_cannot_end() -> None:
    turn = play_on(Kind.CLIENT, "topic t 1\nend-transaction t-0")[-1]
    assert turn.error == "InvalidTxnStateException"


def test_lag_of_the_metrics_and_lag_of_describe() -> None:
    end, position, start = 10, 4, 4
    assert outcomes("lag", "metrics") == [
        f"records-lag-max {end - position}, records-lead-min {position - 0}",
        f"records-lag-max {end - position}, records-lead-min {position - start}",
    ]
    assert outcomes("lag", "describe") == ["orders-0: lag -", f"orders-0: lag {end - position}"]


# Coordinators


def test_the_leaders_sync_answers_all() -> None:
    assert outcomes("join-and-sync", "wait") == [f"time passes; {GENERATION_1}"]
    shares = "assigned orders-0, orders-1, orders-2; B: assigned orders-3, orders-4, orders-5"
    assert outcomes("join-and-sync", "sync", "B") == ["waits for its response"]
    assert outcomes("join-and-sync", "sync", "A") == [shares]


def test_a_group_goes_through_all_states() -> None:
    states = list(dict.fromkeys(turn.state["group"] for turn in reported("states")))
    assert states == ["no group", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"]
    assert reported("offset-expiry")[-1].state["group"] == "no group"  # Dead


def test_commits_of_the_old_generation_pass_until_the_next_begins() -> None:
    commits = outcomes("commit-in-rebalance", "commit", "A")
    assert commits == ["accepted", "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "accepted"]


def test_an_id_that_nobody_uses_holds_the_join_phase_up_for_its_session() -> None:
    waits = outcomes("id-never-used", "wait")
    assert waits[1:] == ["time passes", "time passes; A: generation 2, range, leads, and assigns for A-1"]


def test_the_last_sign_of_life_was_the_sync_at_6_s() -> None:
    assert outcomes("failure-detection", "wait")[1:] == [
        "time passes",
        "time passes; A's heartbeat at 51 s: REBALANCE_IN_PROGRESS",
    ]


def test_a_newcomer_that_waits_is_gone_after_five_minutes() -> None:
    assert outcomes("parked-newcomer", "wait")[1:] == [
        "time passes; A's heartbeat at 6 s: REBALANCE_IN_PROGRESS",
        "time passes; C: UNKNOWN_MEMBER_ID",
    ]


def test_a_slow_consumer_is_dropped_at_the_rebalance_timeout() -> None:
    turns = reported("slow-consumer")
    dropped = next(turn for turn in turns if turn.state["members"] == "A-1 leads" and turn.state["generation"] == "2")
    began = next(turn for turn in turns if turn.state["group"] == "PreparingRebalance" and turn.call.line > 8)
    assert (began.state["time"], dropped.state["time"]) == ("6 s", "26 s")  # rebalance=20s


def test_range_wins_over_cooperative_sticky_listed_behind_it() -> None:
    assert outcomes("two-assignors", "wait") == [f"time passes; {GENERATION_1}"]


def test_offsets_outlive_seven_days_by_the_next_look() -> None:
    kept = [turn.state["committed"] for turn in reported("offset-expiry") if turn.call.verb == "wait"]
    assert kept == ["", "orders-0 5", ""]


def test_a_generation_that_was_not_written_is_given_once_more() -> None:
    joined = [text for text in outcomes("failover-not-written", "join", "B") if "generation" in text]
    assert len(joined) == 2
    assert {text.partition(",")[0] for text in joined} == {"generation 2"}


def test_what_waits_for_a_dying_coordinator_is_answered_16() -> None:
    assert outcomes("failover-joining", "coordinator-dies") == [
        "waiting requests fail; A: NOT_COORDINATOR; C: NOT_COORDINATOR"
    ]


def test_kip_848_moves_partitions_heartbeat_by_heartbeat() -> None:
    assert outcomes("broker-plans", "join", "B") == ["epoch 3, assigned nothing"]
    assert outcomes("broker-plans", "beat", "A")[0] == "epoch 2, assigned orders-0, orders-1, orders-2"
    assert outcomes("broker-plans", "beat", "B") == ["epoch 3, assigned orders-3, orders-4, orders-5"]


# Brokers


def test_the_hash_of_the_group_id_finds_the_partition() -> None:
    found = [text.split(", ")[1] for text in outcomes("finder", "find")[:5]]
    assert found == [f"partition {number}" for number in (48, 42, 12, 26, 0)]  # checked with Kafka's class


def test_idle_connections_close_after_nine_minutes() -> None:
    assert outcomes("connections", "wait") == [
        "no connection is closed",
        "closes bootstrap b1, leader b3",
        "closes coordinator b2, leader b1, leader b2",
    ]
    assert outcomes("connections-stay", "wait") == ["no connection is closed"]


def test_one_member_of_each_group_reads_a_record() -> None:
    assert outcomes("queue-and-broadcast", "produce") == [
        "read by billing/c1, audit/a1",
        "read by billing/c2, audit/a1",
        "read by billing/c3, audit/a1",
        "read by billing/c3",
    ]


def test_cleaning_keeps_the_newest_of_each_key_and_tombstones_for_a_day() -> None:
    assert outcomes("offsets-topic", "clean") == ["1 record is gone", "3 records are gone", "3 records are gone"]
    assert outcomes("offsets-topic", "consume")[0] == "__consumer_offsets-12 gets (my-group, orders-0) = 5"


def test_examples_in_the_documentation() -> None:
    for module in (calls, script):
        failed, attempted = doctest.testmod(module)
        assert (failed, bool(attempted)) == (0, True)
