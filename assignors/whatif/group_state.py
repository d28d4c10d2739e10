"""A group between two rebalances."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from assignors.model import Assignor, Member, Topic
from assignors.patterns import resolved
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of
from assignors.whatif.timeouts import Setting, Timeouts


@dataclass(frozen=True, slots=True)
class GroupState:
    """Members with what they claim (`owned`, `generation`), topics, and the assignor.

    `away` has the members that have left or were removed, as they were. `settings` are Kafka's own, by name.
    """

    members: tuple[Member, ...]
    topics: Mapping[str, Topic]
    assignor: Assignor
    away: Mapping[str, Member] = field(default_factory=dict)
    capacity_per_s: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)
    is_coordinator_up: bool = True

    @property
    def protocol(self) -> RebalanceProtocol:
        """The rebalance protocol of the present assignor."""
        return protocol_of(self.assignor.name)

    def member(self, member_id: str) -> Member:
        return next(member for member in self.members if member.member_id == member_id)

    def is_subscribed(self, topic: str) -> bool:
        return any(topic in member.topics for member in self.members)

    def is_static(self, member: Member) -> bool:
        """Whether the group recognizes the member after a restart (KIP-345). Share groups have no static members."""
        return member.instance_id is not None and self.protocol is not RebalanceProtocol.SHARE

    def with_member(self, member: Member) -> "GroupState":
        """The group with this member, which owns nothing yet."""
        joined = resolved(without_claims(member), self.topics)
        return replace(self, members=(*self.members, joined))

    def without(self, member: Member) -> "GroupState":
        """The group without this member, which is then `away`."""
        left = tuple(other for other in self.members if other is not member)
        return replace(self, members=left, away={**self.away, member.member_id: member})

    def updated(self, member: Member) -> "GroupState":
        """The group with the member of that id replaced."""
        members = tuple(member if other.member_id == member.member_id else other for other in self.members)
        return replace(self, members=members)

    def subscribed(self, member: Member, topics: tuple[str, ...]) -> Member:
        """The member with that subscription. A cooperative one gives up the partitions of other topics first."""
        changed = replace(member, topics=topics)
        if self.protocol is not RebalanceProtocol.COOPERATIVE:
            return changed
        owned = [tp for tp in member.owned if tp.topic in topics]
        return replace(changed, owned=owned) if len(owned) < len(member.owned) else changed

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts under the present protocol. Raises AssignorError."""
        return Timeouts.of(self.settings, self.protocol)


def without_claims(member: Member) -> Member:
    """The member as it joins for the first time: it owns nothing."""
    return replace(member, owned=(), owned_topics=(), generation=None, user_data=None)


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of an event, or of its first part, on the group: the state after it, and a text about it.

    `rebalances`: whether the group rebalances. `restarted` names a static member whose partitions pause without a
    rebalance. `revokes_all`: all members give up everything first, as in an eager rebalance. `followed_by` is the
    event's second part.
    """

    state: GroupState
    text: str = ""
    rebalances: bool = True
    restarted: str | None = None
    revokes_all: bool = False
    followed_by: "Callable[[GroupState], Step] | None" = None
