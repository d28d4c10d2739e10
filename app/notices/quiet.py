"""When nothing is sent: quiet hours of a target, and maintenance windows. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo

from lag.times import from_ms
from lag.verdict.catalogue import Severity

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
EVERY_DAY = frozenset(range(7))


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `start` (inclusive) to `end` (exclusive) in a time zone, past midnight if `end` is not later than `start`.

    `days` are those on which it starts, 0 = Monday. Notices of severity `still_sent` and above are sent all the same;
    None: no notices are.
    """

    start: time
    end: time
    zone: tzinfo
    days: frozenset[int] = EVERY_DAY
    still_sent: Severity | None = None

    def holds_back(self, severity: Severity, now_ms: int) -> bool:
        """Whether a notice of that severity has to wait now (ms since 1970)."""
        if self.still_sent is not None and severity >= self.still_sent:
            return False
        now = from_ms(now_ms).astimezone(self.zone)
        return any(self._covers(now, day) for day in (now.date(), now.date() - timedelta(days=1)))

    def _covers(self, now: datetime, day: date) -> bool:
        """Whether the quiet hours that start on that day cover `now`."""
        last = day if self.start < self.end else day + timedelta(days=1)
        local = now.replace(tzinfo=None)
        return day.weekday() in self.days and (
            datetime.combine(day, self.start) <= local < datetime.combine(last, self.end)
        )


def every_group(group_id: str) -> bool:
    """The choice of all groups."""
    return True


@dataclass(frozen=True, slots=True)
class Maintenance:
    """From `start_ms` (inclusive) to `end_ms` (exclusive), ms since 1970, nothing is sent of these groups.

    `clusters`: names, None for all. `has_group` tells by group id.
    """

    start_ms: int
    end_ms: int
    clusters: frozenset[str] | None = None
    has_group: Callable[[str], bool] = field(default=every_group, compare=False)

    def covers(self, cluster: str, group_id: str, now_ms: int) -> bool:
        """Whether nothing is sent of the group now."""
        if not self.start_ms <= now_ms < self.end_ms:
            return False
        return (self.clusters is None or cluster in self.clusters) and self.has_group(group_id)
