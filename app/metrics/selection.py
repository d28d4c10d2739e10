"""Which groups and topics a scrape serves: those that the patterns choose, as far as the limit of series allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from app.metrics.options import Granularity, Options
from app.metrics.rows import Widths, first_that_fit, widths
from lag.model import ClusterSnapshot
from lag.name_patterns import chosen
from lag.offsets import Flags, Ints


class Level(Enum):
    """What one series of a family is about."""

    CLUSTER = "cluster"  # a cluster that was read, or one of its brokers
    GROUP = "group"
    TOPIC = "topic"
    GROUP_TOPIC = "group and topic"
    PARTITION = "topic and partition"
    GROUP_PARTITION = "group, topic and partition"
    SPANNED_PARTITION = "group and any partition of its topics"


@dataclass(frozen=True, slots=True)
class Part:
    """`chosen`: int64[n], the numbers of the groups or topics that are served; `left_out`: how many do not fit."""

    chosen: Ints
    left_out: int


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts of a snapshot that are served at each granularity that is asked for, and without one, none.

    `is_topic`: bool[n_topics], the topics that the patterns choose, deleted ones included.
    """

    is_topic: Flags
    groups: Mapping[Granularity, Part]
    topics: Mapping[Granularity, Part]


def select(snapshot: ClusterSnapshot, options: Options, families: Mapping[Level, int], limit: int) -> Selection:
    """The groups and topics whose series fit, coarser series before finer ones, each in alphabetical order.

    `families` counts the families of each level. The series of clusters and brokers do not count.
    """
    names = snapshot.offsets.ends.topics
    is_topic = chosen(names, options.topics, options.exclude_topics)
    is_group = chosen([group.group_id for group in snapshot.groups], options.groups, options.exclude_groups)
    exists = np.array([name in snapshot.topics for name in names], np.bool_)
    groups, topics = np.flatnonzero(is_group), np.flatnonzero(is_topic & exists)
    of_groups = _group_costs(widths(snapshot.offsets, groups, is_topic), families)
    of_topics = _topic_costs(np.bincount(snapshot.offsets.ends.topic, minlength=len(names))[topics], families)
    group_parts, topic_parts, left = {}, {}, limit
    for granularity in options.granularity.included:
        if granularity in of_topics:
            topic_parts[granularity], left = _fitting(topics, of_topics[granularity], left)
        group_parts[granularity], left = _fitting(groups, of_groups[granularity], left)
    return Selection(is_topic, group_parts, topic_parts)


def _group_costs(width: Widths, families: Mapping[Level, int]) -> Mapping[Granularity, Ints]:
    """int64[n_groups] each: the series of each group, at most."""
    rows = width.partitions * families[Level.GROUP_PARTITION] + width.spanned * families[Level.SPANNED_PARTITION]
    return {
        Granularity.GROUP: np.full(len(rows), families[Level.GROUP], np.int64),
        Granularity.TOPIC: width.topics * families[Level.GROUP_TOPIC],
        Granularity.PARTITION: rows,
    }


def _topic_costs(partitions: Ints, families: Mapping[Level, int]) -> Mapping[Granularity, Ints]:
    """int64[n_topics] each: the series of each topic, at most."""
    return {
        Granularity.TOPIC: np.full(len(partitions), families[Level.TOPIC], np.int64),
        Granularity.PARTITION: partitions * families[Level.PARTITION],
    }


def _fitting(numbers: Ints, costs: Ints, limit: int) -> tuple[Part, int]:
    """The first ones that fit, and what is left of the limit."""
    fit = first_that_fit(costs, limit)
    return Part(numbers[:fit], int((costs[fit:] > 0).sum())), limit - int(costs[:fit].sum())
