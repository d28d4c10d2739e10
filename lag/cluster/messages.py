"""The requests that kafka-python 3.0.12 lacks: KIP-848, KIP-932 and KIP-1071 describes, and share-group offsets.

Each class reads its fields from `schemas/<class name>.json`, with the fields of the message schemas of Kafka 4.3.1.
"""

import struct
from typing import Any

from kafka.protocol.api_message import ApiMessage

SCHEMAS = "lag.cluster.schemas"


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

UNREADABLE = (struct.error, ValueError, IndexError, TypeError, EOFError, MemoryError, OverflowError)
"""What decoding invalid bytes may raise; UnicodeDecodeError is a ValueError."""
