"""Do this next: the commands to paste, the effect of the change, and the what-if that it opens."""

import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from kafka import KafkaProducer
from streamlit.testing.v1 import AppTest

from app.ui import state
from app.ui.labs import link_codec
from app.views.group.answer.commands import Tools, commands
from app.views.group.answer.reset_link import reset_link
from app.views.group.view import GroupView, group_view
from assignors.model import TopicPartition
from assignors.whatif.events import Join, Restart
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import open_reader
from lag.cluster.requests.error_codes import group_problem
from lag.embedded.broker import EmbeddedKafka
from lag.model import FOREVER, ClusterSnapshot, GroupType
from lag.offsets import UNKNOWN, PartitionProblem
from lag.verdict.judge import judge
from lag.verdict.status import Status
from lag.verdict.window.sample_window import SampleRing
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import asked, page_text, title
from tests.support.java import run_tool
from tests.support.known import known
from tests.support.reset_cluster import commits, group_client, make_topic, unique

TOOLS = Tools("b:9092")
SPECS = {spec.group_id: spec for spec in synthetic.specs()}


def seen(spec: synthetic.Spec, **topic: Any) -> tuple[GroupView, ClusterSnapshot]:
    """The group of a spec, alone on its cluster; `topic` replaces fields of each of its topics."""
    snapshot = synthetic.snapshot([spec])
    snapshot = replace(snapshot, topics={name: replace(its, **topic) for name, its in snapshot.topics.items()})
    return group_view(snapshot.groups[0], snapshot, synthetic.health([spec], snapshot)), snapshot


def lines(spec: synthetic.Spec, **topic: Any) -> list[str]:
    """The command lines for the group of a spec."""
    return [command.line for command in commands(*seen(spec, **topic), TOOLS)]


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (
            "billing-settlement",
            [
                "kafka-console-consumer --bootstrap-server b:9092 --topic billing.events --partition 7"
                f" --offset {96_000_000 + 7 * 417_003 - 402_117} --max-messages 1"
            ],
        ),
        (
            "orders-enrichment",
            [
                "kafka-configs --bootstrap-server b:9092 --alter --entity-type topics --entity-name orders"
                f" --add-config retention.ms={2 * 604_800_000}"
            ],
        ),
        (
            "tx-reader",
            [
                "kafka-transactions --bootstrap-server b:9092 describe-producers --topic tx.events --partition 0",
                "kafka-transactions --bootstrap-server b:9092 abort --topic tx.events --partition 0"
                " --start-offset 9000",
            ],
        ),
        (
            "recreated-topic-reader",
            [
                "kafka-consumer-groups --bootstrap-server b:9092 --reset-offsets --group recreated-topic-reader"
                " --topic recreated:0,1,2 --to-earliest --dry-run"
            ],
        ),
        (
            "returns-processor",
            [
                "kafka-consumer-groups --bootstrap-server b:9092 --delete --group returns-processor",
            ],
        ),
        ("dlq-replayer", ["kafka-consumer-groups --bootstrap-server b:9092 --describe --group dlq-replayer --state"]),
        (
            "replayer",
            ["kafka-consumer-groups --bootstrap-server b:9092 --describe --group replayer --members --verbose"],
        ),
    ],
)
def test_each_verdict_has_the_command_of_kafkas_own_tool(group: str, expected: list[str]) -> None:
    assert lines(SPECS[group]) == expected


@pytest.mark.parametrize(
    ("group", "wanted"),
    [
        ("orders-enrichment", ("earliest", "", "orders:0,1")),
        ("recreated-topic-reader", ("earliest", "", "recreated:0,1,2")),
        ("billing-settlement", ("skip", f"billing.events:7:{96_000_000 + 7 * 417_003 - 402_117}", "")),
        ("dlq-replayer", ("delete-group", "", "")),
        ("returns-processor", ("delete-group", "", "")),
    ],
)
def test_a_verdict_that_a_reset_answers_opens_its_plan(
    open_page: Open, group: str, wanted: tuple[str, str, str]
) -> None:
    page = open_page("group", group=group)
    page.button(key="next_step_to_reset").click().run()
    assert not page.exception
    assert title(page).endswith(f"`{group}`")
    link = asked(page)
    assert (link["group"], link["to"], link.get("value", ""), link.get("topics", "")) == (group, *wanted)
    assert page.selectbox(key="reset_to").value == wanted[0]


@pytest.mark.parametrize("group", ["replayer", "tx-reader", "payments-ledger-writer"])
def test_where_a_reset_is_no_answer_none_is_offered(open_page: Open, group: str) -> None:
    assert "next_step_to_reset" not in [button.key for button in open_page("group", group=group).button]


def lost(partitions: int, of: int) -> synthetic.Spec:
    """A group that lost records in the first partitions of its topic."""
    rows = synthetic.rows("t", [9_000] * of, [10] * of, 0)
    bad = tuple(replace(row, status=Status.BEYOND_END) for row in rows[:partitions])
    return replace(SPECS["recreated-topic-reader"], rows=bad + tuple(rows[partitions:]))


