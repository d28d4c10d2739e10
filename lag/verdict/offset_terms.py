"""What the position of a group in a partition is called."""

from typing import NamedTuple

from lag.model import GroupType


class OffsetTerms(NamedTuple):
    """`offset`: the offset that lag counts from; `done`: what happened to the records below it."""

    offset: str
    done: str


COMMIT = OffsetTerms("committed offset", "committed")
START = OffsetTerms("start offset", "acknowledged")
"""A share group commits nothing: below its share-partition start offset all records are acknowledged or archived
(KIP-932)."""


def offset_terms(type_: GroupType) -> OffsetTerms:
    """The terms for a group of that type."""
    return START if type_ is GroupType.SHARE else COMMIT
