"""The numbers of statuses in the history's tables.

They never change, unlike ranks: a rank is the index into `health.URGENCY` and lower is more urgent.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lag.offsets import Ints
from lag.verdict.status import URGENCY, Status

STORED: Mapping[Status, int] = {
    Status.STOPPED: 0,
    Status.STALLED: 1,
    Status.LOST: 2,
    Status.BEYOND_END: 3,
    Status.REWOUND: 4,
    Status.FALLING_BEHIND: 5,
    Status.NEVER_COMMITTED: 6,
    Status.HELD: 7,
    Status.NO_MEMBERS: 8,
    Status.CATCHING_UP: 9,
    Status.TOPIC_DELETED: 10,
    Status.UNKNOWN: 11,
    Status.OK: 12,
}
"""A new status takes the next free number, however urgent it is."""


def _by_rank() -> Ints:
    return np.array([STORED[status] for status in URGENCY], np.int64)


def stored_codes(ranks: NDArray[np.integer]) -> Ints:
    """int64[n]: the number of each status in the tables."""
    codes: Ints = _by_rank()[ranks]
    return codes


def ranks(codes: NDArray[np.integer]) -> Ints:
    """int64[n]: the rank of each number in the tables."""
    ranks: Ints = np.argsort(_by_rank())[codes]
    return ranks


def rank_sql(column: str) -> str:
    """The SQL of the rank of a stored number; NULL if it is NULL or of a newer groupscope."""
    cases = " ".join(f"WHEN {STORED[status]} THEN {rank}" for rank, status in enumerate(URGENCY))
    return f"CASE {column} {cases} END"
