"""A member's process pauses, or processes its records more slowly."""

from dataclasses import dataclass
from math import inf

from assignors.model import Member
from assignors.whatif.events.action import PLAIN, MemberAction, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership
from assignors.whatif.timeouts import Timeouts


@dataclass(frozen=True, slots=True)
class Slow(MemberAction):
    """From now on a member takes `processing_ms` from one poll to the next (0: it waits in poll)."""

    id_path = ("id",)
    processing_ms: int

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        """It leaves after each poll that takes too long, and joins again."""
        return inf if self.processing_ms > timeouts.max_poll_interval_ms else 0

    def sentence(self, wording: Wording = PLAIN) -> str:
        duration = wording.duration(self.processing_ms)
        return f"{wording.member(self.member_id)} takes {duration} from one poll to the next"

    def apply(self, state: GroupState) -> Step:
        state.member(self.member_id)
        return Step(state, rebalances=False)

    def simulate(self, group: SimulatedGroup) -> None:
        group.set_processing_ms(self.member_id, self.processing_ms)


@dataclass(frozen=True, slots=True)
class GcPause(MemberAction):
    """A member's whole process is paused for `lasts_ms`, heartbeats included, and then continues."""

    id_path = ("id",)
    lasts_ms: int

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        return self.lasts_ms

    @property
    def pause_ms(self) -> int:
        return self.lasts_ms

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.member_id)} is paused for {wording.duration(self.lasts_ms)}"

    def change(self, membership: Membership) -> None:
        if membership.is_active(self.member_id):
            membership.paused_until_ms[self.member_id] = membership.now_ms + self.lasts_ms

    def apply(self, state: GroupState) -> Step:
        member = state.member(self.member_id)
        if self.lasts_ms < state.timeouts.session_ms:
            return Step(state, rebalances=False)
        text = f"{self.sentence()}; it is removed when its {state.timeouts.session_text} session times out"

        def rejoin(later: GroupState) -> Step:
            return Step(later.with_member(member), f"{self.member_id} continues and rejoins")

        return Step(state.without(member), text, followed_by=rejoin)

    def simulate(self, group: SimulatedGroup) -> None:
        group.pause(self.member_id, self.lasts_ms)
