"""Scripts that cannot be simulated: each is refused with its line and what it takes."""

import pytest

from assignors.labs.calls import Kind, ScriptError, play_on, usages
from assignors.labs.calls.script import MOST_LINES


@pytest.mark.parametrize(
    ("kind", "script", "why"),
    [
        (Kind.CLIENT, "subscrib orders", "Line 1: there is no call 'subscrib'. Did you mean 'subscribe'?"),
        (Kind.CLIENT, "# a remark\n\nfly", "Line 3: there is no call 'fly'. Choose from topic, produce,"),
        (Kind.CLIENT, "orders?", "Line 1: 'orders?' is not a call. Write it like `subscribe orders` or `A: join`."),
        (Kind.CLIENT, "topic orders", "Line 1: 'topic orders' is not valid. Write `topic NAME PARTITIONS`."),
        (Kind.CLIENT, "topic orders 1 2", "Line 1: 'topic orders 1 2' is not valid."),
        (Kind.CLIENT, "poll fast=yes", "Line 1: 'poll fast=yes' is not valid. Write `poll [waits=yes]`."),
        (Kind.CLIENT, "topic orders many", "Line 1: 'many' is not a whole number."),
        (Kind.CLIENT, "topic orders 99999999999999", "Line 1: '99999999999999' is not a whole number."),
        (Kind.CLIENT, "topic orders 0", "Line 1: a topic is created once, with 1 to 20 partitions."),
        (Kind.CLIENT, "produce orders-0 1", "Line 1: there is no partition orders-0. Create its topic first"),
        (Kind.CLIENT, "topic t 1\nproduce t 1", "Line 2: 't' is not a partition. Write it like orders-0."),
        (Kind.CLIENT, "topic t 1\nproduce t-0 9999", "Line 2: a partition holds 1 to 5,000 records."),
        (Kind.CLIENT, "wait 31d", "Line 1: '31d' is not a time up to 30d. Write it like 500ms, 45s, 9min, 7d."),
        (Kind.CLIENT, "wait 3", "Line 1: '3' is not a time up to 30d."),
        (Kind.CLIENT, "config acks all", "Line 1: 'acks' is not used here. Use one of group.id,"),
        (Kind.CLIENT, "unsubscribe\nconfig group.id g", "Line 2: settings must come before the first call"),
        (Kind.CLIENT, "subscribe-pattern [", "Line 1: '[' is not a regular expression."),
        (Kind.CLIENT, "assign t-0", "Line 1: there is no partition t-0."),
        (Kind.CLIENT, "listener sleep", "Line 1: a listener is `listener rewind RECORDS` or `listener store`."),
        (Kind.CLIENT, "topic t 1\nsubscribe t\npoll waits=yes\npoll", "Line 4: main is still in poll."),
        (Kind.CLIENT, "commit t-0", "Line 1: `commit` takes no arguments, or a partition and an offset."),
        (Kind.CLASSIC_GROUP, "join", "Line 1: name the member: `A: join`."),
        (Kind.CLASSIC_GROUP, "A: join assignors=best", "Line 1: there is no assignor 'best'. Choose from range,"),
        (Kind.CLASSIC_GROUP, "coordinator-dies", "Line 1: there is no coordinator."),
        (Kind.CLASSIC_GROUP, "coordinator-loads", "Line 1: the coordinator has not failed."),
        (Kind.CLASSIC_GROUP, "coordinator-ready", "Line 1: no coordinator is loading."),
        (Kind.CLASSIC_GROUP, "alive A", "Line 1: A has not joined."),
        (Kind.CLASSIC_GROUP, "A: beat\nalive A\nwait 4h\nwait 1h", "Line 4: a script has at most 5,000 heartbeats."),
        (
            Kind.CLASSIC_GROUP,
            "broker group.max.size 0",
            "Line 1: group.max.size is 0: Kafka throws ConfigException, expecting a number of type INT, at least 1.",
        ),
        (Kind.CLASSIC_GROUP, "broker speed 1", "Line 1: 'speed' is not used here."),
        (Kind.CLASSIC_GROUP, "A: beat\nbroker group.max.size 2", "Line 2: broker settings must come before"),
        (Kind.CLASSIC_GROUP, "topic t 101", "Line 1: a topic has 1 to 100 partitions."),
        (Kind.CONSUMER_GROUP, "join", "Line 1: name the member: `A: join`."),
        (Kind.CONSUMER_GROUP, "topic t 0", "Line 1: a topic has 1 to 100 partitions."),
        (Kind.FINDER, "brokers 10", "Line 1: a cluster has 1 to 9 brokers here."),
        (Kind.FINDER, "offsets-topic 0", "Line 1: use 1 to 1,000 partitions."),
        (Kind.FINDER, "broker-dies 4", "Line 1: there are brokers 1 to 3."),
        (Kind.CONNECTIONS, "fetch b1", "Line 1: the leaders come from the metadata. Write `bootstrap BROKER`"),
        (Kind.CONNECTIONS, "find-coordinator b1", "Line 1: FindCoordinator needs a broker to ask."),
        (Kind.CONNECTIONS, "heartbeat", "Line 1: heartbeats go to the coordinator."),
        (Kind.GROUPS, "partitions 0", "Line 1: use 1 to 50 partitions."),
        (Kind.GROUPS, "group g c1 c1", "Line 1: name up to 50 members, each once."),
        (
            Kind.CLIENT,
            "wakeup\n" * (MOST_LINES + 1),
            f"Line {MOST_LINES + 1}: a script has at most {MOST_LINES} calls.",
        ),
    ],
)
def test_a_line_that_cannot_be_played_says_why(kind: Kind, script: str, why: str) -> None:
    with pytest.raises(ScriptError) as refusal:
        play_on(kind, script)
    assert str(refusal.value).startswith(why)


@pytest.mark.parametrize(
    ("kind", "script", "error"),
    [
        (Kind.CLIENT, "config max.poll.records 0", "ConfigException"),
        (Kind.CLIENT, "config auto.offset.reset by_duration:P", "ConfigException"),
        (Kind.CLIENT, "config enable.auto.commit maybe", "ConfigException"),
        (Kind.CLIENT, "topic t 1\nassign t-0\ncommit t-0 -1", "IllegalArgumentException"),
        (Kind.CLIENT, "topic t 1\ndelete-records t-0 1", "OffsetOutOfRangeException"),
        (Kind.CLIENT, "topic t 1\nposition t-0", "IllegalStateException"),
        (Kind.GROUPS, "produce 1", "TimeoutException"),
        (Kind.OFFSETS_TOPIC, "delete-group g", "GROUP_ID_NOT_FOUND"),
        (Kind.OFFSETS_TOPIC, "consume g t-0 -1", "IllegalArgumentException"),
        (
            Kind.CLASSIC_GROUP,
            "broker group.max.size 1\nbroker group.initial.rebalance.delay.ms 0\nA: join\nA: join\nA: sync\nB: join",
            "GROUP_MAX_SIZE_REACHED",
        ),
    ],
)
def test_what_kafka_refuses_has_kafkas_name(kind: Kind, script: str, error: str) -> None:
    assert play_on(kind, script)[-1].error == error


@pytest.mark.parametrize("kind", Kind)
def test_every_machine_says_what_can_be_called(kind: Kind) -> None:
    verbs = [usage.split()[0] for usage in usages(kind)]
    assert len(set(verbs)) == len(verbs) > 2
