"""The requests that kafka-python 3.0.12 lacks: KIP-848, KIP-932 and KIP-1071 describes, and share-group offsets.

Each class reads its fields from `schemas/<class name>.json`, with the fields of the message schemas of Kafka 4.3.1.
"""

from collections.abc import Mapping
from typing import Any

from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer import FetchRequest, IsolationLevel

SCHEMAS = "lag.cluster.requests.schemas"


class ConsumerGroupDescribeRequest(ApiMessage, load_json=SCHEMAS):
    """KIP-848: state, epochs and members of groups of type `consumer`."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=SCHEMAS):
    """Answer to `ConsumerGroupDescribeRequest`."""


class ShareGroupDescribeRequest(ApiMessage, load_json=SCHEMAS):
    """KIP-932: state, epochs and members of share groups."""


class ShareGroupDescribeResponse(ApiMessage, load_json=SCHEMAS):
    """Answer to `ShareGroupDescribeRequest`."""


class StreamsGroupDescribeRequest(ApiMessage, load_json=SCHEMAS):
    """KIP-1071: state, epochs, topology and members of streams groups."""


class StreamsGroupDescribeResponse(ApiMessage, load_json=SCHEMAS):
    """Answer to `StreamsGroupDescribeRequest`."""


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=SCHEMAS):
    """KIP-932: start offset per share partition; KIP-1226 (version 1): its lag."""


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=SCHEMAS):
    """Answer to `DescribeShareGroupOffsetsRequest`."""


Message = Any
"""A request or response of kafka-python; its classes are made from schemas at run time and are not typed."""

LAST_FETCH_BY_NAME = 12
"""The last version of Fetch with topic names; later ones have topic ids."""


def fetch_request(
    topic: str,
    offsets: Mapping[int, int],
    isolation: IsolationLevel,
    *,
    partition_bytes: int,
    answer_bytes: int,
    wait_ms: int,
) -> Message:
    """A Fetch of one topic from the offset of each partition on; waits up to `wait_ms` for the first record."""
    partition = FetchRequest.FetchTopic.FetchPartition
    parts = [
        partition(partition=number, fetch_offset=offset, partition_max_bytes=partition_bytes)
        for number, offset in offsets.items()
    ]
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=answer_bytes,
        isolation_level=isolation,
        topics=[FetchRequest.FetchTopic(topic=topic, partitions=parts)],
        forgotten_topics_data=[],
        min_version=4,
        max_version=LAST_FETCH_BY_NAME,
    )
