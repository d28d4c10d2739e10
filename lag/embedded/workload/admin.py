"""The admin requests of the set-up, each with the waiting that it needs."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, NoError, RetriableError, TopicAlreadyExistsError, UnknownError
from kafka.structs import OffsetAndMetadata

from lag.embedded.workload.plan import TopicPlan
from lag.errors import EmbeddedError

CONNECT_MS = 5_000
DEADLINE_S = 20.0
SEE_LOG = "See the broker's log."
RETRY_S = 0.05
SEGMENT_MS = 600_000
SEGMENT_BYTES = 1_048_576


class Admin:
    """Topics, committed offsets, configs and truncation; one request at a time, from any thread.

    Methods raise EmbeddedError if the broker refuses, or if retriable errors last for more than 20 s.
    """

    def __init__(self, bootstrap_servers: str) -> None:
        self._lock = threading.Lock()
        try:
            self._client = KafkaAdminClient(
                bootstrap_servers=bootstrap_servers, client_id="demo-admin", bootstrap_timeout_ms=CONNECT_MS
            )
        except KafkaError as error:
            raise EmbeddedError(f"No broker answers at {bootstrap_servers}: {error}", "Start it first.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def brokers(self) -> tuple[str, ...]:
        """The host names under which the brokers can be reached."""
        answer = self._ask("describe the cluster", self._client.describe_cluster)
        return tuple(broker["host"] for broker in answer["brokers"])

    def topics(self) -> frozenset[str]:
        """The names of all topics that are not Kafka's own."""
        names = self._ask("list the topics", self._client.list_topics)
        return frozenset(name for name in names if not name.startswith("__"))

    def create(self, topics: Iterable[TopicPlan]) -> None:
        """Create topics, once deleted ones of the same name are gone, and wait until every partition has a leader."""
        wanted = {topic.name: _new_topic(topic) for topic in topics}
        self._ask(
            f"create {', '.join(wanted)}",
            lambda: self._client.create_topics(wanted, wait_for_metadata=True),
            TopicAlreadyExistsError,
        )

    def delete(self, names: Iterable[str]) -> None:
        """Delete topics and wait until the metadata no longer has them."""
        gone = list(names)
        self._ask(f"delete {', '.join(gone)}", lambda: self._client.delete_topics(gone))
        wait_for(f"{', '.join(gone)} to disappear", lambda: not self.topics().intersection(gone))

    def add_partitions(self, topic: str, total: int) -> None:
        """Grow a topic to `total` partitions."""
        self._ask(f"grow {topic}", lambda: self._client.create_partitions({topic: total}))

    def commit(self, group_id: str, offsets: Mapping[str, tuple[int, ...]]) -> None:
        """Commit offsets for a group without members: one offset per partition, from 0 on."""
        wait_for(f"the commit of {group_id}", lambda: self.writes_commit(group_id, offsets))

    def writes_commit(self, group_id: str, offsets: Mapping[str, tuple[int, ...]]) -> bool:
        """Commit as `commit` does; whether the coordinator could write it to its topic."""
        wanted = {
            TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)
            for topic, row in offsets.items()
            for partition, offset in enumerate(row)
        }
        answer = self._ask(f"commit for {group_id}", lambda: _check(self._client.alter_group_offsets(group_id, wanted)))
        return UnknownError not in answer.values()

    def forget(self, group_id: str, topic: str, partition: int) -> None:
        """Drop one committed offset of a group without members."""
        gone = [TopicPartition(topic, partition)]
        self._ask(f"delete offsets of {group_id}", lambda: _check(self._client.delete_group_offsets(group_id, gone)))

    def committed(self, group_id: str) -> dict[TopicPartition, int]:
        """All offsets that the group has committed."""
        answer = self._ask(f"read {group_id}", lambda: self._client.list_group_offsets(group_id))
        return {tp: found.offset for tp, found in answer[group_id].items()}

    def truncate(self, before: Mapping[TopicPartition, int]) -> None:
        """Delete the records below the given offsets."""
        self._ask("delete records", lambda: self._client.delete_records(dict(before)))

    def set_topic_config(self, topic: str, configs: Mapping[str, str]) -> None:
        """Set configs of a topic, internal ones included."""
        self._alter(ConfigResource(ConfigResourceType.TOPIC, topic, dict(configs)))

    def reset_topic_config(self, topic: str, names: Iterable[str]) -> None:
        """Reset configs of a topic to their defaults."""
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, dict.fromkeys(names, ""))
        self._ask(f"reset {topic}", lambda: self._client.reset_configs([resource]))

    def set_group_config(self, group_id: str, configs: Mapping[str, str]) -> None:
        """Set configs of a group (KIP-848 and share groups have some)."""
        self._alter(ConfigResource(ConfigResourceType.GROUP, group_id, dict(configs)))

    def _alter(self, resource: ConfigResource) -> None:
        self._ask(f"configure {resource.name}", lambda: self._client.alter_configs([resource], raise_on_unknown=False))

    def _ask(self, what: str, request: Callable[[], Any], *also_retry: type[KafkaError]) -> Any:
        """The answer to a request; retriable errors, and those named, are retried until the deadline."""
        deadline_s = time.monotonic() + DEADLINE_S
        while True:
            try:
                with self._lock:
                    return request()
            except KafkaError as error:
                if not isinstance(error, (RetriableError, *also_retry)) or time.monotonic() > deadline_s:
                    raise EmbeddedError(f"Could not {what}: {error}", SEE_LOG) from error
            time.sleep(RETRY_S)


def _new_topic(plan: TopicPlan) -> dict[str, Any]:
    keep_ms = -1 if plan.keeps_s is None else plan.keeps_s * 1000
    configs = {"retention.ms": keep_ms, "segment.ms": SEGMENT_MS, "segment.bytes": SEGMENT_BYTES}
    return {"num_partitions": plan.partitions, "configs": {key: str(value) for key, value in configs.items()}}


def _check(answer: Mapping[TopicPartition, type[KafkaError]]) -> Mapping[TopicPartition, type[KafkaError]]:
    for tp, error in answer.items():
        if error not in (NoError, UnknownError):
            raise error(f"{tp.topic}-{tp.partition}")
    return answer


def wait_for(what: str, holds: Callable[[], bool]) -> None:
    """Wait until `holds()`; `what` names it. Raises EmbeddedError after 20 s."""
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        if time.monotonic() > deadline:
            raise EmbeddedError(f"Waited {DEADLINE_S:.0f} s without success for {what}", SEE_LOG)
        time.sleep(RETRY_S)
