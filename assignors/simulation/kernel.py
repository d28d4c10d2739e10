"""A clock of integer milliseconds, an event queue, and keyed timers.

Events of one millisecond run in the order in which they were scheduled, so a run is deterministic. (Kafka guarantees no
order within a millisecond.)
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from assignors.model import AssignorError

Action = Callable[[], None]

MOST_EVENTS_AT_ONCE = 200_000
MOST_EVENTS = 2_000_000
"""Limit of one run: its timeline is held in memory. What takes longer than an event counts as several (`spend`)."""


class EventLimitError(AssignorError):
    """A run is stopped because it has too many events, in one millisecond or in all, or too many rebalances."""


class Clock(Protocol):
    """The time, and actions at a later time: see Kernel."""

    @property
    def now_ms(self) -> int: ...
    def after(self, delay_ms: int, action: Action) -> None: ...
    def turn(self) -> int: ...
    def at(self, at_ms: int, turn: int, action: Action) -> None: ...


class Kernel:
    """Runs events in order of time. `now_ms` is the time; only the kernel sets it."""

    __slots__ = ("_due", "_events", "_sequence", "_spent", "now_ms")

    def __init__(self, now_ms: int = 0) -> None:
        self.now_ms = now_ms
        self._due: list[tuple[int, int, Action]] = []
        self._events = self._spent = 0
        self._sequence = count()

    def after(self, delay_ms: int, action: Action) -> None:
        """Run `action` once, `delay_ms` from now. Raises ValueError when that is in the past."""
        if delay_ms < 0:
            raise ValueError(f"delay_ms is {delay_ms}: an event cannot lie in the past")
        heappush(self._due, (self.now_ms + delay_ms, next(self._sequence), action))

    def turn(self) -> int:
        """A position among the events of one millisecond, for `at`: after all events scheduled so far."""
        return next(self._sequence)

    def at(self, at_ms: int, turn: int, action: Action) -> None:
        """Run `action` once at that time (not in the past), in the position of `turn`."""
        heappush(self._due, (at_ms, turn, action))

    def spend(self, events: int) -> None:
        """Count work that takes as long as this number of events. Raises EventLimitError as `run_until` does."""
        self._spent += events
        if self._events + self._spent > MOST_EVENTS:
            raise EventLimitError(_TOO_LONG.format(MOST_EVENTS, self.now_ms / 1000))

    def run_until(self, end_ms: int) -> None:
        """Run all events until `end_ms`, and set the clock to it.

        Raises EventLimitError after MOST_EVENTS_AT_ONCE within one millisecond, and after MOST_EVENTS in all.
        """
        due, at_once, events = self._due, 0, self._events
        while due and due[0][0] <= end_ms:
            at_ms, _, action = heappop(due)
            events += 1
            if at_ms != self.now_ms:
                self.now_ms, at_once = at_ms, 0
            at_once += 1
            if at_once > MOST_EVENTS_AT_ONCE:
                raise EventLimitError(_TIMELESS.format(MOST_EVENTS_AT_ONCE, at_ms / 1000))
            if events + self._spent > MOST_EVENTS:
                raise EventLimitError(_TOO_LONG.format(MOST_EVENTS, at_ms / 1000))
            action()
        self._events = events
        self.now_ms = max(self.now_ms, end_ms)


_TIMELESS = (
    "more than {:,} events in the millisecond at {:,.3f} s, so time does not advance; "
    "raise simulated.latency.ms or retry.backoff.ms above 0"
)
_TOO_LONG = (
    "more than {:,} events by {:,.3f} s, and the rest is not simulated; "
    "use fewer members, longer heartbeats, or a shorter max.poll.interval.ms"
)


_Timer = tuple[int, int, Action]
"""Its time, its turn within that millisecond, and its action."""


@dataclass(slots=True)
class Timers:
    """One-shot timers by key. Arming a key again replaces its timer, as in Kafka's CoordinatorTimer.

    Every heartbeat arms a session again, so a key has only one alarm in the kernel. It rings at the earliest time for
    which the key was armed, and is then set to the key's present timer.
    """

    kernel: Clock
    _timers: dict[Hashable, _Timer] = field(default_factory=dict)
    _alarms: dict[Hashable, tuple[int, int]] = field(default_factory=dict)

    def arm(self, key: Hashable, delay_ms: int, action: Action) -> None:
        """Run `action` in `delay_ms`, unless the key is armed again or disarmed before. Raises ValueError below 0."""
        if delay_ms < 0:
            raise ValueError(f"delay_ms is {delay_ms}: a timer cannot lie in the past")
        at_ms, turn = self.kernel.now_ms + delay_ms, self.kernel.turn()
        self._timers[key] = (at_ms, turn, action)
        alarm = self._alarms.get(key)
        if alarm is None or at_ms < alarm[0]:
            self._set_alarm(key, at_ms, turn)

    def _set_alarm(self, key: Hashable, at_ms: int, turn: int) -> None:
        self._alarms[key] = (at_ms, turn)
        self.kernel.at(at_ms, turn, partial(self._ring, key, (at_ms, turn)))

    def _ring(self, key: Hashable, alarm: tuple[int, int]) -> None:
        if self._alarms.get(key) != alarm:
            return  # an earlier alarm replaced it
        del self._alarms[key]
        if key not in self._timers:
            return
        at_ms, turn, action = self._timers[key]
        if (at_ms, turn) == alarm:
            del self._timers[key]
            action()
        else:
            self._set_alarm(key, at_ms, turn)

    def disarm(self, key: Hashable) -> None:
        """Cancel that timer, if there is one."""
        self._timers.pop(key, None)

    def disarm_all(self) -> None:
        self._timers.clear()

    @property
    def deadlines_ms(self) -> Mapping[Hashable, int]:
        """When each armed timer fires."""
        return {key: timer[0] for key, timer in self._timers.items()}
