"""When the next poll or attempt comes: after a good one, and after a failure. Pure."""

from dataclasses import dataclass

REST_SHARE = 0.5
"""A cluster rests for at least this share of the time that its last poll took."""

EMPTY_INTERVAL_S = 1.0
"""A cluster without groups is being set up: its first group is shown soon, and such a poll costs little."""

FIRST_RETRY_S = 1.0
LONGEST_RETRY_S = 60.0
RETRY_JITTER = 0.2


@dataclass(frozen=True, slots=True)
class Pause:
    """How long to wait for the next poll, and how long at least when a poll is asked for earlier."""

    seconds: float
    at_least_s: float = 0.0

    def ends_ms(self, now_ms: int) -> int:
        """When the pause ends, in epoch milliseconds."""
        return now_ms + round(self.seconds * 1000)


def pause_after(interval_s: float, took_s: float) -> Pause:
    """After a good poll: the rest of the interval, but at least REST_SHARE of what the poll took."""
    rest_s = took_s * REST_SHARE
    return Pause(max(interval_s - took_s, rest_s), rest_s)


def pause_before_retry(failures: int, chance: float) -> Pause:
    """After the `failures`-th failure in a row: 1, 2, 4 … 60 s, ±20 %; `chance` is in [0, 1)."""
    backoff_s = min(LONGEST_RETRY_S, FIRST_RETRY_S * 2 ** min(failures - 1, 10))
    return Pause(min(LONGEST_RETRY_S, backoff_s * (1 + RETRY_JITTER * (2 * chance - 1))))
