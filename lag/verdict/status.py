"""The statuses of partitions and groups in order of urgency, and their codes in arrays."""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

StatusCodes = NDArray[np.uint8]
"""Indexes into URGENCY: lower is more urgent."""

TOO_EARLY = -1
"""A status code: the group is ok so far, but the window is too short for a verdict. Its finding is UNKNOWN."""


class Status(StrEnum):
    """The status of a partition or group, most urgent first."""

    STOPPED = "stopped"  # the group has lag and committed nothing in the window
    STALLED = "stalled"  # this partition has lag and its committed offset did not move, those of others did
    LOST = "lost"  # the committed offset is below the log start: records were deleted before they were read
    BEYOND_END = "beyond_end"  # the committed offset is beyond the log end: the topic was recreated or truncated
    NO_PARTITIONS = "no_partitions"  # the group has members, and no partition exists for them (of groups)
    REWOUND = "rewound"  # the committed offset moved backwards in the window
    FALLING_BEHIND = "falling_behind"
    NEVER_COMMITTED = "never_committed"
    FLAPPING = "flapping"  # a group whose verdicts opened and closed again and again (of groups, if a policy asks)
    HELD = "held"  # the group has read up to the last stable offset, which an open transaction holds back
    NO_MEMBERS = "no_members"  # records wait, and the group has no members
    WATCHING = "watching"  # the group has not committed for longer than usual, or its lag has just jumped
    CATCHING_UP = "catching_up"
    TOPIC_DELETED = "topic_deleted"
    UNKNOWN = "unknown"
    OK = "ok"


URGENCY: tuple[Status, ...] = tuple(Status)

STATUS_CODE: dict[Status, int] = {status: i for i, status in enumerate(URGENCY)}

NO_VERDICT = (TOO_EARLY, STATUS_CODE[Status.UNKNOWN])
"""The status codes of a poll that shows too little for a verdict."""

OPENS_NOTHING = frozenset({Status.OK, Status.WATCHING})
"""Statuses that count as OK when verdicts open, close and change."""
