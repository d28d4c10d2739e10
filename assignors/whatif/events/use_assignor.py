"""All members change to another assignor."""

from dataclasses import dataclass, replace

from assignors import registry
from assignors.model import Member
from assignors.spelling import shown, suggestion
from assignors.whatif.events.action import PLAIN, Action, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step, without_claims
from assignors.whatif.membership import Membership, Remarks
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from assignors.whatif.timeouts import Timeouts


@dataclass(frozen=True, slots=True)
class UseAssignor(Action):
    """All members change to another assignor at once."""

    assignor: str

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        return timeouts.restart_ms

    @property
    def subject(self) -> str:
        return self.assignor

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"all members change to {wording.name(self.assignor)}"

    def check(self, membership: Membership) -> Remarks:
        yield from check_assignor(self.assignor)

    def apply(self, state: GroupState) -> Step:
        """Between the classic and the consumer protocol, members keep what they own (KIP-848, online migration).

        Otherwise they start without claims: a share group is another kind of group, and consumers keep claims in
        memory. Under an eager assignor there are none but in the user data of `sticky`, which no other assignor writes.
        """
        assignor = registry.get(self.assignor)
        if assignor.name == state.assignor.name:
            return Step(state, rebalances=False)
        changed, text = replace(state, assignor=assignor), self.sentence()
        if _converts(state.protocol, changed.protocol):
            return Step(changed, text)
        return Step(replace(changed, members=tuple(map(without_claims, state.members))), text, revokes_all=True)

    def simulate(self, group: SimulatedGroup) -> None:
        group.use_assignor(self.assignor)


def check_assignor(name: str) -> Remarks:
    """Whether an assignor of that name is installed. A plugin (`module:Class`) is never loaded because of a file."""
    if ":" in name:
        yield (), "A file cannot name a plugin, which runs as code. Give it as --plugin, or install it."
    elif name not in registry.names():
        yield (), f"No assignor is named {shown(name)!r}.{suggestion(name, registry.names())}"


def _converts(old: RebalanceProtocol, new: RebalanceProtocol) -> bool:
    """Whether the coordinator converts the group with the members' ownership."""
    protocols = (old, new)
    return RebalanceProtocol.CONSUMER in protocols and RebalanceProtocol.SHARE not in protocols
