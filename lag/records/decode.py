"""Decodes keys and values of `__consumer_offsets`: the entry point of this package."""

import numpy as np

from lag.records.byte_arrays import BytesColumn
from lag.records.commit_columns import Columns, read_regular
from lag.records.key_prefixes import IRREGULAR, Codes, KeyPrefixes
from lag.records.model import Commits, Decoded, DecodeError, GroupEvent, StringColumn, UnknownRecord
from lag.records.single_record import SingleCommit, read_single

_MAX_PREFIXES = 1_000_000  # cached from batch to batch: about 300 MB


class Decoder:
    """Decodes batches. Key prefixes are cached, so the first batch takes longer. Not thread-safe."""

    def __init__(self) -> None:
        self._prefixes = KeyPrefixes()

    def decode(self, keys: BytesColumn, values: BytesColumn) -> Decoded:
        """Decode a batch. Unreadable records become `errors`; unknown types are skipped and listed.

        Raises ValueError if the numbers of keys and values differ.
        """
        if len(keys) != len(values):
            raise ValueError(f"{len(keys)} keys and {len(values)} values")
        if len(self._prefixes) > _MAX_PREFIXES:
            self._prefixes = KeyPrefixes()
        columns = read_regular(keys, values, self._prefixes)
        groups, topics = self._prefixes.numbers(columns.prefixes)
        columns.known &= groups != IRREGULAR
        events, unknown, errors = self._read_others(keys, values, columns, groups, topics)
        commits = self._commits(columns, groups, topics, values)
        return Decoded(len(keys), commits, tuple(events), tuple(unknown), tuple(errors))

    def _read_others(
        self, keys: BytesColumn, values: BytesColumn, columns: Columns, groups: Codes, topics: Codes
    ) -> tuple[list[GroupEvent], list[UnknownRecord], list[DecodeError]]:
        """Decode one by one the rows that are not regular commits; commits among them go into the columns."""
        events: list[GroupEvent] = []
        unknown: list[UnknownRecord] = []
        errors: list[DecodeError] = []
        for row in np.flatnonzero(~columns.known).tolist():
            for found in read_single(row, keys[row], values[row]):
                match found:
                    case SingleCommit():
                        groups[row] = self._prefixes.groups.number(found.group_id)
                        topics[row] = self._prefixes.topics.number(found.topic)
                        columns.put(row, found, int(values.starts[row]))
                    case GroupEvent():
                        events.append(found)
                    case UnknownRecord():
                        unknown.append(found)
                    case DecodeError():
                        errors.append(found)
        return events, unknown, errors

    def _commits(self, columns: Columns, groups: Codes, topics: Codes, values: BytesColumn) -> Commits:
        rows = np.flatnonzero(columns.known)
        kept = slice(None) if len(rows) == len(columns.known) else rows
        return Commits(
            rows=rows,
            group_ids=StringColumn(groups[kept], self._prefixes.groups.names),
            topics=StringColumn(topics[kept], self._prefixes.topics.names),
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


def decode(keys: BytesColumn, values: BytesColumn) -> Decoded:
    """Decode a single batch, see `Decoder.decode`."""
    return Decoder().decode(keys, values)
