"""Id and bounds of `__consumer_offsets`, for a reader that starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.cluster.connection.connect import open_manager
from lag.cluster.connection.settings import Settings
from lag.cluster.requests import log_offsets, metadata
from lag.cluster.requests.poll_client import PollClient
from lag.cluster.requests.responses import LogOffsets
from lag.errors import ConnectError

_KINDS = (log_offsets.LOG_START, log_offsets.LAST_STABLE, log_offsets.LOG_END)


@dataclass(frozen=True, slots=True)
class OffsetsTopic:
    """The topic of one cluster: its id (None for old brokers), and the offsets of each partition.

    An open transaction holds back its partition: `last_stable` is where it begins, below `log_end` (high watermark).
    """

    cluster_id: str
    topic_id: str | None
    log_start: tuple[int, ...]
    last_stable: tuple[int, ...]
    log_end: tuple[int, ...]


def read_offsets_topic(settings: Settings, deadline_s: float = 10.0) -> OffsetsTopic:
    """Ask the leaders. Raises ConnectError if the cluster, the topic or one of its partitions cannot be read."""
    with open_manager(settings) as connection:
        return connection.manager.run(_read, connection.manager, deadline_s)


async def _read(manager: Any, deadline_s: float) -> OffsetsTopic:
    client = PollClient(manager, deadline_s)
    meta = await metadata.fetch(client, manager)
    leaders = meta.leaders.get(OFFSETS_TOPIC)
    if leaders is None or meta.cluster_id is None:
        raise ConnectError(
            f"The cluster shows no topic {OFFSETS_TOPIC}",
            "It is created when the first group commits; if there are groups, grant DESCRIBE and READ on it",
        )
    into = LogOffsets()
    for node, led in metadata.by_leader({OFFSETS_TOPIC: leaders}, {OFFSETS_TOPIC: 0}).items():
        await log_offsets.fetch(client, node, led, into, kinds=_KINDS)
    return OffsetsTopic(
        meta.cluster_id,
        meta.topics[OFFSETS_TOPIC].topic_id,
        *(_complete(into.by_partition(kind), leaders) for kind in _KINDS),
    )


def _complete(offsets: dict[int, int], leaders: Sequence[int]) -> tuple[int, ...]:
    missing = [partition for partition in range(len(leaders)) if partition not in offsets]
    if missing:
        raise ConnectError(
            f"{len(missing)} of {len(leaders)} partitions of {OFFSETS_TOPIC} could not be read, "
            f"the first is {missing[0]}",
            "Start the brokers that lead them, or grant DESCRIBE and READ on the topic",
        )
    return tuple(offsets[partition] for partition in range(len(leaders)))
