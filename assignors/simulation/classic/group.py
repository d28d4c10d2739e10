"""A classic group: its members, its leader, its generation and its state (Kafka: ClassicGroup).

Members iterate as Java's HashMap does, because that order decides who is elected and which protocol wins a tie.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from assignors.javahash import STRINGS, JavaHashMap
from assignors.simulation.classic.members import Member
from assignors.simulation.classic.messages import (
    CONSUMER,
    AnswerJoin,
    Commit,
    Heartbeat,
    JoinReply,
    Protocols,
    Sync,
    SyncReply,
)
from assignors.simulation.classic.records import GroupRecord
from assignors.simulation.consumer_protocol import subscribed_topics
from assignors.simulation.errors import KafkaError


class State(StrEnum):
    """Kafka: ClassicGroupState."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


PREDECESSORS: Mapping[State, frozenset[State]] = {
    State.EMPTY: frozenset({State.PREPARING_REBALANCE}),
    State.PREPARING_REBALANCE: frozenset({State.STABLE, State.COMPLETING_REBALANCE, State.EMPTY}),
    State.COMPLETING_REBALANCE: frozenset({State.PREPARING_REBALANCE}),
    State.STABLE: frozenset({State.COMPLETING_REBALANCE}),
    State.DEAD: frozenset(State),
}
"""From which states each state may be entered."""


