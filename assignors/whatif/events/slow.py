"""A member processes its records more slowly."""

from dataclasses import dataclass

from assignors.whatif.events.action import PLAIN, MemberAction, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step


@dataclass(frozen=True, slots=True)
class Slow(MemberAction):
    """From now on a member takes `processing_ms` from one poll to the next (0: it waits in poll)."""

    id_path = ("id",)
    processing_ms: int

    def sentence(self, wording: Wording = PLAIN) -> str:
        duration = wording.duration(self.processing_ms)
        return f"{wording.member(self.member_id)} takes {duration} from one poll to the next"

    def apply(self, state: GroupState) -> Step:
        state.member(self.member_id)
        return Step(state, rebalances=False)

    def simulate(self, group: SimulatedGroup) -> None:
        group.set_processing_ms(self.member_id, self.processing_ms)
