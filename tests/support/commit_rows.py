"""Decoded offset commits one by one; the product has them as columns."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from lag.records import Commits
from lag.records.java_text import text
from lag.records.model import NONE


@dataclass(frozen=True, slots=True)
class Commit:
    """An offset commit, times in ms since 1970; None: not in the record. A tombstone has only the key's fields."""

    group_id: str
    topic: str
    partition: int
    tombstone: bool
    offset: int | None
    leader_epoch: int | None
    metadata: str | None
    commit_ts: int | None
    expire_ts: int | None
    topic_id: UUID | None


def rows(commits: Commits) -> list[Commit]:
    """The commits in their order."""
    groups, topics = commits.group_ids.objects(), commits.topics.objects()
    return [_row(commits, at, groups[at], topics[at]) for at in range(len(commits))]


def _row(commits: Commits, at: int, group_id: str, topic: str) -> Commit:
    place = (group_id, topic, int(commits.partitions[at]))
    if commits.tombstones[at]:
        return Commit(*place, True, None, None, None, None, None, None)
    topic_id = commits.topic_ids[at]
    return Commit(
        *place,
        tombstone=False,
        offset=int(commits.offsets[at]),
        leader_epoch=_known(commits.leader_epochs[at]),
        metadata=text(commits.metadata[at] or b""),
        commit_ts=int(commits.commit_ts[at]),
        expire_ts=_known(commits.expire_ts[at]),
        topic_id=UUID(bytes=topic_id.tobytes()) if topic_id.any() else None,
    )


def _known(number: Any) -> int | None:
    return None if number == NONE else int(number)
