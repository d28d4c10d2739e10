"""Folds the group events of `__consumer_offsets` into generations. Pure: reading the events is elsewhere.

`lag.generations.tail` reads them from the brokers, `lag.generations.recorded.history` from the history. All events of a
group are in one partition, in order.

    recorder = GenerationRecorder(topic_names.get)    # topic id -> name, None if it is not known
    recorder.take(events, whole=True)                 # whole: the events start where the log does
    recorder.recorded("billing")                      # a list of RecordedGeneration
"""

from lag.generations.recorded.model import (
    FollowStatus,
    MemberState,
    Origin,
    ReconciliationStep,
    RecordedGeneration,
    Recording,
    TimedEvent,
    Timeouts,
)
from lag.generations.recorded.recorder import GenerationRecorder, generations_of

__all__ = [
    "FollowStatus",
    "GenerationRecorder",
    "MemberState",
    "Origin",
    "ReconciliationStep",
    "RecordedGeneration",
    "Recording",
    "TimedEvent",
    "Timeouts",
    "generations_of",
]
