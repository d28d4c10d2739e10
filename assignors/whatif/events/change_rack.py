"""A member moves to another rack."""

from dataclasses import dataclass, replace

from assignors.whatif.events.action import PLAIN, MemberAction, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step


@dataclass(frozen=True, slots=True)
class ChangeRack(MemberAction):
    """A member moves to another rack (None: an unknown one)."""

    id_path = ("id",)
    rack: str | None

    def sentence(self, wording: Wording = PLAIN) -> str:
        rack = f"rack {wording.name(self.rack)}" if self.rack else "an unknown rack"
        return f"{wording.member(self.member_id)} moves to {rack}"

    def apply(self, state: GroupState) -> Step:
        member = state.member(self.member_id)
        if member.rack == self.rack:
            return Step(state, rebalances=False)
        return Step(state.updated(replace(member, rack=self.rack)), self.sentence())

    def simulate(self, group: SimulatedGroup) -> None:
        group.change_rack(self.member_id, self.rack)
