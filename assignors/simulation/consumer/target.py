"""The target assignment (Kafka: TargetAssignmentBuilder)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from assignors.broker.group_spec import ServerGroup, server_group, sized
from assignors.broker.server_range import ServerRangeAssignor
from assignors.broker.uniform.assignor import UniformAssignor
from assignors.javahash import STRINGS, JavaHashMap
from assignors.model import Assignment, AssignorError, Group, TopicPartition
from assignors.model import Member as PlannedMember
from assignors.simulation.consumer.group import ConsumerGroup, Target, count_off
from assignors.simulation.consumer.members import Member
from assignors.simulation.consumer.messages import TopicIdPartition
from assignors.simulation.consumer.records import TargetEpochRecord, TargetRecord
from assignors.simulation.consumer.settings import RANGE, Settings
from assignors.simulation.consumer.topics import Topics, topic_id
from assignors.simulation.errors import KafkaError, Refused


@dataclass(frozen=True, slots=True)
class Planned:
    """A new target: its records, and the part of the member whose heartbeat caused it."""

    records: tuple[TargetRecord | TargetEpochRecord, ...]
    own: Target


@dataclass(frozen=True, slots=True)
class Plan:
    """The input of a target: the group, and one member after its change. `epoch`: the target epoch."""

    group: ConsumerGroup
    before: Member
    member: Member
    epoch: int
    homogeneous: bool
    topics: Topics
    settings: Settings

    def compute(self, now_ms: int) -> Planned:
        """Raises Refused (UNKNOWN_SERVER_ERROR) if the assignor fails."""
        members = self._members()
        given = self._given(members)
        records = [
            TargetRecord(member_id, given.get(member_id, ()))
            for member_id in members
            if self._changes(member_id, given.get(member_id, ()))
        ]
        own = given.get(self.member.member_id, ())
        return Planned((*records, TargetEpochRecord(self.epoch, now_ms)), own)

    def _changes(self, member_id: str, new: Target) -> bool:
        # An equal target is not written, so the old one keeps its order.
        old = self.group.target.get(member_id)
        return old is None or set(old) != set(new)

    def _members(self) -> dict[str, Member]:
        """The members in the coordinator's order, with the changed member and without the one it replaces."""
        members = {**self.group.members, self.member.member_id: self.member}
        members.pop(self._replaced() or "", None)
        return members

    def _given(self, members: Mapping[str, Member]) -> dict[str, Target]:
        planned = tuple(self._planned_member(member) for member in members.values())
        seen = server_group(Group("", planned, self.topics.by_name), self.settings.jdk, self.homogeneous)
        ghosts = frozenset((seen.uuid_of(tp.topic), tp.partition) for tp in self._named(self._given_up()))
        try:
            plan = self._assign(replace(seen, ghosts=ghosts))
        except AssignorError as error:
            raise Refused(KafkaError.UNKNOWN_SERVER_ERROR) from error
        ids = {name: topic_id(topic) for name, topic in self.topics.by_name.items()}
        return {
            member_id: tuple(TopicIdPartition(ids[topic], number) for topic, number in partitions)
            for member_id, partitions in plan.by_member.items()
        }

    def _planned_member(self, member: Member) -> PlannedMember:
        owned = tuple(self._named(self._old(member)))
        return PlannedMember(member.member_id, member.instance_id, topics=self.group.topics_of(member), owned=owned)

    def _old(self, member: Member) -> Target:
        """Its old target; for a static member, that of the one it replaces."""
        replaced = self._replaced() if member is self.member else None
        return self.group.target.get(replaced or member.member_id, ())

    def _replaced(self) -> str | None:
        """Another member, whose instance id this one has now."""
        known = self.group.static_ids.get(self.member.instance_id or "")
        return None if known == self.member.member_id else known

    def _given_up(self) -> Target:
        """What the member had itself, when it takes over the old target of another one."""
        return self.group.target.get(self.member.member_id, ()) if self._replaced() else ()

    def _named(self, partitions: Target) -> Iterator[TopicPartition]:
        """The partitions by topic name; a deleted topic has its id as name."""
        names = self.topics.names
        return (TopicPartition(names.get(uuid, uuid), number) for uuid, number in partitions)

    def _assign(self, seen: ServerGroup) -> Assignment:
        jdk = self.settings.jdk
        if self._preferred() == RANGE:
            return ServerRangeAssignor(jdk).plan(seen)
        return UniformAssignor(jdk).plan(seen)

    def _preferred(self) -> str:
        """The assignor that most members ask for; the broker's first when none does."""
        counts: JavaHashMap[str, int] = JavaHashMap(STRINGS, _copied(len(self.group.assignors)))
        counts.update(self.group.assignors)
        if self.before.assignor in counts:
            count_off(counts, self.before.assignor or "")
        if self.member.assignor is not None:
            counts[self.member.assignor] = counts.compute_if_absent(self.member.assignor, lambda: 0) + 1
        return max(counts, key=lambda name: counts[name], default=self.settings.assignors[0])


def _copied(size: int) -> int | None:
    """The initial capacity of `new HashMap(map of that size)`."""
    return sized(size) if size else None
