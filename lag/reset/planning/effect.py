"""What a changed offset does to the consumers: records read again, skipped, or deleted before they were read. Pure."""

from typing import NamedTuple

from lag.offsets import PartitionLag

NO_COMMIT = "nothing is committed: where its consumers would start depends on auto.offset.reset"


class Effect(NamedTuple):
    """The effect in offsets; None: not known, `note` says why.

    `lag_after` counts from the log start if the offset is below it.
    """

    read_again: int | None
    skipped: int | None
    lag_after: int | None
    note: str = ""


def effect(lag: PartitionLag, to_offset: int) -> Effect:
    """The effect of committing `to_offset` instead of what is committed.

    A consumer below the log start, or beyond the log end, can read on from there only.
    """
    if lag.log_start is None or lag.log_end is None:
        return Effect(None, None, None, "the log start or log end is not known")
    beyond = to_offset > lag.log_end
    lag_after = None if beyond else lag.log_end - max(to_offset, lag.log_start)
    if lag.committed is None:
        return Effect(None, None, lag_after, NO_COMMIT)
    at, to = (min(max(offset, lag.log_start), lag.log_end) for offset in (lag.committed, to_offset))
    return Effect(max(0, at - to), max(0, to - at), lag_after)
