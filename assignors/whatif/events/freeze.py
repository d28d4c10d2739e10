"""A member stops polling, and polls again."""

from dataclasses import dataclass, replace

from assignors.model import AssignorError
from assignors.spelling import shown
from assignors.whatif.events.action import PLAIN, MemberAction, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership, Remarks


@dataclass(frozen=True, slots=True)
class Freeze(MemberAction):
    """A member stops polling: after max.poll.interval.ms it is out of the group."""

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.member_id)} stops polling"

    def change(self, membership: Membership) -> None:
        if membership.is_active(self.member_id):
            membership.frozen.add(self.member_id)

    def apply(self, state: GroupState) -> Step:
        member = state.member(self.member_id)
        left = state.without(member)
        static = f", and then its {state.session_text} session, as it is static" if state.is_static(member) else ""
        text = f"{self.sentence()}; it is out after max.poll.interval.ms, {state.max_poll_interval_text}{static}"
        return Step(replace(left, frozen=left.frozen | {self.member_id}), text)

    def simulate(self, group: SimulatedGroup) -> None:
        group.freeze(self.member_id)


@dataclass(frozen=True, slots=True)
class Resume(MemberAction):
    """A frozen member polls again: it rejoins."""

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.member_id)} polls again"

    def check(self, membership: Membership) -> Remarks:
        if self.member_id in membership.frozen:
            return
        sentence = f"{shown(self.member_id)!r} is not frozen. Let it freeze first, or leave this event out."
        yield from list(membership.check_active(self.member_id)) or [((), sentence)]

    def change(self, membership: Membership) -> None:
        membership.frozen.discard(self.member_id)

    def apply(self, state: GroupState) -> Step:
        name = self.member_id
        if name not in state.frozen:
            state.member(name)
            raise AssignorError(f"member {name!r} is not frozen. Freeze it before, or leave this event out.")
        back = replace(state, frozen=state.frozen - {name})
        return Step(back.with_member(state.away[name]), f"{self.sentence()} and rejoins")

    def simulate(self, group: SimulatedGroup) -> None:
        group.resume(self.member_id)
