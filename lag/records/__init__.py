"""The bytes of `__consumer_offsets` -> offset commits and group events; pure NumPy."""

from lag.records.byte_arrays import Blobs
from lag.records.decode import Decoder, decode
from lag.records.model import Commit, Commits, Decoded, DecodeError, GroupEvent, Names, Unknown

__all__ = [
    "Blobs",
    "Commit",
    "Commits",
    "DecodeError",
    "Decoded",
    "Decoder",
    "GroupEvent",
    "Names",
    "Unknown",
    "decode",
]
