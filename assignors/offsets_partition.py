"""The partition of `__consumer_offsets` that has a group's commits; its leader coordinates the group.

Source: Kafka's `GroupCoordinatorService.partitionFor` and `Utils.abs`.
"""

from assignors.javahash.hashes import string_hash

OFFSETS_TOPIC = "__consumer_offsets"
DEFAULT_PARTITIONS = 50
"""`offsets.topic.num.partitions`."""
_SMALLEST = -(1 << 31)


def offsets_partition(group_id: str, partitions: int = DEFAULT_PARTITIONS) -> int:
    """The partition of `__consumer_offsets` that holds a group, when the topic has that many.

    The smallest int has no positive counterpart in Java; `Utils.abs` makes it 0. Raises ValueError for a topic without
    partitions.

    >>> offsets_partition("my-group"), offsets_partition("polygenelubricants")
    (12, 0)
    """
    if partitions < 1:
        raise ValueError(f"{OFFSETS_TOPIC} has {partitions} partitions. Use 1 or more.")
    code = string_hash(group_id)
    return (0 if code == _SMALLEST else abs(code)) % partitions
