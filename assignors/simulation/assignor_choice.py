"""The assignor for a scenario that is simulated under another protocol than its own."""

from assignors.model import AssignorError
from assignors.registry import BUILT_IN
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of

_EQUIVALENTS = {
    RebalanceProtocol.EAGER: {"server-range": "range"},
    RebalanceProtocol.COOPERATIVE: {},
    RebalanceProtocol.CONSUMER: {"range": "server-range"},
}
_DEFAULTS = {
    RebalanceProtocol.EAGER: "sticky",
    RebalanceProtocol.COOPERATIVE: "cooperative-sticky",
    RebalanceProtocol.CONSUMER: "uniform",
}


def assignor_for(name: str, protocol: RebalanceProtocol) -> str:
    """The assignor itself if it belongs to that protocol, else the closest one of that protocol.

    Raises AssignorError for share groups, which have no rebalances to wait for, and for assignors that are not Kafka's:
    a shared scenario must not run plugin code.
    """
    if name not in BUILT_IN:
        reason = f"{name!r} is not one of Kafka's assignors, and only those are simulated."
        raise AssignorError(f"{reason} Use one of them, or compare yours under What if.")
    if RebalanceProtocol.SHARE in (protocol, protocol_of(name)):
        raise AssignorError("Share groups are not simulated: their members never wait for a rebalance.")
    if protocol_of(name) is protocol:
        return name
    return _EQUIVALENTS[protocol].get(name, _DEFAULTS[protocol])
