"""Who tells the brokers and the topics, when the machine has stood still meanwhile."""

from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError
from kafka.future import Future

from lag.cluster.requests.metadata import fetch

ANSWER = SimpleNamespace(topics=[], brokers=[SimpleNamespace(node_id=1, host="h", port=9, rack=None)], controller_id=1)


class WokenUpLate:
    """A connection manager after a pause of its machine: the answer has come, and the time for it has run out."""

    def __init__(self) -> None:
        self.asked = Future()
        self.cluster = SimpleNamespace(update_metadata=lambda _: None)

    async def wait_for(self, either: Future, within_ms: float) -> None:
        self.asked.success(ANSWER)
        raise KafkaTimeoutError(f"{within_ms} ms")


def test_answer_that_came_as_its_time_ran_out_is_taken() -> None:
    manager = WokenUpLate()
    client: Any = SimpleNamespace(
        nodes=lambda: [1], start=lambda *_: manager.asked, send=None, deadline_s=5.0, failed={}
    )
    with pytest.raises(StopIteration) as done:
        fetch(client, manager).send(None)  # nothing in it waits; its own loop could not run beside a browser's
    assert [broker.node_id for broker in done.value.value.brokers] == [1]
