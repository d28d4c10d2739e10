"""From the numbers of statuses in the history's tables (`lag.verdict.catalogue.STORED`) to ranks, and back.

The numbers never change, unlike ranks: a rank is the index into `URGENCY` and lower is more urgent.
"""

import numpy as np
from numpy.typing import NDArray

from lag.offsets import Ints
from lag.verdict.catalogue import STORED
from lag.verdict.status import URGENCY


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
