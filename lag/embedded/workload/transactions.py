"""Transactions that stay open: that of the permanent case, and those that the panel opens."""

import logging
import threading

from confluent_kafka import KafkaException, Producer

from lag.embedded.workload import plan
from lag.embedded.workload.records import burst, send_in_transaction, transaction
from lag.errors import EmbeddedError

log = logging.getLogger(__name__)

REOPEN_S = 600.0
OPEN_RECORDS = 5
BEHIND_RECORDS = 20
FINISH_S = 20.0


class HeldPartition:
    """Holds back the last stable offset of a partition: each transaction begins before the previous one ends."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._ids = ("transfer-gateway-a", "transfer-gateway-b")
        self._turn = 0
        self._open: Producer | None = None

    def renew(self) -> None:
        """Begin the next transaction, end the previous one, and produce records after it that readers do not see."""
        following = transaction(self._bootstrap_servers, self._ids[self._turn])
        following.begin_transaction()
        send_in_transaction(following, plan.HELD_TOPIC, 0, OPEN_RECORDS)
        if self._open is not None:
            self._open.commit_transaction(FINISH_S)
        burst(self._bootstrap_servers, "transfer-gateway", [(plan.HELD_TOPIC, 0, BEHIND_RECORDS)])
        self._open, self._turn = following, 1 - self._turn

    def keep(self, stop: threading.Event) -> None:
        """Renew until `stop` is set; failures are retried."""
        while not stop.wait(REOPEN_S):
            try:
                self.renew()
            except (KafkaException, EmbeddedError) as error:
                log.warning("could not renew the open transaction: %s", error)


class PanelTransactions:
    """Transactions opened by hand, at most one per topic. The broker aborts them after a quarter of an hour."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._open: dict[str, Producer] = {}

    def topics(self) -> tuple[str, ...]:
        """The topics with an open transaction of the panel."""
        return tuple(sorted(self._open))

    def open(self, topic: str, partitions: int) -> str:
        """Open a transaction over every partition of the topic."""
        if topic in self._open:
            raise EmbeddedError(f"A transaction is already open on {topic}", "Commit or abort it first.")
        producer = transaction(self._bootstrap_servers, f"demo-panel-{topic}")
        producer.begin_transaction()
        for partition in range(partitions):
            send_in_transaction(producer, topic, partition, 1)
        self._open[topic] = producer
        return f"A transaction is open on the {partitions} partitions of {topic}; read_committed consumers wait there."

    def end(self, topic: str, commit: bool) -> str:
        """Commit or abort the topic's transaction."""
        producer = self._open.pop(topic, None)
        if producer is None:
            raise EmbeddedError(f"The panel has no open transaction on {topic}", "Open one first.")
        if commit:
            producer.commit_transaction(FINISH_S)
        else:
            producer.abort_transaction(FINISH_S)
        return f"The transaction on {topic} is {'committed' if commit else 'aborted'}; its consumers continue."