def test_partitions_that_are_well_are_never_reset_with_the_others() -> None:
    named = ",".join(map(str, range(30)))
    view, _ = seen(lost(30, of=40))
    assert known(reset_link(view)).parameters["topics"] == f"t:{named}"
    assert f"--topic t:{named} --to-earliest" in lines(lost(30, of=40))[0]
    assert "--topic t --to-earliest" in lines(lost(30, of=30))[0]
    many, _ = seen(lost(900, of=901))
    assert reset_link(many) is None


def held(stable: Sequence[int]) -> synthetic.Spec:
    """A group held on partitions of its topic with these last stable offsets, and OK on one more partition."""
    rows = [synthetic.Row("t", at, 9_000, 9_100, 0, Status.HELD, stable=its) for at, its in enumerate(stable)]
    return replace(SPECS["tx-reader"], rows=(*rows, synthetic.Row("t", len(stable), 100, 100, 0, Status.OK)))


def test_a_transaction_is_aborted_on_every_partition_that_it_holds() -> None:
    """`kafka-transactions abort` writes the marker to one partition: the others stayed held."""
    shown, aborted = commands(*seen(held([9_000, 9_010, 9_020, 9_030, 9_040])), TOOLS)
    abort = "kafka-transactions --bootstrap-server b:9092 abort --topic t --partition"
    assert aborted.line.split("\n") == [f"{abort} {at} --start-offset {9_000 + 10 * at}" for at in range(5)]
    assert aborted.purpose == "Abort its transaction if the producer is gone, on each of 5 partitions"
    assert [line.rsplit(" ", 1)[1] for line in shown.line.split("\n")] == ["0", "1", "2", "3", "4"]


def test_no_transaction_is_aborted_at_a_last_stable_offset_that_is_unknown() -> None:
    shown, aborted = lines(held([9_000, UNKNOWN]))
    assert shown.count("\n") == 1
    assert aborted.endswith("--partition 0 --start-offset 9000")
    assert len(lines(held([UNKNOWN]))) == 1


def test_the_commands_end_a_transaction_that_hangs_on_five_partitions(kafka: EmbeddedKafka) -> None:
    topic, group = unique("hangs"), unique("reader")
    make_topic(kafka.bootstrap_servers, topic, 5)
    producer = KafkaProducer(
        bootstrap_servers=kafka.bootstrap_servers, transactional_id=topic, transaction_timeout_ms=600_000
    )
    producer.init_transactions()
    producer.begin_transaction()
    for partition in range(5):
        producer.send(topic, b"held", partition=partition).get(30)
    settings = load_settings(kafka.bootstrap_servers, None, {})
    with group_client(kafka.bootstrap_servers) as client, closing(open_reader(settings, "test")) as reader:
        client.commit(group, commits(topic, dict.fromkeys(range(5), 0)))
        ring = SampleRing()
        for number in range(1, 5):
            snapshot = reader.read(number, 20_000 * number)
            window = ring.append(snapshot)
        view = group_view(known(snapshot.group(group)), snapshot, judge(snapshot, window))
        assert view.partitions_with(Status.HELD) == [TopicPartition(topic, partition) for partition in range(5)]
        for command in commands(view, snapshot, Tools(kafka.bootstrap_servers)):
            for line in command.line.split("\n"):
                run_tool("org.apache.kafka.tools.TransactionsCommand", *shlex.split(line)[1:])
        after = known(reader.read(5, 100_000).group(group))
        assert [(row.last_stable, row.log_end) for row in after.partitions] == [(2, 2)] * 5
    producer.close(0)


@pytest.mark.parametrize("retention_ms", [None, FOREVER])
def test_a_retention_that_is_unknown_or_unlimited_is_not_doubled(retention_ms: int | None) -> None:
    (line,) = lines(SPECS["orders-enrichment"], retention_ms=retention_ms)
    assert "--describe" in line
    assert "retention.ms" not in line


GRANT = "kafka-acls --bootstrap-server b:9092 --add --allow-principal User:groupscope --operation DESCRIBE "
TOPIC_DENIED = 29


def denied(*topics: str, code: int) -> synthetic.Spec:
    """A group that its coordinator does not describe, with a partition of each of the topics that were refused."""
    rows = tuple(
        replace(row, problem=PartitionProblem.UNAUTHORIZED, end=None, status=Status.UNKNOWN)
        for topic in topics
        for row in synthetic.rows(topic, [9_000], [10], 0)
    )
    shut = SPECS["gdpr-erasure-worker"]
    return replace(shut, rows=rows, problems=(group_problem(shut.group_id, code),))


