"""The partition of `__consumer_offsets` of a group id, the broker that leads it, and what is special about the id."""

from app.ui import formats
from assignors.javahash.hashes import string_hash
from assignors.offsets_partition import DEFAULT_PARTITIONS, OFFSETS_TOPIC, offsets_partition
from lag.model import ClusterSnapshot

SMALLEST = -(1 << 31)


def found(group_id: str, snapshot: ClusterSnapshot | None) -> str:
    """ "`test` → `__consumer_offsets-48`, led by broker 2 · hash code 3556498" in Markdown."""
    count, _ = _partitions(snapshot)
    where = offsets_partition(group_id, count)
    what, place = formats.code(group_id) if group_id else "the empty id", formats.code(f"{OFFSETS_TOPIC}-{where}")
    return f"{what} → {place}{_led(where, count, snapshot)} :gray[· hash code {string_hash(group_id)}]"


def partitions(snapshot: ClusterSnapshot | None) -> str:
    """How many partitions there are, and whether the cluster says so."""
    count, is_known = _partitions(snapshot)
    return f"of {count} partitions{'' if is_known else ' (the default; no cluster is connected)'}"


def _partitions(snapshot: ClusterSnapshot | None) -> tuple[int, bool]:
    topic = None if snapshot is None else snapshot.topics.get(OFFSETS_TOPIC)
    return (topic.partitions, True) if topic and topic.partitions else (DEFAULT_PARTITIONS, False)


def _led(where: int, count: int, snapshot: ClusterSnapshot | None) -> str:
    """The partition's leader; if the topic cannot be described, the coordinator of any group of that partition."""
    if snapshot is None:
        return ""
    if snapshot.offsets_leaders:
        leader = snapshot.offsets_leaders[where]
        return ", without a leader now" if leader is None else f", led by broker {leader}"
    known = (its.coordinator for its in snapshot.groups if offsets_partition(its.group_id, count) == where)
    broker = next((coordinator for coordinator in known if coordinator is not None), None)
    return "" if broker is None else f", led by broker {broker}"


def remark(group_id: str) -> str | None:
    """What is special about an id; None for most."""
    code = string_hash(group_id)
    if code == SMALLEST:
        return "The smallest int has no positive counterpart in Java; Kafka's `Utils.abs` makes it 0, not -48 or 48."
    if not group_id:
        return "Kafka refuses members with an empty group id (INVALID_GROUP_ID); only very old commits have one."
    if not group_id.isascii():
        return "The hash code counts UTF-16 units, as Java does, not characters."
    if code < 0:
        return f"The hash code is negative: Kafka uses `abs(hash) % n`, which differs from the remainder of {code}."
    return None
