"""The order in which Java's hash maps iterate, which leaks into Kafka's plans.

`hashes` has the hash codes, scalar and vectorised; `maps` has exact maps and sets, one key at a time; `orders` gives
the iteration order of thousands of keys at once. Source: OpenJDK's `java.util.HashMap`, versions 17, 21 and 25.
"""

from assignors.javahash.hashes import (
    INTEGERS,
    NEWEST_RULE_JDK,
    STRINGS,
    TOPIC_PARTITIONS,
    UUIDS,
    Keys,
    hash_set_capacity,
    string_hash,
    string_hashes,
    table_size_for,
    topic_id_partition_hash,
    topic_partition_hash,
    uuid_hash,
)
from assignors.javahash.maps import JavaHashMap, JavaHashSet
from assignors.javahash.orders import CrowdedError, plain_order, put_order, string_order

__all__ = [
    "INTEGERS",
    "NEWEST_RULE_JDK",
    "STRINGS",
    "TOPIC_PARTITIONS",
    "UUIDS",
    "CrowdedError",
    "JavaHashMap",
    "JavaHashSet",
    "Keys",
    "hash_set_capacity",
    "plain_order",
    "put_order",
    "string_hash",
    "string_hashes",
    "string_order",
    "table_size_for",
    "topic_id_partition_hash",
    "topic_partition_hash",
    "uuid_hash",
]
