"""A member joins."""

from dataclasses import dataclass, replace

from assignors.model import Member
from assignors.spelling import shown
from assignors.whatif.events.action import PLAIN, Action, SimulatedGroup, Wording
from assignors.whatif.events.subscribe import doubtful_subscriptions
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership, Remarks


@dataclass(frozen=True, slots=True)
class Join(Action):
    """A member joins; `member` has its id, subscription, rack and instance id, and owns nothing."""

    member: Member
    capacity_per_s: float | None = None

    @property
    def subject(self) -> str:
        return self.member.member_id

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.subject)} joins"

    def check(self, membership: Membership) -> Remarks:
        if self.subject in membership.members:
            yield ("id",), f"{shown(self.subject)!r} is already in the group."

    def warn(self, membership: Membership) -> Remarks:
        yield from doubtful_subscriptions(self.member.topics, self.member.pattern, membership.partitions_ever)

    def change(self, membership: Membership) -> None:
        membership.members[self.subject] = self.member
        membership.departures.pop(self.subject, None)

    def apply(self, state: GroupState) -> Step:
        if self.capacity_per_s is not None:
            state = replace(state, capacity_per_s={**state.capacity_per_s, self.subject: self.capacity_per_s})
        return Step(state.with_member(self.member), self.sentence())

    def simulate(self, group: SimulatedGroup) -> None:
        group.join(self.member)
