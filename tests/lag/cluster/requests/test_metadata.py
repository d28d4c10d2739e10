"""Which broker lists the brokers and the topics, when the machine has stood still meanwhile."""

from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError
from kafka.future import Future

from lag.cluster.requests.metadata import Metadata, fetch
from lag.errors import ConnectError

TOPIC = SimpleNamespace(
    name="orders",
    is_internal=False,
    error_code=0,
    partitions=[
        SimpleNamespace(partition_index=1, leader_id=2, replica_nodes=[2, 1], isr_nodes=[2]),
        SimpleNamespace(partition_index=0, leader_id=1, replica_nodes=[1, 2], isr_nodes=[1, 2]),
    ],
)
ANSWER = SimpleNamespace(
    topics=[TOPIC], brokers=[SimpleNamespace(node_id=1, host="h", port=9, rack=None)], controller_id=1
)


class WokenUpLate:
    """A connection manager after a pause of its machine: the answer has come, and the time for it has run out."""

    def __init__(self) -> None:
        self.asked = Future()
        self.cluster = SimpleNamespace(update_metadata=lambda _: None)

    async def wait_for(self, either: Future, within_ms: float) -> None:
        self.asked.success(ANSWER)
        raise KafkaTimeoutError(f"{within_ms} ms")


def fetched() -> Metadata:
    manager = WokenUpLate()
    client: Any = SimpleNamespace(
        nodes=lambda: [1], start=lambda *_: manager.asked, send=None, deadline_s=5.0, failed={}
    )
    with pytest.raises(StopIteration) as done:
        fetch(client, manager).send(None)  # nothing in it waits; its own loop could not run beside a browser's
    found: Metadata = done.value.value
    return found


def test_answer_that_came_as_its_time_ran_out_is_taken() -> None:
    assert [broker.node_id for broker in fetched().brokers] == [1]


def test_a_broker_that_names_no_brokers_has_not_answered() -> None:
    futures = {1: Future(), 2: Future()}
    futures[1].success(SimpleNamespace(topics=[], brokers=[], controller_id=-1))
    futures[2].success(ANSWER)
    manager: Any = SimpleNamespace(cluster=SimpleNamespace(update_metadata=lambda _: None), wait_for=wait_for)
    client: Any = SimpleNamespace(
        nodes=lambda: [1, 2], start=lambda _send, node, _request: futures[node], send=None, deadline_s=5.0, failed={}
    )
    with pytest.raises(StopIteration) as done:
        fetch(client, manager).send(None)
    assert [broker.node_id for broker in done.value.value.brokers] == [1]
    futures[2] = Future()
    futures[2].success(SimpleNamespace(topics=[], brokers=[], controller_id=-1))
    client.no_answer = lambda: ConnectError("No broker answers")
    with pytest.raises(ConnectError):
        fetch(client, manager).send(None)


async def wait_for(either: Future, _within_ms: float) -> None:
    assert either.is_done


def test_a_good_answer_that_comes_with_one_without_brokers_is_taken() -> None:
    futures = {1: Future(), 2: Future()}

    async def both_at_once(_either: Future, within_ms: float) -> None:
        if client.asked == 2:
            futures[1].success(SimpleNamespace(topics=[], brokers=[], controller_id=-1))
            futures[2].success(ANSWER)
        else:
            raise KafkaTimeoutError(f"{within_ms} ms")

    def start(_send: object, node: int, _request: object) -> Future:
        client.asked = node
        return futures[node]

    manager: Any = SimpleNamespace(cluster=SimpleNamespace(update_metadata=lambda _: None), wait_for=both_at_once)
    client: Any = SimpleNamespace(nodes=lambda: [1, 2], start=start, send=None, deadline_s=5.0, failed={}, asked=0)
    with pytest.raises(StopIteration) as done:
        fetch(client, manager).send(None)
    assert [broker.node_id for broker in done.value.value.brokers] == [1]


def test_replicas_and_those_in_sync_are_in_the_order_of_the_partitions() -> None:
    orders = fetched().topics["orders"]
    assert (orders.replicas, orders.in_sync) == (((1, 2), (2, 1)), ((1, 2), (2,)))
