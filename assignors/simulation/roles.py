"""Which assignor plans when a scenario is played under another protocol than its own."""

from assignors.model import AssignorError
from assignors.protocols import RebalanceProtocol, protocol_of

_STAND_INS = {
    RebalanceProtocol.EAGER: {"server-range": "range"},
    RebalanceProtocol.COOPERATIVE: {},
    RebalanceProtocol.CONSUMER: {"range": "server-range"},
}
_USUAL = {
    RebalanceProtocol.EAGER: "sticky",
    RebalanceProtocol.COOPERATIVE: "cooperative-sticky",
    RebalanceProtocol.CONSUMER: "uniform",
}


def assignor_for(name: str, protocol: RebalanceProtocol) -> str:
    """The assignor itself where it is one of that protocol, else the one that is nearest to it there.

    Raises AssignorError for share groups: nobody waits for a rebalance there.
    """
    if RebalanceProtocol.SHARE in (protocol, protocol_of(name)):
        raise AssignorError("Share groups are not simulated: their members share partitions, and none waits.")
    if protocol_of(name) is protocol:
        return name
    return _STAND_INS[protocol].get(name, _USUAL[protocol])
