"""One poller per cluster and process: read, judge, keep, publish. Pages, command line and API read what it published.

The thread outlives every failure: a cluster that cannot be read is tried again, ever more slowly, and the last good
report stays with its age. Polls never run back to back: after each one the cluster rests for at least half the time
that it took, so a cluster slower than the interval is polled less often.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Protocol

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.errors import GroupscopeError
from lag.generations.inferred import Observer
from lag.generations.recorded import Following, How, Recorded, Recording, Timeouts
from lag.model import ClusterSnapshot, Problem, Remainder, Scope
from lag.offsets import PartitionLag
from lag.polling.last_known import carry_forward
from lag.polling.marker_checks import Looks
from lag.verdict.health import Health
from lag.verdict.judge import judge
from lag.verdict.sample_window import Trend, Window
from lag.verdict.status import Rules

log = logging.getLogger(__name__)

REST_SHARE = 0.5
"""Rest at least this share of the time that the last poll took."""

EMPTY_INTERVAL_S = 1.0
"""A cluster without a group is being set up, somebody waits for the first one, and a poll of it costs nothing."""

FIRST_RETRY_S = 1.0
LONGEST_RETRY_S = 60.0
RETRY_JITTER = 0.2

GRACE_S = 0.5
"""How long a poll may go on after `stop` before its connections are closed under it."""


SWITCHED_OFF = Problem(
    "off", Scope.TOPIC, OFFSETS_TOPIC, "following it is switched off", "Start groupscope without --no-follow"
)
NOT_IN_FULL = Problem(
    "in_part", Scope.TOPIC, OFFSETS_TOPIC, "the records read so far do not tell all of this group", ""
)


class ClusterReader(Protocol):
    """What a collector polls (`lag.cluster.reader.ClusterReader`)."""

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        """Snapshot `number`, taken at `at_ms`. Raises GroupscopeError when nothing could be read."""

    def left_to_read(self, rows: Sequence[PartitionLag]) -> Sequence[Remainder]:
        """What is really left to read in each of `rows` of the last snapshot."""

    def close(self) -> None:
        """Close every connection; a `read` in another thread fails."""


class Follower(Protocol):
    """What knows a group's generations from its records (`lag.generations.tail.Tail`)."""

    def start(self) -> None:
        """Begin."""

    def stop(self, timeout_s: float = 10.0) -> None:
        """End."""

    def see(self, snapshot: ClusterSnapshot) -> None:
        """What a poll has found."""

    def recorded(self, group_id: str) -> Sequence[Recorded]:
        """The group's generations, oldest first."""

    def knows(self, group_id: str) -> bool:
        """Whether the group's state is known from its records."""

    def timeouts(self, group_id: str) -> Mapping[str, Timeouts]:
        """Those of the group's members, by id, as far as their records were read."""

    def problem(self, group_id: str) -> Problem | None:
        """Why the group's records are not read now; None when they are."""

    def status(self) -> Following:
        """How following goes."""


@dataclass(frozen=True, slots=True)
class Report:
    """One good poll: what was read, what it means, and the polls before it that are still kept."""

    snapshot: ClusterSnapshot
    health: Health
    window: Window


@dataclass(frozen=True, slots=True)
class CollectorStatus:
    """How polling goes. Times are epoch milliseconds.

    `error` is that of the last poll, None if it was good; `failing_since_ms` the first failure since the last good
    poll. `next_poll_ms` is None while a poll runs. `interval_s` is the interval in force, longer than the configured
    one when polls take long. `polls` counts good polls; `took_s` is the whole time of the last one, judgement included.
    """

    interval_s: float
    polls: int = 0
    took_s: float | None = None
    last_ok_ms: int | None = None
    next_poll_ms: int | None = None
    error: GroupscopeError | None = None
    failing_since_ms: int | None = None
    consecutive_failures: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """How long to wait for the next poll, and how long at least when somebody asks for it before its time."""

    seconds: float
    at_least_s: float = 0.0


def pause_after(interval_s: float, took_s: float) -> Pause:
    """After a good poll: the rest of the interval, but never less than REST_SHARE of what the poll took."""
    rest_s = took_s * REST_SHARE
    return Pause(max(interval_s - took_s, rest_s), rest_s)


