"""A member leaves the group: it closes, crashes or restarts."""

from dataclasses import dataclass

from assignors.model import Member
from assignors.whatif.events.action import MemberAction, SimulatedGroup
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership
from assignors.whatif.timeouts import Timeouts


@dataclass(frozen=True, slots=True)
class Leave(MemberAction):
    """A consumer closes. A dynamic member leaves the group at once, a static one when its session ends."""

    happens = "leaves"

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        return timeouts.session_ms if member is not None and member.instance_id is not None else 0

    def change(self, membership: Membership) -> None:
        membership.remove(self.member_id, "left")

    def apply(self, state: GroupState) -> Step:
        member = state.member(self.member_id)
        text = self.sentence()
        if state.is_static(member):
            removed = f"it is removed when its {state.timeouts.session_text} session times out"
            text = f"{self.member_id} closes; it is static, so {removed}"
        return Step(state.without(member), text)

    def simulate(self, group: SimulatedGroup) -> None:
        group.leave(self.member_id)


@dataclass(frozen=True, slots=True)
class Crash(MemberAction):
    """A process dies without closing its consumer: its partitions wait until its session ends."""

    happens = "crashes"

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        return timeouts.session_ms

    def change(self, membership: Membership) -> None:
        membership.remove(self.member_id, "crashed")

    def apply(self, state: GroupState) -> Step:
        left = state.without(state.member(self.member_id))
        return Step(left, f"{self.sentence()}; it is removed when its {state.timeouts.session_text} session times out")

    def simulate(self, group: SimulatedGroup) -> None:
        group.crash(self.member_id)


@dataclass(frozen=True, slots=True)
class Restart(MemberAction):
    """A consumer closes and comes back. A static member (KIP-345) keeps its partitions without a rebalance."""

    happens = "restarts"

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        return timeouts.restart_ms

    def apply(self, state: GroupState) -> Step:
        member = state.member(self.member_id)
        if state.is_static(member):
            text = f"{self.sentence()}; it is static, so it keeps its partitions without a rebalance"
            return Step(state, text, rebalances=False, restarted=self.member_id)

        def rejoin(later: GroupState) -> Step:
            return Step(later.with_member(member), f"{self.member_id} rejoins after its restart")

        return Step(state.without(member), f"{self.sentence()}: it leaves", followed_by=rejoin)

    def simulate(self, group: SimulatedGroup) -> None:
        group.restart(self.member_id)