def test_a_group_refused_by_the_acl_of_a_topic_is_granted_the_topic() -> None:
    assert lines(denied("pay", "tax", code=TOPIC_DENIED)) == [f"{GRANT}--topic pay --topic tax"]
    (unnamed,) = commands(*seen(denied(code=TOPIC_DENIED)), TOOLS)
    assert unnamed.line == f"{GRANT}--topic TOPIC"
    assert unnamed.purpose.endswith("and TOPIC with each topic that the group's members subscribe to")


def test_a_group_refused_by_its_own_acl_is_granted_the_group() -> None:
    assert lines(denied("pay", code=synthetic.GROUP_AUTHORIZATION_FAILED)) == [f"{GRANT}--group gdpr-erasure-worker"]


def test_a_group_that_is_read_without_its_topic_is_granted_the_topic() -> None:
    assert lines(replace(denied("pay", code=TOPIC_DENIED), problems=())) == [f"{GRANT}--topic pay"]


def test_a_group_id_is_quoted_for_the_shell() -> None:
    odd = replace(SPECS["replayer"], group_id="a'; rm -rf $HOME")
    assert """--group 'a'"'"'; rm -rf $HOME' --members""" in lines(odd)[0]


def test_a_share_group_has_the_tool_for_share_groups() -> None:
    shared = replace(SPECS["replayer"], type=GroupType.SHARE)
    assert lines(shared)[0].startswith("kafka-share-groups ")
    (reset,) = lines(replace(lost(2, of=4), type=GroupType.SHARE))
    assert reset.endswith("--reset-offsets --group recreated-topic-reader --topic t:0,1 --to-earliest --dry-run")


def test_a_streams_group_has_the_tool_and_the_options_for_streams_groups() -> None:
    view, snapshot = seen(replace(lost(2, of=4), type=GroupType.STREAMS))
    (command,) = commands(view, snapshot, TOOLS)
    assert command.line == (
        "kafka-streams-groups --bootstrap-server b:9092 --reset-offsets --group recreated-topic-reader"
        " --input-topic t:0,1 --to-earliest --dry-run"
    )
    assert "--execute instead of --dry-run" in command.purpose
    assert command.purpose.endswith("--delete-all-internal-topics")
    assert reset_link(view) is None


def test_a_secured_cluster_needs_a_file_with_credentials(open_page: Open) -> None:
    page = open_page("group", group="replayer")
    assert page.code[0].value.startswith(
        "kafka-consumer-groups --bootstrap-server demo:9092 --command-config client.properties --describe"
    )


def opened(page: AppTest) -> Any:
    """The scenario that the block's button opens."""
    page.button(key="next_step_to_whatif").click().run()
    assert not page.exception
    return link_codec.unpack(asked(page)["scenario"])


def test_members_are_added_until_the_lag_drains(open_page: Open) -> None:
    """12 partitions get 480 records a second, and a member processes 93: two more members are enough."""
    page = open_page("group", group="payments-ledger-writer")
    assert "**If 2 members join:** 4 of 12 partitions move, 4 paused, 0 idle members, drain time never → 19 min" in (
        page_text(page).replace("\\", "")
    )
    scenario = opened(page)
    assert [type(event.action) for event in scenario.events] == [Join, Join]


def test_a_stuck_member_restarts(open_page: Open) -> None:
    page = open_page("group", group="billing-settlement")
    assert "**If settle-7c9f-0 restarts:** 40 of 40 partitions move" in page_text(page).replace("\\", "")
    (event,) = opened(page).events
    assert isinstance(event.action, Restart)
    assert event.action.member_id.startswith("settle-7c9f-0")


def test_growing_a_topic_is_advised_and_has_no_command(open_page: Open, feed: feeds.HandFeed) -> None:
    """A topic never shrinks, and a what-if knows no rates of new partitions: it would say "never drains"."""
    slow = synthetic.rows("t", [9_000] * 2, [8_000] * 2, 2, status=Status.FALLING_BEHIND, produce=90.0, consume=30.0)
    feed.report = feeds.report([synthetic.Spec("full", slow, synthetic.members(2), Status.FALLING_BEHIND)])
    page = open_page("group", group="full")
    assert "or add partitions and members" in page_text(page)
    assert [line.value for line in page.code if "--alter" in line.value] == []
    assert "next_step_to_whatif" not in [button.key for button in page.button]


def test_nothing_is_advised_to_a_group_that_keeps_up_or_catches_up(open_page: Open) -> None:
    for group in ("audit-pair", "search-indexer"):
        page = open_page("group", group=group)
        assert "Do this next" not in [heading.value for heading in page.header]
        assert not page.code


def test_a_group_that_no_what_if_can_start_from_still_has_its_command(open_page: Open, feed: feeds.HandFeed) -> None:
    stalled = SPECS["billing-settlement"]
    feed.report = feeds.report([replace(stalled, state="PreparingRebalance")], at_ms=state.now_ms())
    page = open_page("group", group="billing-settlement")
    assert not page.exception
    assert len(page.code) == 1
    assert "next_step_to_whatif" not in [button.key for button in page.button]