def pause_before_retry(failures: int, chance: float) -> Pause:
    """After the `failures`-th failure in a row: 1, 2, 4 … 60 s, a fifth more or less; `chance` is in [0, 1)."""
    backoff_s = min(LONGEST_RETRY_S, FIRST_RETRY_S * 2 ** min(failures - 1, 10))
    return Pause(min(LONGEST_RETRY_S, backoff_s * (1 + RETRY_JITTER * (2 * chance - 1))))


def wall_clock_ms() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


class Collector:
    """Polls one cluster from a thread of its own, between `start` and `stop`.

    `connect` makes a reader, at first and after every failure; it raises GroupscopeError. `tail` runs beside it; None:
    generations are inferred from the polls alone. `record` is handed every judgement; it must come back at once. The
    clocks and `chance` (for the jitter of retries) may be replaced in tests.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], ClusterReader],
        interval_s: float = 10.0,
        rules: Rules | None = None,
        tail: Follower | None = None,
        *,
        record: Callable[[Health], None] | None = None,
        clock_ms: Callable[[], int] = wall_clock_ms,
        monotonic_s: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self._connect, self._interval_s, self._rules = connect, interval_s, rules or Rules()
        self._clock_ms, self._monotonic_s, self._chance = clock_ms, monotonic_s, chance
        self._tail = tail
        self._record = record
        self._changed = threading.Condition()
        self._status = CollectorStatus(interval_s)
        self._report: Report | None = None
        self._reader: ClusterReader | None = None
        self._trend = Trend()
        self._looks = Looks()
        self._observer = Observer()
        self._asked = self._stopping = False
        self._thread = threading.Thread(target=self._run, name=f"collector {name}", daemon=True)

    def start(self) -> None:
        """Begin polling; once only."""
        self._thread.start()
        if self._tail is not None:
            self._tail.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """End polling and close the connections. A poll that does not end soon has its connections closed under it."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.ident is None:
            return
        if self._tail is not None:
            self._tail.stop(timeout_s)
        self._thread.join(min(GRACE_S, timeout_s))
        if self._thread.is_alive():
            self._hang_up()
            self._thread.join(max(0.0, timeout_s - GRACE_S))
        if self._thread.is_alive():
            log.warning("cluster %s: the poll that runs does not end; it dies with the process", self.name)

    def latest(self) -> Report | None:
        """The last good report; None before the first."""
        return self._report

    def status(self) -> CollectorStatus:
        """How polling goes."""
        return self._status

    def recording(self, group_id: str) -> Recording:
        """The group's generations, as far as they are kept: from its records, else as polls saw them."""
        inferred = [Recorded(made) for made in self._observer.observed(group_id)]
        if self._tail is None:
            return Recording(How.INFERRED, inferred, SWITCHED_OFF)
        problem, recorded = self._tail.problem(group_id), self._tail.recorded(group_id)
        if recorded and (problem is None or not _is_newer(inferred, recorded)):
            return Recording(How.RECORDED, recorded, problem, self._tail.timeouts(group_id))
        if problem is None and self._tail.knows(group_id):
            return Recording(How.RECORDED, timeouts=self._tail.timeouts(group_id))
        return Recording(How.INFERRED, inferred, problem or NOT_IN_FULL)

    def following(self) -> Following | None:
        """How following the groups' records goes; None when it is switched off."""
        return None if self._tail is None else self._tail.status()

    def poll_now(self) -> None:
        """Ask for a poll that begins after this call, before its time; a poll that runs may finish first."""
        with self._changed:
            self._asked = True
            self._changed.notify_all()

    def wait_for(self, number: int, timeout_s: float) -> Report | None:
        """The first report of that number or a later one; None if it does not come in time or polling has stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping or self._has(number), timeout_s)
            return self._report if self._has(number) else None

    def _has(self, number: int) -> bool:
        return self._report is not None and self._report.snapshot.number >= number

    def _run(self) -> None:
        pause = Pause(0.0)
        while self._rest(pause):
            pause = self._poll()
        self._hang_up()

    def _rest(self, pause: Pause) -> bool:
        """Wait, and say whether to go on."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping, pause.at_least_s)
            self._changed.wait_for(lambda: self._stopping or self._asked, pause.seconds - pause.at_least_s)
            self._asked = False
            return not self._stopping

    def _poll(self) -> Pause:
        started_s = self._monotonic_s()
        self._tell(next_poll_ms=None)
        try:
            report = self._read()
        except GroupscopeError as error:
            return self._failed(error)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong must show on the page, not end the thread in silence
            self._trend = Trend()
            return self._failed(self._bug(error))
        return self._succeeded(report, self._monotonic_s() - started_s)

    def _read(self) -> Report:
        reader = self._reader
        if reader is None:
            reader = self._reader = self._connect()
        before = self._report.snapshot if self._report else None
        snapshot = carry_forward(before, reader.read(self._status.polls + 1, self._clock_ms()))
        window = self._trend.append(snapshot)
        health = judge(snapshot, window, self._rules, self._looks.column(snapshot))
        self._looks.look(health, reader.left_to_read)
        self._observer.see(snapshot)
        if self._tail is not None:
            self._tail.see(snapshot)
        if self._record is not None:
            self._record(health)
        return Report(snapshot, health, window)

    def _succeeded(self, report: Report, took_s: float) -> Pause:
        interval_s = self._interval_s if report.snapshot.groups else min(self._interval_s, EMPTY_INTERVAL_S)
        pause = pause_after(interval_s, took_s)
        if self._status.consecutive_failures:
            log.info("cluster %s: read again after %d failures", self.name, self._status.consecutive_failures)
        now_ms = self._clock_ms()
        with self._changed:
            self._report = report
            self._status = CollectorStatus(
                interval_s=max(interval_s, took_s + pause.seconds),
                polls=self._status.polls + 1,
                took_s=took_s,
                last_ok_ms=now_ms,
                next_poll_ms=_in(pause, now_ms),
            )
            self._changed.notify_all()
        return pause

    def _failed(self, error: GroupscopeError) -> Pause:
        self._hang_up()
        before, now_ms = self._status, self._clock_ms()
        failures = before.consecutive_failures + 1
        pause = pause_before_retry(failures, self._chance())
        if not self._stopping and str(error) != str(before.error):
            log.warning("cluster %s: %s", self.name, error)
        self._tell(
            error=_bare(error),
            failing_since_ms=before.failing_since_ms or now_ms,
            consecutive_failures=failures,
            next_poll_ms=_in(pause, now_ms),
        )
        return pause

    def _bug(self, error: Exception) -> GroupscopeError:
        if not self._stopping:
            log.error("cluster %s: internal error", self.name, exc_info=error)
        return GroupscopeError(f"internal error: {type(error).__name__}", "Please report it with the server's log")

    def _hang_up(self) -> None:
        """Close the reader. Best effort: sockets may be gone, and Kafka clients raise kinds of RuntimeError."""
        with self._changed:
            reader, self._reader = self._reader, None
        if reader is not None:
            with suppress(OSError, RuntimeError, GroupscopeError):
                reader.close()

    def _tell(self, **changes: object) -> None:
        with self._changed:
            self._status = replace(self._status, **changes)  # type: ignore[arg-type]
            self._changed.notify_all()


