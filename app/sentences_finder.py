"""Which partition of `__consumer_offsets` a group id belongs to, which broker leads it, and what is odd about it."""

from app import formats
from assignors.javahash.hashes import string_hash
from assignors.simulation.finder import DEFAULT_PARTITIONS, OFFSETS_TOPIC, offsets_partition
from lag.model import ClusterSnapshot

SMALLEST = -(1 << 31)


def found(group_id: str, snapshot: ClusterSnapshot | None) -> str:
    """ "`test` has the hash code 3556498, so … the leader of `__consumer_offsets-48` of 50: broker 2." in Markdown."""
    topic = None if snapshot is None else snapshot.topics.get(OFFSETS_TOPIC)
    count = topic.partitions if topic and topic.partitions else DEFAULT_PARTITIONS
    code, where = string_hash(group_id), offsets_partition(group_id, count)
    place = formats.code(f"{OFFSETS_TOPIC}-{where}")
    of = f"of {count}" if topic else f"of {count}, the default: no cluster says how many there are"
    what = formats.code(group_id) if group_id else "The empty id"
    led = _led(where, count, snapshot)
    return f"{what} has the hash code {code}, so it is coordinated by the leader of {place} {of}{led}."


def _led(where: int, count: int, snapshot: ClusterSnapshot | None) -> str:
    """All groups of one partition have one coordinator, so any of them tells."""
    groups = () if snapshot is None else snapshot.groups
    known = (its.coordinator for its in groups if offsets_partition(its.group_id, count) == where)
    broker = next((coordinator for coordinator in known if coordinator is not None), None)
    return "" if broker is None else f": broker {broker}"


def oddity(group_id: str) -> str | None:
    """What is special about that id; None when nothing is."""
    code = string_hash(group_id)
    if code == SMALLEST:
        return "The smallest int has no positive counterpart in Java; Kafka's `Utils.abs` makes it 0, not -48 or 48."
    if not group_id:
        return "Kafka refuses members with an empty group id (INVALID_GROUP_ID); only old commits may have one."
    if not group_id.isascii():
        return "The hash code counts UTF-16 units, as Java does, not characters."
    if code < 0:
        return f"The hash code is negative: Kafka takes `abs(hash) % n`; the remainder of {code} itself would differ."
    return None
