"""A member restarts."""

from dataclasses import dataclass

from assignors.whatif.events.action import PLAIN, MemberAction, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step


@dataclass(frozen=True, slots=True)
class Restart(MemberAction):
    """A consumer closes and comes back. A static member (KIP-345) keeps its partitions without a rebalance."""

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.member_id)} restarts"

    def apply(self, state: GroupState) -> Step:
        member = state.member(self.member_id)
        if state.is_static(member):
            text = f"{self.sentence()}; static, so it keeps its partitions without a rebalance"
            return Step(state, text, rebalances=False, restarted=self.member_id)

        def rejoin(later: GroupState) -> Step:
            return Step(later.with_member(member), f"{self.member_id} rejoins after its restart")

        return Step(state.without(member), f"{self.sentence()}: it leaves", followed_by=rejoin)

    def simulate(self, group: SimulatedGroup) -> None:
        group.restart(self.member_id)
