"""What the fast paths of the broker's assignors share: partitions as codes, and lists known to be in Java's order."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from assignors.broker.group_spec import ServerGroup
from assignors.javahash import uuid_hash
from assignors.javahash.hashes import Hashes, uuid_order
from assignors.layout import Codes, Layout, PartitionList
from assignors.model import Topic
from assignors.topic_ids import topic_uuid

Numbers = NDArray[np.int64]
Members = NDArray[np.intp]


class BrokerList(PartitionList):
    """A member's partitions, and the JDK in whose order they already are.

    `recorded_jdk`: on that JDK, writing the list as a record and reading it back gives the same order; None: nobody
    has looked. `recorded`: what reading it back gave when somebody did, as the coordinator keeps it in memory.
    """

    __slots__ = ("recorded", "recorded_jdk")

    def __init__(self, layout: Layout, codes: Codes, recorded_jdk: int | None = None) -> None:
        self.layout = layout
        self.codes = codes
        self.recorded_jdk = recorded_jdk
        self.recorded: BrokerList | None = None


@lru_cache(maxsize=16)
def layout_of(topics: tuple[tuple[str, int], ...]) -> Layout:
    """The layout of topics, given as (name, partitions)."""
    return Layout(dict(topics))


def topic_hashes(topics: Sequence[Topic]) -> Hashes:
    """The hash codes of the topics' ids."""
    return np.fromiter((_topic_hash(topic.name, topic.topic_id) for topic in topics), dtype=np.int32, count=len(topics))


@lru_cache(maxsize=65536)
def _topic_hash(name: str, topic_id: str | None) -> int:
    return uuid_hash(topic_uuid(Topic(name, 0, topic_id=topic_id)))


def topic_ranks(topics: Sequence[Topic]) -> list[tuple[int, int]]:
    """What sorts as the topics' ids do."""
    return [_topic_rank(topic.name, topic.topic_id) for topic in topics]


@lru_cache(maxsize=65536)
def _topic_rank(name: str, topic_id: str | None) -> tuple[int, int]:
    return uuid_order(topic_uuid(Topic(name, 0, topic_id=topic_id)))


def lengths(parts: Sequence[Codes]) -> Numbers:
    """How long the parts are."""
    return np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))


def expand(starts: Numbers, lengths: Numbers) -> Codes:
    """The codes of runs: from each start, so many, one run behind the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    codes = np.repeat((starts - (ends - lengths)).astype(np.int32), lengths)
    codes += np.arange(total, dtype=np.int32)
    return codes


def subscriptions(group: ServerGroup, layout: Layout) -> NDArray[np.bool_]:
    """Whether list (row) has topic (column)."""
    table = np.zeros((len(group.lists), len(layout.names)), dtype=np.bool_)
    for row, names in zip(table, group.lists, strict=True):
        row[[layout.position[name] for name in names if name in layout.position]] = True
    return table


def subscribers(table: NDArray[np.bool_], list_of: NDArray[np.int32]) -> list[Members]:
    """The members of each topic: for all topics that the same lists have, the same array."""
    known: dict[bytes, Members] = {}
    found = []
    for column in np.ascontiguousarray(table.T):
        key = column.tobytes()
        if key not in known:
            known[key] = np.flatnonzero(column[list_of])
        found.append(known[key])
    return found


class UncleanError(Exception):
    """Members own what does not exist, is not subscribed to or has two owners: only the exact way can tell."""
