"""The network between a member and the coordinator fails, and works again."""

from dataclasses import dataclass, replace

from assignors.model import AssignorError
from assignors.spelling import shown
from assignors.whatif.events.action import PLAIN, MemberAction, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership, Remarks


@dataclass(frozen=True, slots=True)
class Split(MemberAction):
    """Messages between a member and the coordinator are lost; the process continues."""

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.member_id)} is split off from the coordinator"

    def change(self, membership: Membership) -> None:
        if membership.is_active(self.member_id):
            membership.split.add(self.member_id)

    def apply(self, state: GroupState) -> Step:
        left = state.without(state.member(self.member_id))
        text = f"{self.sentence()}; it is out once its {state.session_text} session ends"
        return Step(replace(left, split=left.split | {self.member_id}), text)

    def simulate(self, group: SimulatedGroup) -> None:
        group.split(self.member_id)


@dataclass(frozen=True, slots=True)
class Heal(MemberAction):
    """A member that was split off reaches the coordinator again: it rejoins."""

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.member_id)} reaches the coordinator again"

    def check(self, membership: Membership) -> Remarks:
        if self.member_id in membership.split:
            return
        sentence = f"{shown(self.member_id)!r} is not split off. Split it off first, or leave this event out."
        yield from list(membership.check_active(self.member_id)) or [((), sentence)]

    def change(self, membership: Membership) -> None:
        membership.split.discard(self.member_id)

    def apply(self, state: GroupState) -> Step:
        name = self.member_id
        if name not in state.split:
            state.member(name)
            raise AssignorError(f"member {name!r} is not split off. Split it off before, or leave this event out.")
        back = replace(state, split=state.split - {name})
        return Step(back.with_member(state.away[name]), f"{self.sentence()} and rejoins")

    def simulate(self, group: SimulatedGroup) -> None:
        group.heal(self.member_id)
