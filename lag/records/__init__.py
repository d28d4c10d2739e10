"""Decodes the bytes of `__consumer_offsets` into offset commits and group events, with NumPy only."""

from lag.records.byte_arrays import BytesColumn
from lag.records.decode import Decoder, decode
from lag.records.model import Commit, Commits, Decoded, DecodeError, GroupEvent, StringColumn, UnknownRecord

__all__ = [
    "BytesColumn",
    "Commit",
    "Commits",
    "DecodeError",
    "Decoded",
    "Decoder",
    "GroupEvent",
    "StringColumn",
    "UnknownRecord",
    "decode",
]
