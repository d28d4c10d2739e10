"""A member leaves the group: it closes, or it crashes."""

from dataclasses import dataclass

from assignors.whatif.events.action import PLAIN, MemberAction, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership


@dataclass(frozen=True, slots=True)
class Leave(MemberAction):
    """A consumer closes. A dynamic member leaves the group at once, a static one when its session ends."""

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.member_id)} leaves"

    def change(self, membership: Membership) -> None:
        membership.remove(self.member_id, "left")

    def apply(self, state: GroupState) -> Step:
        member = state.member(self.member_id)
        text = self.sentence()
        if state.is_static(member):
            text = f"{self.member_id} closes; static, so it is out once its {state.session_text} session ends"
        return Step(state.without(member), text)

    def simulate(self, group: SimulatedGroup) -> None:
        group.leave(self.member_id)


@dataclass(frozen=True, slots=True)
class Crash(MemberAction):
    """A process dies without closing its consumer: its partitions wait until its session ends."""

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.member_id)} crashes"

    def change(self, membership: Membership) -> None:
        membership.remove(self.member_id, "crashed")

    def apply(self, state: GroupState) -> Step:
        left = state.without(state.member(self.member_id))
        return Step(left, f"{self.sentence()}; it is out once its {state.session_text} session ends")

    def simulate(self, group: SimulatedGroup) -> None:
        group.crash(self.member_id)
