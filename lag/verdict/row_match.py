"""Which row of an older poll is which row of a newer one: groups and partitions come and go in between."""

from collections.abc import Sequence

import numpy as np

from lag.offsets import EndOffsets, Ints


def same_partition(old: EndOffsets, new: EndOffsets) -> Ints:
    """For each row of `new` the row of `old` with the same topic name and partition, or -1."""
    topic = same_name(old.topics, new.topics)[new.topic]
    return find(_key(old.topic, old.partition), _key(topic, new.partition))


def same_name(old: Sequence[str], new: Sequence[str]) -> Ints:
    """For each name of `new` its place in `old`, or -1."""
    where = {name: i for i, name in enumerate(old)}
    return np.array([where.get(name, -1) for name in new], np.int64)


def group_of_row(bounds: Ints) -> Ints:
    """The group number of each row of an `OffsetTable`."""
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.int64), np.diff(bounds))


def find(have: Ints, wanted: Ints) -> Ints:
    """The place of each wanted key in the ascending `have`, or -1."""
    if not len(have):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(have, wanted), len(have) - 1)
    return np.where(have[at] == wanted, at, -1)


def _key(topic: np.ndarray, partition: np.ndarray) -> Ints:
    """Ascends with (topic, partition); negative for topic -1."""
    key: Ints = (topic.astype(np.int64) << 32) | partition
    return key
