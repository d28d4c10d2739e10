"""Decodes the bytes of `__consumer_offsets` into offset commits and group events, with NumPy only."""

from lag.records.byte_arrays import BytesColumn
from lag.records.decode import Decoder, decode
from lag.records.model import Commits, Decoded, DecodeError, GroupEvent, StringColumn, UnknownRecord

__all__ = [
    "BytesColumn",
    "Commits",
    "DecodeError",
    "Decoded",
    "Decoder",
    "GroupEvent",
    "StringColumn",
    "UnknownRecord",
    "decode",
]
