"""The coordinator fails, and another one takes over."""

from dataclasses import dataclass, replace
from typing import ClassVar

from assignors.whatif.events.action import PLAIN, Action, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership, Remarks


@dataclass(frozen=True, slots=True)
class CoordinatorAction(Action):
    """The coordinator is up or down from now on."""

    is_up: ClassVar[bool]

    def check(self, membership: Membership) -> Remarks:
        if membership.is_coordinator_up is self.is_up:
            yield (), f"The coordinator is already {'up' if self.is_up else 'down'}."

    def change(self, membership: Membership) -> None:
        membership.is_coordinator_up = self.is_up

    def apply(self, state: GroupState) -> Step:
        return Step(replace(state, is_coordinator_up=self.is_up), rebalances=False)


@dataclass(frozen=True, slots=True)
class CoordinatorDown(CoordinatorAction):
    """The group's coordinator fails: nothing is reassigned until it is back."""

    is_up = False

    def sentence(self, wording: Wording = PLAIN) -> str:
        return "the coordinator fails"

    def simulate(self, group: SimulatedGroup) -> None:
        group.stop_coordinator()


@dataclass(frozen=True, slots=True)
class CoordinatorUp(CoordinatorAction):
    """The coordinator is back."""

    is_up = True

    def sentence(self, wording: Wording = PLAIN) -> str:
        return "the coordinator is back"

    def simulate(self, group: SimulatedGroup) -> None:
        group.start_coordinator()
