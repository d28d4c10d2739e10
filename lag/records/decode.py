"""Decodes keys and values of `__consumer_offsets`: the entry point of this package."""

import numpy as np

from lag.records.byte_arrays import BytesColumn
from lag.records.commit_columns import Columns, read_regular
from lag.records.key_heads import IRREGULAR, Codes, KeyHeads
from lag.records.model import Commits, Decoded, DecodeError, GroupEvent, StringColumn, UnknownRecord
from lag.records.single_record import SingleCommit, read_single

_MAX_HEADS = 1_000_000  # cached from batch to batch: about 300 MB


class Decoder:
    """Decodes batches. Key heads are cached, so the first batch takes longer. Not thread-safe."""

    def __init__(self) -> None:
        self._heads = KeyHeads()

    def decode(self, keys: BytesColumn, values: BytesColumn) -> Decoded:
        """Decode a batch. Unreadable records become `errors`; unknown types are skipped and listed.

        Raises ValueError if the numbers of keys and values differ.
        """
        if len(keys) != len(values):
            raise ValueError(f"{len(keys)} keys and {len(values)} values")
        if len(self._heads) > _MAX_HEADS:
            self._heads = KeyHeads()
        columns = read_regular(keys, values, self._heads)
        groups, topics = self._heads.numbers(columns.heads)
        columns.known &= groups != IRREGULAR
        events, unknown, errors = self._read_others(keys, values, columns, (groups, topics))
        commits = _commits(columns, self._names(groups, topics), values)
        return Decoded(len(keys), commits, tuple(events), tuple(unknown), tuple(errors))

    def _read_others(
        self, keys: BytesColumn, values: BytesColumn, columns: Columns, numbers: tuple[Codes, Codes]
    ) -> tuple[list[GroupEvent], list[UnknownRecord], list[DecodeError]]:
        """Decode one by one the rows that are not regular commits; commits among them go into the columns."""
        events: list[GroupEvent] = []
        unknown: list[UnknownRecord] = []
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
                    case UnknownRecord():
                        unknown.append(found)
                    case DecodeError():
                        errors.append(found)
        return events, unknown, errors

    def _names(self, groups: Codes, topics: Codes) -> tuple[StringColumn, StringColumn]:
        return StringColumn(groups, self._heads.groups.names), StringColumn(topics, self._heads.topics.names)


def decode(keys: BytesColumn, values: BytesColumn) -> Decoded:
    """Decode a single batch, see `Decoder.decode`."""
    return Decoder().decode(keys, values)


def _commits(columns: Columns, names: tuple[StringColumn, StringColumn], values: BytesColumn) -> Commits:
    rows = np.flatnonzero(columns.known)
    kept = slice(None) if len(rows) == len(columns.known) else rows
    groups, topics = names
    return Commits(
        rows=rows,
        group_ids=StringColumn(groups.codes[kept], groups.values),
        topics=StringColumn(topics.codes[kept], topics.values),
        partitions=columns.partitions[kept],
        tombstones=columns.tombstones[kept],
        offsets=columns.offsets[kept],
        leader_epochs=columns.leader_epochs[kept],
        metadata=BytesColumn(values.data, columns.metadata_at[kept], columns.metadata_size[kept]),
        commit_ts=columns.commit_ts[kept],
        expire_ts=columns.expire_ts[kept],
        topic_ids=columns.topic_ids[kept],
        versions=columns.versions[kept],
    )
