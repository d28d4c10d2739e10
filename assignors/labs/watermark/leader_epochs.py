"""Leader epochs: where each ends in a log, and where two logs part (KIP-101, KIP-279)."""

from collections.abc import Sequence
from dataclasses import dataclass

from assignors.labs.watermark.model import Entry


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """The largest epoch of a log not above the asked one, and the offset after its last record."""

    epoch: int
    offset: int


def epoch_end(log: Sequence[Entry], asked: int) -> EpochEnd:
    """Kafka's `LeaderEpochFileCache.endOffsetFor`, for an epoch not above the current one.

    An epoch below all of the log's is answered as it was asked, with the start of the log.
    """
    below = [entry.epoch for entry in log if entry.epoch <= asked]
    return EpochEnd(below[-1] if below else asked, len(below))


def diverging(leader: Sequence[Entry], offset: int, last_epoch: int) -> EpochEnd | None:
    """What the leader answers to a fetch at `offset` whose log ends with `last_epoch`; None: the logs agree."""
    end = epoch_end(leader, last_epoch)
    return end if end.epoch < last_epoch or end.offset < offset else None


def truncation_offset(log: Sequence[Entry], leader: EpochEnd) -> int:
    """Where the follower cuts (Kafka's `getOffsetTruncationState`).

    The earlier end of the epoch that both have; else the end of the follower's own epoch below it, to ask again.
    """
    own = epoch_end(log, leader.epoch)
    return own.offset if own.epoch < leader.epoch else min(own.offset, leader.offset)
