"""What planning and applying need of a cluster. `lag.cluster.group_client.GroupClient` is the real one."""

from collections.abc import Collection, Mapping
from typing import Protocol

from assignors.model import TopicPartition
from lag.reset.model import Commit, GroupReading, RecordHead

Errors = Mapping[TopicPartition, str]
"""Why the coordinator refused the change of a partition, in words; partitions without an error are not in it."""


class GroupAccess(Protocol):
    """Reads a group and the log of its partitions. Methods raise ConnectError if no broker answers."""

    def topics(self) -> Mapping[str, int]:
        """The number of partitions of every topic."""

    def read(self, group_id: str, topics: Collection[str]) -> GroupReading:
        """The group now, with its position in what it has committed and in all partitions of `topics`."""

    def offsets_at(
        self, partitions: Collection[TopicPartition], timestamp_ms: int
    ) -> Mapping[TopicPartition, int | str]:
        """The offset of the first record with this timestamp or a later one; -1: none; a text: why it is unknown."""

    def first_records(
        self, offsets: Mapping[TopicPartition, int], most_records: int = 1, with_values: bool = False
    ) -> Mapping[TopicPartition, tuple[RecordHead, ...] | str]:
        """The first records at or after these offsets, transaction markers included; a text: why they are unknown."""

    def count_records(self, ranges: Mapping[TopicPartition, tuple[int, int]]) -> Mapping[TopicPartition, int | str]:
        """How many records have an offset from the first on and below the second; a text says why it is unknown."""


class GroupWriter(GroupAccess, Protocol):
    """Changes a group. Methods raise ConnectError if the coordinator does not answer."""

    def commits(self, group_id: str) -> Mapping[TopicPartition, Commit]:
        """The committed offsets now."""

    def commit(self, group_id: str, offsets: Mapping[TopicPartition, Commit]) -> Errors:
        """Commit offsets for a group without members."""

    def delete_offsets(self, group_id: str, partitions: Collection[TopicPartition]) -> Errors:
        """Delete committed offsets."""

    def delete_group(self, group_id: str) -> str | None:
        """Delete a group without members; returns why it was refused, in words."""

    def remove_member(self, group_id: str, instance_id: str) -> str | None:
        """Remove a static member; returns why it was refused, in words."""
