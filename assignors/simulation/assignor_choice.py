"""Which assignor plans when a scenario is played under another protocol than its own."""

from assignors.model import AssignorError
from assignors.registry import BUILT_IN
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of

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

    Raises AssignorError for share groups, where nobody waits for a rebalance, and for assignors that are not Kafka's:
    they run as code of yours, which a story that somebody sends must not start.
    """
    if name not in BUILT_IN:
        told = f"{name!r} is not Kafka's, and only Kafka's own assignors are played second by second."
        raise AssignorError(f"{told} Use one of them, or compare yours under What if.")
    if RebalanceProtocol.SHARE in (protocol, protocol_of(name)):
        raise AssignorError("Share groups are not simulated: their members share partitions, and none waits.")
    if protocol_of(name) is protocol:
        return name
    return _STAND_INS[protocol].get(name, _USUAL[protocol])
