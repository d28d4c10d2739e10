"""The topics in a consumer's subscription bytes: the coordinator reads nothing else of them."""

import struct

_HEADER = struct.Struct(">hi")
_LENGTH = struct.Struct(">h")


def subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """Topics of a ConsumerProtocol subscription of any version (all start like version 0); None if it is none."""
    try:
        _, count = _HEADER.unpack_from(metadata)
        return frozenset(_names(metadata, count))
    except (struct.error, UnicodeDecodeError):
        return None


def _names(metadata: bytes, count: int) -> list[str]:
    names, at = [], _HEADER.size
    for _ in range(count):
        (length,) = _LENGTH.unpack_from(metadata, at)
        at += _LENGTH.size
        (name,) = struct.unpack_from(f">{length}s", metadata, at)
        names.append(name.decode())
        at += length
    return names
