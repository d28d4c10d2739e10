"""One member, a thread or a separate process: it joins, reads, commits and obeys orders.

A reader has a connection to the stage. It receives `Order`s and sends triples: `READY` once (it has its partitions, or
has committed if it joins no group), and `REFILL` with a topic and a partition that is nearly read. The reader ends when
the connection closes.
"""

import logging
from enum import StrEnum
from multiprocessing.connection import Connection
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, ShareConsumer, TopicPartition

from lag.embedded.workload import clients
from lag.embedded.workload.plan import GroupPlan, Protocol, partitions_of
from lag.embedded.workload.records import now_s

log = logging.getLogger(__name__)

TICK_S = 1.0
BATCH = 500
FIRST_REWIND_S = 8.0
REFILL_EVERY_S = 60.0
READY = "ready"
REFILL = "refill"


class Order(StrEnum):
    """Orders of the stage to a reader."""

    STOP_CONSUMING = "stop consuming"
    RESUME = "resume"
    LEAVE = "leave"


def act(bootstrap_servers: str, plan: GroupPlan, member: str, stage: Connection) -> None:
    """Run the member until it is ordered to leave, or the stage is gone."""
    kind = ShareReader if plan.protocol is Protocol.SHARE else Reader
    reader = kind(bootstrap_servers, plan, member, stage)
    try:
        reader.run()
    except (EOFError, BrokenPipeError):
        log.debug("%s: the stage is gone", member)
    finally:
        reader.close()


class _Member:
    """What all members have in common: they obey the stage, and report once that they are ready."""

    def __init__(self, plan: GroupPlan, stage: Connection) -> None:
        self._plan, self._stage = plan, stage
        self._stopped = self._ready = False

    def _leaves(self) -> bool:
        while self._stage.poll():
            order = self._stage.recv()
            if order == Order.LEAVE:
                return True
            self._carry_out(order)
        return False

    def _carry_out(self, order: Order) -> None:
        self._stopped = order == Order.STOP_CONSUMING

    def _report_ready(self) -> None:
        if not self._ready:
            self._ready = True
            self._stage.send((READY, "", 0))


class Reader(_Member):
    """A consumer with the planned behaviour."""

    def __init__(self, bootstrap_servers: str, plan: GroupPlan, member: str, stage: Connection) -> None:
        super().__init__(plan, stage)
        self._next: dict[tuple[str, int], int] = {}
        self._refilled_s: dict[int, float] = {}
        self._commit_due_s = 0.0
        self._first_rewind_s = now_s() + FIRST_REWIND_S
        self._consumer = Consumer(clients.consumer(bootstrap_servers, plan, member) | {"on_commit": self._committed})
        self._start()

    def run(self) -> None:
        """Read until ordered to leave. Raises EOFError or BrokenPipeError when the stage is gone."""
        while not self._leaves():
            began_s = now_s()
            self._take(self._consumer.consume(self._plan.pace_per_s or BATCH, TICK_S))
            self._after_records()
            if self._plan.pace_per_s:
                self._stage.poll(max(0.0, TICK_S - (now_s() - began_s)))

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _start(self) -> None:
        if self._plan.protocol is Protocol.ASSIGN:
            topics = self._plan.topics
            self._consumer.assign([TopicPartition(topic, p) for topic in topics for p in range(partitions_of(topic))])
        else:
            self._consumer.subscribe(list(self._plan.topics), on_assign=self._assigned)

    def _carry_out(self, order: Order) -> None:
        super()._carry_out(order)
        owned = self._consumer.assignment()
        if self._stopped:
            self._consumer.pause(owned)
        else:
            self._consumer.resume([tp for tp in owned if tp.partition not in self._plan.paused])

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if self._plan.protocol in (Protocol.CONSUMER, Protocol.COOPERATIVE):
            consumer.incremental_assign(partitions)
        else:
            consumer.assign(partitions)
        consumer.pause([tp for tp in partitions if self._stopped or tp.partition in self._plan.paused])
        self._report_ready()

    def _take(self, records: list[Message]) -> None:
        for record in records:
            topic, partition, offset = record.topic(), record.partition(), record.offset()
            if record.error() is None and topic is not None and partition is not None and offset is not None:
                self._next[topic, partition] = offset + 1

    def _committed(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        if error is None:
            self._report_ready()

    def _after_records(self) -> None:
        if self._plan.refill:
            self._ask_for_more()
        if self._plan.commits_records and self._next:
            self._move_position()

    def _ask_for_more(self) -> None:
        """Ask for a refill of partitions with little left, once a minute at most."""
        for topic, partition in self._next:
            due = now_s() - self._refilled_s.get(partition, float("-inf")) > REFILL_EVERY_S
            if due and self._left(topic, partition) < self._plan.refill_below:
                self._refilled_s[partition] = now_s()
                self._stage.send((REFILL, topic, partition))

    def _move_position(self) -> None:
        now = now_s()
        try:
            if self._plan.rewinds_by and now >= self._first_rewind_s and self._at_end():
                self._rewind()
            elif now >= self._commit_due_s:
                self._commit()
        except KafkaException as error:
            log.info("could not move the position: %s", error)

    def _left(self, topic: str, partition: int) -> int:
        """Records that the member has not read, as of the last fetch."""
        end = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), cached=True)[1]
        return int(end) - self._next[topic, partition]

    def _at_end(self) -> bool:
        return all(self._left(topic, partition) <= 0 for topic, partition in self._next)

    def _rewind(self) -> None:
        self._next = {key: max(0, offset - self._plan.rewinds_by) for key, offset in self._next.items()}
        for position in self._positions():
            self._consumer.seek(position)
        self._commit()

    def _commit(self) -> None:
        self._consumer.commit(offsets=self._positions(), asynchronous=False)
        self._commit_due_s = now_s() + clients.COMMIT_EVERY_S

    def _positions(self) -> list[TopicPartition]:
        return [TopicPartition(topic, partition, offset) for (topic, partition), offset in self._next.items()]


class ShareReader(_Member):
    """A member of a share group; it acknowledges records with the next poll."""

    def __init__(self, bootstrap_servers: str, plan: GroupPlan, member: str, stage: Connection) -> None:
        super().__init__(plan, stage)
        self._consumer = ShareConsumer(clients.share_consumer(bootstrap_servers, plan, member))
        self._consumer.subscribe(list(plan.topics))

    def run(self) -> None:
        """Read until ordered to leave. Raises EOFError or BrokenPipeError when the stage is gone."""
        while not self._leaves():
            if self._stopped:
                self._stage.poll(TICK_S)
                continue
            taken: Any = self._consumer.poll(TICK_S)
            if len(taken):
                self._report_ready()

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()
