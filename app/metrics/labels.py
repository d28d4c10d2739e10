"""The label pairs of the series of one cluster, with the label names of one set; made once for all families."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.metrics.text_format import escape, pairs
from app.metrics.view import View
from lag.model import Member

OWNER, NO_OWNER = ("member_host", "consumer_id", "client_id"), ("unknown", "unknown", "unknown")


@dataclass(frozen=True, slots=True)
class LabelNames:
    """What a set of names calls its labels; `cluster` is None where it has none."""

    cluster: str | None
    group: str
    topic: str
    partition: str


class Labels:
    """Label pairs in braces, in the order of the groups, topics and rows of a View."""

    def __init__(self, names: LabelNames, cluster: str, view: View) -> None:
        """`cluster` is what `cluster_labels` returns."""
        self._names, self._view, self.cluster = names, view, cluster
        self._head = cluster[:-1] + "," if cluster else "{"

    @cached_property
    def groups(self) -> list[str]:
        """Of the groups."""
        return [self._group[number] + "}" for number in self._view.groups.tolist()]

    @cached_property
    def topics(self) -> list[str]:
        """Of the topics."""
        return [f"{self._head}{self._topic[number]}}}" for number in self._view.topics.tolist()]

    @cached_property
    def group_topics(self) -> list[str]:
        """Of the pairs of a group and a topic."""
        group, topic, found = self._group, self._topic, self._view.group_topics
        return [f"{group[g]},{topic[t]}}}" for g, t in zip(found.group.tolist(), found.topic.tolist(), strict=True)]

    @cached_property
    def partitions(self) -> list[str]:
        """Of the partitions of the topics."""
        ends, rows, head, topic = self._view.ends, self._view.partitions, self._head, self._topic
        numbers = zip(ends.topic[rows].tolist(), ends.partition[rows].tolist(), strict=True)
        return [f'{head}{topic[t]},{self._names.partition}="{p}"}}' for t, p in numbers]

    @cached_property
    def rows(self) -> list[str]:
        """Of the rows of the offset table."""
        found, ends = self._view.rows, self._view.ends
        return self.of_group_partitions(found.group.tolist(), found.topic.tolist(), ends.partition[found.end].tolist())

    @cached_property
    def owned_rows(self) -> list[str]:
        """Of the rows of the offset table, with the member that owns the partition."""
        rows, groups = self._view.rows, self._view.snapshot.groups
        owners = {number: _owners(groups[number].members) for number in np.unique(rows.group).tolist()}
        members = self._view.table.member[rows.row].tolist()
        found = zip(self.rows, rows.group.tolist(), members, strict=True)
        return [labels[:-1] + owners[group][member] for labels, group, member in found]

    def of_group_partitions(self, groups: list[int], topics: list[int], partitions: list[int]) -> list[str]:
        """Of partitions of groups, by the numbers of the groups and topics."""
        group, topic, name = self._group, self._topic, self._names.partition
        return [f'{group[g]},{topic[t]},{name}="{p}"}}' for g, t, p in zip(groups, topics, partitions, strict=True)]

    @cached_property
    def _group(self) -> list[str]:
        name = self._names.group
        return [f'{self._head}{name}="{escape(group.group_id)}"' for group in self._view.snapshot.groups]

    @cached_property
    def _topic(self) -> list[str]:
        return [f'{self._names.topic}="{escape(topic)}"' for topic in self._view.ends.topics]


def _owners(members: Sequence[Member]) -> list[str]:
    """The end of the label pairs of each member, and last, where UNKNOWN points to, that of a row without an owner."""
    known = [(_host(member.host), member.member_id, member.client_id) for member in members]
    return ["," + pairs(list(zip(OWNER, owner, strict=True)))[1:] for owner in (*known, NO_OWNER)]


def _host(host: str) -> str:
    """As brokers write an address, with a slash before it, which our reader takes off."""
    return host if "/" in host or not host else f"/{host}"


def cluster_labels(names: LabelNames, cluster: str, several: bool) -> str:
    """The cluster's label; a set without one has it only where `several` clusters are served, to tell them apart."""
    name = names.cluster or ("cluster" if several else None)
    return "" if name is None else pairs([(name, cluster)])
