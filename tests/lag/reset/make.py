"""Groups and logs made by hand, as the cluster client reads them."""

from collections.abc import Mapping

from assignors.model import TopicPartition
from lag.model import GroupType, Member
from lag.offsets import PartitionLag, PartitionProblem
from lag.reset.model import GroupReading, Position

ORDERS = TopicPartition("orders", 0)


def position(
    committed: int | None,
    log_start: int | None = 0,
    log_end: int | None = 100,
    *,
    tp: TopicPartition = ORDERS,
    last_stable: int | None = None,
    problem: PartitionProblem | None = None,
    metadata: str = "",
    topic_id: str | None = "t1",
) -> Position:
    """A position whose lag is the plain difference; `problem` NO_COMMIT where nothing is committed."""
    known = committed is not None and log_end is not None and problem is None
    lag = PartitionLag(
        tp=tp,
        committed=committed,
        log_start=log_start,
        log_end=log_end,
        last_stable=log_end if last_stable is None else last_stable,
        lag_records=(log_end or 0) - (committed or 0) if known else None,
        member_id=None,
        at_ms=0,
        problem=PartitionProblem.NO_COMMIT if committed is None and problem is None else problem,
    )
    return Position(lag, metadata, topic_id)


def reading(
    positions: Mapping[TopicPartition, Position],
    members: tuple[Member, ...] = (),
    state: str = "Empty",
    kind: GroupType | None = GroupType.CLASSIC,
    cluster_id: str = "cluster-1",
) -> GroupReading:
    """The group `billing`."""
    return GroupReading(cluster_id, "billing", 1_000, kind, state, None, members, positions)
