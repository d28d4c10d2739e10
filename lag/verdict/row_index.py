"""Rows of offset tables: the group of each row, reductions per group, and where a row was in an older poll."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lag.offsets import EndOffsets, Flags, Ints


def group_of_row(bounds: Ints) -> Ints:
    """int64[n_rows]: the group number of each row; group i has the rows `bounds[i]:bounds[i + 1]`."""
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.int64), np.diff(bounds))


def reduce_groups(ufunc: np.ufunc, values: NDArray[Any], bounds: Ints, empty: float | bool) -> NDArray[Any]:
    """[..., n_groups]: `ufunc` over the rows (last axis of `values`) of each group; `empty` for a group without rows.

    A float `empty` makes the result float64.
    """
    filled = bounds[1:] > bounds[:-1]
    dtype = np.result_type(values, np.float64) if isinstance(empty, float) else values.dtype
    out = np.full((*values.shape[:-1], len(filled)), empty, dtype)
    if filled.any():
        out[..., filled] = ufunc.reduceat(values, bounds[:-1][filled], axis=-1)
    return out


def first_of_groups(chosen: Flags, group: Ints, groups: int) -> Ints:
    """int64[groups]: the first chosen row of each group, -1 = none. `chosen`: bool[n_rows]; `group`: int64[n_rows]."""
    hits = np.flatnonzero(chosen)[::-1]
    first = np.full(groups, -1, np.int64)
    first[group[hits]] = hits
    return first


def partition_indexer(old: EndOffsets, new: EndOffsets) -> Ints:
    """int64[len(new)]: the row of `old` with the same topic name and partition; -1 = none."""
    topic = name_indexer(old.topics, new.topics)[new.topic]
    return sorted_indexer(_key(old.topic, old.partition), _key(topic, new.partition))


def name_indexer(old: Sequence[str], new: Sequence[str]) -> Ints:
    """int64[len(new)]: the index of each name in `old`; -1 = none."""
    index = {name: i for i, name in enumerate(old)}
    return np.array([index.get(name, -1) for name in new], np.int64)


def sorted_indexer(keys: Ints, wanted: Ints) -> Ints:
    """int64[len(wanted)]: the index of each wanted key in the ascending `keys`; -1 = none."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)


def _key(topic: np.ndarray, partition: np.ndarray) -> Ints:
    """int64[n]: ascends with (topic, partition); negative for topic -1."""
    key: Ints = (topic.astype(np.int64) << 32) | partition
    return key
