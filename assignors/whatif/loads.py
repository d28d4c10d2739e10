"""Loads as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assignors.layout import Layout
from assignors.model import TopicPartition
from assignors.whatif.events import Loads
from assignors.whatif.ownership_table import Values


@dataclass(frozen=True, slots=True)
class KnownLoads:
    """`Loads` by partition code: each float64[n_partitions]; NaN = unknown."""

    weights: Values
    lag_records: Values
    produced_per_s: Values


def known_loads(loads: Loads, layout: Layout) -> KnownLoads:
    return KnownLoads(*(_by_code(of, layout) for of in (loads.weights, loads.lag_records, loads.produced_per_s)))


def _by_code(values: Mapping[TopicPartition, float], layout: Layout) -> Values:
    found = np.full(len(layout), np.nan)
    if not values or not len(layout):
        return found
    topics, numbers = layout.locate(list(values))
    inside = (topics >= 0) & (numbers >= 0) & (numbers < layout.counts[topics])
    given = np.fromiter(values.values(), dtype=np.float64, count=len(values))
    found[layout.offsets[topics[inside]] + numbers[inside]] = given[inside]
    return found
