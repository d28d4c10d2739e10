"""The rebalance protocol of each assignor, and which partitions pause under it."""

from enum import StrEnum

import numpy as np

from assignors.whatif.moves import NOBODY, Moves


class RebalanceProtocol(StrEnum):
    """Eager (KIP-54), cooperative (KIP-429), consumer (KIP-848), share (KIP-932)."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"
    SHARE = "share"


_NOT_EAGER = {
    "cooperative-sticky": RebalanceProtocol.COOPERATIVE,
    "uniform": RebalanceProtocol.CONSUMER,
    "server-range": RebalanceProtocol.CONSUMER,
    "share-simple": RebalanceProtocol.SHARE,
}


def protocol_of(assignor: str | None) -> RebalanceProtocol:
    """The protocol of an assignor. One that is not Kafka's runs in the clients and is eager."""
    return _NOT_EAGER.get(assignor or "", RebalanceProtocol.EAGER)


def is_classic(protocol: RebalanceProtocol) -> bool:
    """Whether the clients assign (the classic protocol), not the broker."""
    return protocol in (RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE)


def paused(moves: Moves, protocol: RebalanceProtocol) -> int:
    """How many consumed partitions pause during the rebalance.

    Under the eager protocol all, under the others those that change owners, in share groups none.
    """
    if protocol is RebalanceProtocol.SHARE:
        return 0
    had_owner = moves.sources != NOBODY
    if protocol is RebalanceProtocol.EAGER:
        return int(np.count_nonzero(had_owner))
    return int(np.count_nonzero(had_owner & (moves.sources != moves.targets)))
