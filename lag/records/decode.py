"""Keys and values of `__consumer_offsets` -> commits and group events. The one entrance."""

import numpy as np

from lag.records.byte_arrays import Blobs
from lag.records.commit_columns import Columns, read_regular
from lag.records.key_heads import IRREGULAR, Codes, Heads
from lag.records.model import Commits, Decoded, DecodeError, GroupEvent, Names, Unknown
from lag.records.single_record import SingleCommit, read_single

_MOST_HEADS = 1_000_000  # remembered from batch to batch: some 300 MB


class Decoder:
    """Reads batch after batch, and remembers their names: the first batch takes longer than the others.

    What a batch gives stays as it is when others follow. One thread at a time.
    """

    def __init__(self) -> None:
        self._heads = Heads()

    def decode(self, keys: Blobs, values: Blobs) -> Decoded:
        """Everything in these records. Bytes that cannot be read become `errors`; unknown kinds are listed and skipped.

        Raises ValueError when there are not as many keys as values.
        """
        if len(keys) != len(values):
            raise ValueError(f"{len(keys)} keys and {len(values)} values")
        if len(self._heads) > _MOST_HEADS:
            self._heads = Heads()
        columns = read_regular(keys, values, self._heads)
        groups, topics = self._heads.numbers(columns.heads)
        columns.known &= groups != IRREGULAR
        events, unknown, errors = self._read_others(keys, values, columns, (groups, topics))
        commits = _commits(columns, self._names(groups, topics), values)
        return Decoded(len(keys), commits, tuple(events), tuple(unknown), tuple(errors))

    def _read_others(
        self, keys: Blobs, values: Blobs, columns: Columns, numbers: tuple[Codes, Codes]
    ) -> tuple[list[GroupEvent], list[Unknown], list[DecodeError]]:
        """Row by row what is no regular commit; commits among it go into the columns."""
        events: list[GroupEvent] = []
        unknown: list[Unknown] = []
        errors: list[DecodeError] = []
        for row in np.flatnonzero(~columns.known).tolist():
            for found in read_single(row, keys[row], values[row]):
                match found:
                    case SingleCommit():
                        numbers[0][row] = self._heads.groups.number(found.group_id)
                        numbers[1][row] = self._heads.topics.number(found.topic)
                        columns.put(row, found, int(values.starts[row]))
                    case GroupEvent():
                        events.append(found)
                    case Unknown():
                        unknown.append(found)
                    case DecodeError():
                        errors.append(found)
        return events, unknown, errors

    def _names(self, groups: Codes, topics: Codes) -> tuple[Names, Names]:
        return Names(groups, self._heads.groups.names), Names(topics, self._heads.topics.names)


def decode(keys: Blobs, values: Blobs) -> Decoded:
    """One batch by itself, see `Decoder.decode`."""
    return Decoder().decode(keys, values)


def _commits(columns: Columns, names: tuple[Names, Names], values: Blobs) -> Commits:
    rows = np.flatnonzero(columns.known)
    kept = slice(None) if len(rows) == len(columns.known) else rows
    groups, topics = names
    return Commits(
        rows=rows,
        group_ids=Names(groups.codes[kept], groups.values),
        topics=Names(topics.codes[kept], topics.values),
        partitions=columns.partitions[kept],
        tombstones=columns.tombstones[kept],
        offsets=columns.offsets[kept],
        leader_epochs=columns.leader_epochs[kept],
        metadata=Blobs(values.data, columns.metadata_at[kept], columns.metadata_size[kept]),
        commit_ts=columns.commit_ts[kept],
        expire_ts=columns.expire_ts[kept],
        topic_ids=columns.topic_ids[kept],
        versions=columns.versions[kept],
    )