class ClassicGroup:
    """Empty at first. Only the coordinator changes it."""

    def __init__(self, now_ms: int) -> None:
        self.state = State.EMPTY
        self.previous_state = State.DEAD
        self.state_since_ms = now_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: JavaHashMap[str, Member] = JavaHashMap(STRINGS)
        self.static_ids: dict[str, str] = {}
        self.pending_ids: set[str] = set()
        self.pending_syncs: set[str] = set()
        self.parked_joins = 0
        self.supporters: Counter[str] = Counter()
        self.new_member_added = False
        self.subscribed: frozenset[str] | None = None

    @classmethod
    def loaded(cls, record: GroupRecord) -> "ClassicGroup":
        """The group from its record: Stable, or Empty without members."""
        group = cls(record.state_since_ms)
        group.state = State.STABLE if record.members else State.EMPTY
        group.generation = record.generation
        group.protocol_type, group.protocol, group.leader = record.protocol_type, record.protocol, record.leader
        for member in record.members:
            group.add(Member.loaded(member, record.protocol_type or "", record.protocol or ""))
        group.subscribed = group._subscribed_topics()
        return group

    def record(self, assignments: Mapping[str, bytes]) -> GroupRecord:
        """The group's record, with these assignments by member id."""
        members = tuple(
            member.record(self.protocol, assignments.get(member.member_id, b"")) for member in self.members.values()
        )
        return GroupRecord(
            self.generation, self.protocol_type, self.protocol, self.leader, self.state_since_ms, members
        )

    def move_to(self, state: State, now_ms: int) -> None:
        """Enter that state. Raises RuntimeError on an invalid transition."""
        if self.state not in PREDECESSORS[state]:
            raise RuntimeError(f"a classic group cannot go from {self.state} to {state}")
        self.previous_state, self.state, self.state_since_ms = self.state, state, now_ms

    def add(self, member: Member) -> None:
        """Add a member; the first one becomes the leader."""
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        if not self.members:
            self.protocol_type = member.protocol_type
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self.supporters.update(name for name, _ in member.protocols)
        self.pending_ids.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending id. If it was the leader, another member becomes the leader."""
        if member_id in self.members:
            member = self.members[member_id]
            del self.members[member_id]
            self.supporters.subtract(name for name, _ in member.protocols)
            self.parked_joins -= member.parked_join is not None
            if member.instance_id is not None:
                self.static_ids.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.pending_ids.discard(member_id)
        self.pending_syncs.discard(member_id)

    def replace_static(self, instance_id: str, new_id: str) -> Member:
        """Give a static member a new id; parked requests of the old id get FENCED_INSTANCE_ID (KIP-345)."""
        old = self.members[self.static_ids[instance_id]]
        del self.members[old.member_id]
        self.answer_join(old, JoinReply(KafkaError.FENCED_INSTANCE_ID, old.member_id))
        answer_sync(old, SyncReply(KafkaError.FENCED_INSTANCE_ID))
        new = self.members[new_id] = old.renamed(new_id)
        if self.leader == old.member_id:
            self.leader = new_id
        self.static_ids[instance_id] = new_id
        return new

    def update(self, member: Member, protocols: Protocols, rebalance_ms: int, session_ms: int) -> None:
        """Take over the protocols and timeouts of a member that rejoins."""
        self.supporters.subtract(name for name, _ in member.protocols)
        self.supporters.update(name for name, _ in protocols)
        member.protocols, member.rebalance_timeout_ms, member.session_timeout_ms = protocols, rebalance_ms, session_ms

    def park_join(self, member: Member, answer: AnswerJoin) -> None:
        """Park a join until the join phase ends. It replaces an earlier one, which is never answered."""
        self.parked_joins += member.parked_join is None
        member.parked_join = answer

    def answer_join(self, member: Member, reply: JoinReply) -> None:
        """Answer the member's parked join, if there is one."""
        if member.parked_join is not None:
            answer, member.parked_join = member.parked_join, None
            self.parked_joins -= 1
            answer(reply)

    def validate(self, member_id: str, instance_id: str | None) -> KafkaError:
        """NONE if that member is in the group under that id."""
        if instance_id is not None:
            known = self.static_ids.get(instance_id)
            if known is not None and known != member_id:
                return KafkaError.FENCED_INSTANCE_ID
            if known is None:
                return KafkaError.UNKNOWN_MEMBER_ID
        return KafkaError.NONE if member_id in self.members else KafkaError.UNKNOWN_MEMBER_ID

    def validate_current(self, request: Heartbeat | Sync | Commit) -> KafkaError:
        """NONE if the request comes from a member of the group in its present generation."""
        if self.state is State.DEAD:
            return KafkaError.COORDINATOR_NOT_AVAILABLE
        error = self.validate(request.member_id, request.instance_id)
        if error is KafkaError.NONE and request.generation != self.generation:
            return KafkaError.ILLEGAL_GENERATION
        return error

    def supports(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Whether all members have one of these protocols in common; an empty group accepts any."""
        if self.state is State.EMPTY:
            return bool(protocol_type) and any(True for _ in names)
        everyone = len(self.members)
        return self.protocol_type == protocol_type and any(self.supporters[name] == everyone for name in names)

    def select_protocol(self) -> str:
        """Each member votes for the first of its protocols that all have; most votes win."""
        candidates = {name for name, supporters in self.supporters.items() if supporters == len(self.members)}
        votes: JavaHashMap[str, int] = JavaHashMap(STRINGS)
        for member in self.members.values():
            name = next(name for name, _ in member.protocols if name in candidates)
            votes[name] = votes.get(name, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def elect_leader(self) -> bool:
        """Keep the leader if its join is parked, else elect the first member with one; False if there is none."""
        if self.leader is None:
            return False
        if self.members[self.leader].parked_join is None:
            joined = (member.member_id for member in self.members.values() if member.parked_join is not None)
            elected = next(joined, None)
            self.leader = elected or self.leader
            return elected is not None
        return True

    def next_generation(self, now_ms: int) -> None:
        """Start the next generation and wait for its assignment; without members the group is Empty."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.subscribed = self._subscribed_topics()
        self.move_to(State.COMPLETING_REBALANCE if self.members else State.EMPTY, now_ms)
        self.pending_syncs.clear()

    @property
    def all_joined(self) -> bool:
        """Whether the joins of all members are parked and no pending id is left."""
        return self.parked_joins == len(self.members) and not self.pending_ids

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of all members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def subscribes(self, topic: str) -> bool:
        """Whether a member subscribes to that topic, or might because its subscription is unknown."""
        return self.protocol_type == CONSUMER if self.subscribed is None else topic in self.subscribed

    def _subscribed_topics(self) -> frozenset[str] | None:
        if self.protocol_type != CONSUMER:
            return None
        if not self.members:
            return frozenset()
        found = [subscribed_topics(member.metadata(self.protocol)) for member in self.members.values()]
        known = [topics for topics in found if topics is not None]
        return frozenset().union(*known) if len(known) == len(found) else None


def answer_sync(member: Member, reply: SyncReply) -> bool:
    """Answer the member's parked sync; whether there was one."""
    if member.parked_sync is None:
        return False
    answer, member.parked_sync = member.parked_sync, None
    answer(reply)
    return True
