"""Offset commits made by hand, as the decoder gives them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from lag.records import BytesColumn, Commits, StringColumn


@dataclass(frozen=True)
class Commit:
    """One commit record; `offset` None: a tombstone."""

    group: str
    tp: str
    offset: int | None
    at_ms: int
    topic_id: UUID | None = None


def columns(commits: Sequence[Commit]) -> Commits:
    """The columns of those records, in their order."""
    n, ids = len(commits), [one.topic_id for one in commits]
    topics, partitions = zip(*(one.tp.rsplit("-", 1) for one in commits), strict=True) if commits else ((), ())
    none, rows = np.full(n, -1, np.int32), np.arange(n)
    return Commits(
        rows=rows,
        group_ids=_strings([one.group for one in commits]),
        topics=_strings(topics),
        partitions=np.array(partitions, np.int32),
        tombstones=np.array([one.offset is None for one in commits], np.bool_),
        offsets=np.array([-1 if one.offset is None else one.offset for one in commits], np.int64),
        leader_epochs=none,
        metadata=BytesColumn.of([b""] * n),
        commit_ts=np.array([-1 if one.offset is None else one.at_ms for one in commits], np.int64),
        expire_ts=np.full(n, -1, np.int64),
        topic_ids=np.frombuffer(b"".join(bytes(16) if i is None else i.bytes for i in ids), np.uint8).reshape(n, 16),
        versions=np.full(n, 3, np.int8),
    )


def _strings(texts: Sequence[str]) -> StringColumn:
    values = tuple(dict.fromkeys(texts))
    return StringColumn(np.array([values.index(text) for text in texts], np.int32), values)
