"""Settings of the workload's clients: small buffers and few requests, because two dozen of them share two cores."""

import logging
from typing import Any

from confluent_kafka import KafkaError

from lag.embedded.workload.plan import GroupPlan, Protocol

log = logging.getLogger(__name__)

CLASSIC_SESSION_MS = 10_000
METADATA_AGE_MS = 10_000
COMMIT_EVERY_S = 2.0
TRANSACTION_TIMEOUT_MS = 900_000
"""The broker's own limit (transaction.max.timeout.ms)."""


def common(bootstrap_servers: str, client_id: str) -> dict[str, Any]:
    """Settings of every librdkafka client here. Errors go to the log, not to the terminal."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "client.id": client_id,
        "topic.metadata.refresh.interval.ms": METADATA_AGE_MS,
        "log.connection.close": False,
        "log_level": 0,
        "error_cb": _note,
    }


def producer(bootstrap_servers: str, client_id: str) -> dict[str, Any]:
    """A producer that sends four small batches a second at most."""
    return common(bootstrap_servers, client_id) | {
        "linger.ms": 50,
        "message.timeout.ms": 30_000,
        "queue.buffering.max.kbytes": 16_384,
    }


def transactional(bootstrap_servers: str, transactional_id: str) -> dict[str, Any]:
    """A transactional producer whose transactions may stay open for a quarter of an hour."""
    return producer(bootstrap_servers, transactional_id) | {
        "transactional.id": transactional_id,
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
        "message.timeout.ms": 20_000,
    }


def consumer(bootstrap_servers: str, plan: GroupPlan, member: str) -> dict[str, Any]:
    """A consumer of that group; records arrive once per second instead of one by one."""
    return (
        common(bootstrap_servers, member)
        | {
            "group.id": plan.group_id,
            "auto.offset.reset": "latest" if plan.from_latest else "earliest",
            "enable.auto.commit": plan.commits and not plan.commits_records,
            "auto.commit.interval.ms": int(COMMIT_EVERY_S * 1000),
            "fetch.wait.max.ms": 1000,
            "fetch.min.bytes": 65_536,
            "fetch.max.bytes": 1_048_576,
            "fetch.message.max.bytes": 65_536,
            "queued.min.messages": 200,
            "queued.max.messages.kbytes": 1024,
        }
        | _membership(plan, member)
    )


def share_consumer(bootstrap_servers: str, plan: GroupPlan, member: str) -> dict[str, Any]:
    """A member of a share group; records are acknowledged as they are taken."""
    return common(bootstrap_servers, member) | {"group.id": plan.group_id, "fetch.wait.max.ms": 1000}


def _membership(plan: GroupPlan, member: str) -> dict[str, Any]:
    if plan.protocol is Protocol.CONSUMER:
        settings: dict[str, Any] = {"group.protocol": "consumer"}
    else:
        strategy = "range" if plan.protocol is Protocol.ASSIGN else str(plan.protocol)
        settings = {"partition.assignment.strategy": strategy, "session.timeout.ms": CLASSIC_SESSION_MS}
    return settings | ({"group.instance.id": member} if plan.static else {})


def _note(error: KafkaError) -> None:
    log.debug("%s", error)