class Collectors(Mapping[str, Collector]):
    """The collectors of all configured clusters, by name; as a context manager they run inside the block."""

    def __init__(self, collectors: Mapping[str, Collector]) -> None:
        self._collectors = dict(collectors)

    def __getitem__(self, name: str) -> Collector:
        return self._collectors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._collectors)

    def __len__(self) -> int:
        return len(self._collectors)

    def start(self) -> None:
        """Start all."""
        for collector in self._collectors.values():
            collector.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop all, side by side."""
        stops = [threading.Thread(target=c.stop, args=(timeout_s,)) for c in self._collectors.values()]
        for thread in stops:
            thread.start()
        for thread in stops:
            thread.join()

    def __enter__(self) -> "Collectors":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def _is_newer(inferred: Sequence[Recorded], recorded: Sequence[Recorded]) -> bool:
    return bool(inferred) and inferred[-1].generation.at_ms > recorded[-1].generation.at_ms


def _in(pause: Pause, now_ms: int) -> int:
    return now_ms + round(pause.seconds * 1000)


def _bare(error: GroupscopeError) -> GroupscopeError:
    """Without its traceback and causes: their frames would keep a whole poll's objects alive while it is shown."""
    error.__traceback__ = error.__cause__ = error.__context__ = None
    return error
