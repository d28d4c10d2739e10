"""Records of `__consumer_offsets` in the order of the log, and those of transactions once their marker is there.

A commit of a transaction counts from its COMMIT marker on, and not if a later record of the same key, outside of a
transaction, stands before that marker. Source: `replay` and `replayEndTransactionMarker` of Kafka's
OffsetMetadataManager.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

NO_PRODUCER = -1
"""The producer id of a record outside of a transaction."""


class GroupRecord(NamedTuple):
    """A record and its time; a `value` of None is a tombstone. `producer_id`: of its transaction, else NO_PRODUCER."""

    at_ms: int
    key: bytes
    value: bytes | None
    producer_id: int = NO_PRODUCER


class Marker(NamedTuple):
    """The end of a transaction in this partition."""

    producer_id: int
    is_commit: bool


@dataclass(frozen=True, slots=True)
class OpenTransactions:
    """The commits of one partition of the topic whose transactions have not ended, by producer id and key."""

    pending: Mapping[int, Mapping[bytes, GroupRecord]] = field(default_factory=dict)

    def after(self, records: Iterable[GroupRecord | Marker]) -> "tuple[tuple[GroupRecord, ...], OpenTransactions]":
        """The records that count now, and what is open after them.

        Those outside of a transaction count, and those whose transaction is committed.
        """
        pending = {producer_id: dict(held) for producer_id, held in self.pending.items()}
        found: list[GroupRecord] = []
        for record in records:
            if isinstance(record, Marker):
                ended = pending.pop(record.producer_id, {})
                found += ended.values() if record.is_commit else ()
            elif record.producer_id != NO_PRODUCER:
                pending.setdefault(record.producer_id, {})[record.key] = record
            else:
                found.append(record)
                for held in pending.values():
                    held.pop(record.key, None)
        return tuple(found), OpenTransactions(pending)


NONE_OPEN = OpenTransactions()
