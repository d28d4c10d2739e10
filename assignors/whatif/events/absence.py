"""A member is temporarily out of the group: it stops polling, or the network to the coordinator fails."""

from dataclasses import dataclass
from typing import ClassVar

from assignors.model import Member
from assignors.spelling import shown
from assignors.whatif.events.action import MemberAction, SimulatedGroup
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import FROZEN, SPLIT, Membership, Remarks
from assignors.whatif.timeouts import Timeouts


@dataclass(frozen=True, slots=True)
class Absence(MemberAction):
    """From now on nothing else can happen to the member until it returns."""

    absence: ClassVar[str]

    def change(self, membership: Membership) -> None:
        if membership.is_active(self.member_id):
            membership.absent[self.member_id] = self.absence

    def leave(self, state: GroupState, when: str) -> Step:
        """A rebalance without the member."""
        return Step(state.without(state.member(self.member_id)), f"{self.sentence()}; {when}")


@dataclass(frozen=True, slots=True)
class Return(MemberAction):
    """The absence ends: the member rejoins."""

    absence: ClassVar[str]

    def check(self, membership: Membership) -> Remarks:
        if membership.absent.get(self.member_id) == self.absence:
            return
        cause = "Freeze it" if self.absence == FROZEN else "Cut it off with split"
        sentence = f"{shown(self.member_id)!r} is not {self.absence}. {cause} first, or leave this event out."
        yield from list(membership.check_active(self.member_id)) or [((), sentence)]

    def change(self, membership: Membership) -> None:
        if membership.absent.get(self.member_id) == self.absence:
            del membership.absent[self.member_id]

    def apply(self, state: GroupState) -> Step:
        return Step(state.with_member(state.away[self.member_id]), f"{self.sentence()} and rejoins")


@dataclass(frozen=True, slots=True)
class Freeze(Absence):
    """A member stops polling: after max.poll.interval.ms it is out of the group."""

    absence = FROZEN
    happens = "stops polling"

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        if timeouts.freezes_process:
            return timeouts.session_ms
        is_static = member is not None and member.instance_id is not None
        return timeouts.max_poll_interval_ms + (timeouts.session_ms if is_static else 0)

    def apply(self, state: GroupState) -> Step:
        timeouts, is_static = state.timeouts, state.is_static(state.member(self.member_id))
        static = f", and then its {timeouts.session_text} session, because it is static" if is_static else ""
        return self.leave(state, f"it is removed after max.poll.interval.ms, {timeouts.max_poll_interval_text}{static}")

    def simulate(self, group: SimulatedGroup) -> None:
        group.freeze(self.member_id)


@dataclass(frozen=True, slots=True)
class Resume(Return):
    """A frozen member polls again."""

    absence = FROZEN
    happens = "polls again"

    def simulate(self, group: SimulatedGroup) -> None:
        group.resume(self.member_id)


@dataclass(frozen=True, slots=True)
class Split(Absence):
    """Messages between a member and the coordinator are lost; the process continues."""

    absence = SPLIT
    happens = "is cut off from the coordinator"

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        return timeouts.session_ms

    def apply(self, state: GroupState) -> Step:
        return self.leave(state, f"it is removed when its {state.timeouts.session_text} session times out")

    def simulate(self, group: SimulatedGroup) -> None:
        group.split(self.member_id)


@dataclass(frozen=True, slots=True)
class Heal(Return):
    """A member that was cut off reaches the coordinator again."""

    absence = SPLIT
    happens = "reaches the coordinator again"

    def simulate(self, group: SimulatedGroup) -> None:
        group.heal(self.member_id)
