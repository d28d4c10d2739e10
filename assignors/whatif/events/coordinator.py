"""The coordinator fails, and another one takes over."""

from dataclasses import dataclass, replace

from assignors.whatif.events.action import PLAIN, Action, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership, Remarks


@dataclass(frozen=True, slots=True)
class CoordinatorDown(Action):
    """The group's coordinator fails: nothing is reassigned until it is back."""

    def sentence(self, wording: Wording = PLAIN) -> str:
        return "the coordinator fails"

    def check(self, membership: Membership) -> Remarks:
        if not membership.is_coordinator_up:
            yield (), "The coordinator is down already."

    def change(self, membership: Membership) -> None:
        membership.is_coordinator_up = False

    def apply(self, state: GroupState) -> Step:
        return Step(replace(state, is_coordinator_up=False), rebalances=False)

    def simulate(self, group: SimulatedGroup) -> None:
        group.stop_coordinator()


@dataclass(frozen=True, slots=True)
class CoordinatorUp(Action):
    """The coordinator is back."""

    def sentence(self, wording: Wording = PLAIN) -> str:
        return "the coordinator is back"

    def check(self, membership: Membership) -> Remarks:
        if membership.is_coordinator_up:
            yield (), "The coordinator is up already."

    def change(self, membership: Membership) -> None:
        membership.is_coordinator_up = True

    def apply(self, state: GroupState) -> Step:
        return Step(replace(state, is_coordinator_up=True), rebalances=False)

    def simulate(self, group: SimulatedGroup) -> None:
        group.start_coordinator()
