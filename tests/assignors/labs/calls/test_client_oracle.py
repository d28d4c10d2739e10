"""The call lab's consumer beside Kafka's own SubscriptionState (in its MockConsumer), on random calls."""

import random
from collections.abc import Callable
from typing import Any

import jpype
import pytest

from assignors.advice.offset_reset import reset_duration_ms
from assignors.labs.calls.client import Client
from assignors.labs.calls.script_machine import Turn, play

SEED, SEQUENCES, CALLS = 20_261_122, 200, 14
CONSUMER = "org.apache.kafka.clients.consumer."
WORLD = ("topic orders 2", "topic payments 1")
PARTITIONS = ("orders-0", "orders-1", "payments-0")
VERBS = (
    *("subscribe orders", "subscribe orders payments", "subscribe-pattern pay.*", "unsubscribe"),
    *("assign orders-1", "assign orders-0 payments-0", "wakeup", "poll", "poll", "poll"),
    *(f"{verb} {partition}" for verb in ("pause", "resume") for partition in PARTITIONS),
    *("pause orders-0 payments-0", "seek orders-0 3", "seek payments-0 0", "close"),
)


class Java:
    """Kafka's MockConsumer, which is given its partitions by us and checks them against its subscription."""

    def __init__(self) -> None:
        self._class = jpype.JClass
        self.consumer = self._class(CONSUMER + "MockConsumer")("earliest")
        starts = self._class("java.util.HashMap")()
        for partition in PARTITIONS:
            starts.put(self._partition(partition), self._class("java.lang.Long").valueOf(0))
        self.consumer.updateBeginningOffsets(starts)
        field = self.consumer.getClass().getDeclaredField("subscriptions")
        field.setAccessible(True)
        self._subscriptions = field.get(self.consumer)  # the mock's own set of paused ones outlives their assignment

    def _partition(self, text: str) -> Any:
        topic, number = text.rsplit("-", 1)
        return self._class("org.apache.kafka.common.TopicPartition")(topic, int(number))

    def _list(self, values: list[Any]) -> Any:
        made = self._class("java.util.ArrayList")()
        for value in values:
            made.add(value)
        return made

    def call(self, turn: Turn) -> str | None:
        """The class of what it throws."""
        try:
            self._do(turn)
        except jpype.JException as error:
            return str(error.getClass().getSimpleName())
        return None

    def _do(self, turn: Turn) -> None:
        words = list(turn.call.words)
        match turn.call.verb:
            case "subscribe":
                self.consumer.subscribe(self._list(words))
            case "subscribe-pattern":
                self.consumer.subscription()  # throws when it is closed; the mock would assign at once
                pattern = self._class("java.util.regex.Pattern").compile(words[0])
                self._subscriptions.subscribe(pattern, self._class("java.util.Optional").empty())
            case "assign" | "pause" | "resume" as verb:
                getattr(self.consumer, verb)(self._list([self._partition(word) for word in words]))
            case "seek":
                self.consumer.seek(self._partition(words[0]), int(words[1]))
            case "poll":
                self._poll(turn)
            case verb:
                getattr(self.consumer, verb)()

    def _poll(self, turn: Turn) -> None:
        is_auto = turn.state["subscription"].startswith("AUTO")
        if is_auto and turn.error is None:
            given = [self._partition(name) for name in names(turn.state["assigned"])]
            if turn.state["subscription"].startswith("AUTO_PATTERN"):
                self._subscriptions.subscribeFromPattern(self._class("java.util.Set").of("payments"))
            self.consumer.rebalance(self._list(given))
        self.consumer.poll(self._class("java.time.Duration").ZERO)

    def assigned(self) -> tuple[set[str], set[str]]:
        """Partitions, and those that are paused."""
        its = self._subscriptions
        return set(map(str, its.assignedPartitions())), set(map(str, its.pausedPartitions()))


def names(assigned: str) -> list[str]:
    return [part.removesuffix(" paused") for part in assigned.split(", ") if part]


@pytest.fixture(scope="module")
def kafka(java_classes: Callable[[str], Any]) -> None:
    """The JVM runs."""
    java_classes(CONSUMER + "MockConsumer")


def test_random_calls_are_done_and_refused_as_by_kafkas_subscription_state(kafka: None) -> None:
    chance, refused = random.Random(SEED), 0
    for _ in range(SEQUENCES):
        script = "\n".join([*WORLD, *chance.choices(VERBS, k=CALLS)])
        java = Java()
        for turn in play(Client(), script)[len(WORLD) :]:
            if turn.call.verb == "poll" and turn.state["subscription"] == "NONE":
                # The mock polls in vain, KafkaConsumer throws: what it looks at is that nothing is subscribed.
                assert java.consumer.subscription().isEmpty()
                assert java.consumer.assignment().isEmpty()
                continue
            theirs = java.call(turn)
            assert theirs == turn.error, (script, turn.call)
            refused += theirs is not None
            if turn.state["subscription"] == "closed":
                break
            paused = {part.removesuffix(" paused") for part in turn.state["assigned"].split(", ") if "paused" in part}
            assert java.assigned() == (set(names(turn.state["assigned"])), paused), (script, turn.call)
    assert refused > SEQUENCES


DURATIONS = ("PT1H", "P7D", "P1DT2H3M4.5S", "pt30m", "PT1H-30M", "PT0S", "PT+5M", "+PT1M", "-PT-1M")
REFUSED = ("P", "PT", "P1DT", "-PT1H", "PT-1H", "", "P1W", "PT5", "1H")


@pytest.mark.parametrize("text", DURATIONS)
def test_a_duration_is_read_as_kafka_reads_it(kafka: None, text: str) -> None:
    policy = f"by_duration:{text}"
    theirs = jpype.JClass(CONSUMER + "internals.AutoOffsetResetStrategy").fromString(policy)
    ours = jpype.JClass("java.time.Duration").ofMillis(reset_duration_ms(policy))
    assert f"duration={ours}}}" in str(theirs)
    assert play(Client(), f"config auto.offset.reset {policy}")[0].error is None


@pytest.mark.parametrize("policy", [*(f"by_duration:{text}" for text in REFUSED), "PT1H", "newest"])
def test_a_policy_that_kafka_refuses_is_refused(kafka: None, policy: str) -> None:
    with pytest.raises(jpype.JException):
        jpype.JClass(CONSUMER + "internals.AutoOffsetResetStrategy").fromString(policy)
    assert play(Client(), f"config auto.offset.reset {policy}")[0].error == "ConfigException"
    assert reset_duration_ms(policy) is None
