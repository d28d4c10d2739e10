"""The poller of one cluster: polls on schedule, publishes each report, and continues after every failure.

A cluster that cannot be read is tried again with growing pauses; the last good report stays, with its age. Polls never
run back to back: the cluster rests for at least half the time that a poll took.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from lag.errors import GroupscopeError
from lag.generations.group_generations import Follower, GroupGenerations
from lag.generations.live_group import TargetPartitions
from lag.generations.recent import RecentRebalances
from lag.generations.recorded import FollowStatus, Recording
from lag.polling.evaluation import ClusterReader, Evaluator, LastVerdicts, ReadPolicy, default_policy, no_verdicts
from lag.polling.report import CollectorStatus, Report
from lag.schedule import EMPTY_INTERVAL_S, Pause, pause_after, pause_before_retry
from lag.times import wall_clock_ms
from lag.verdict.health import Health

log = logging.getLogger(__name__)

GRACE_S = 0.5
"""How long a poll may continue after `stop` before its connections are closed."""


class Collector:
    """Polls one cluster in its own thread, between `start` and `stop`.

    `connect` opens a reader, at first and after every failure; it raises GroupscopeError. `follower` runs beside it;
    None: generations are inferred from polls alone. `read_policy` is called once a poll. `record` gets every health,
    and must return at once; `last_verdicts` returns the verdicts stored before the first poll. The clocks and `chance`
    (for the jitter of retries) can be replaced in tests.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], ClusterReader],
        interval_s: float = 10.0,
        follower: Follower | None = None,
        *,
        read_policy: ReadPolicy = default_policy,
        record: Callable[[Health], None] | None = None,
        last_verdicts: LastVerdicts = no_verdicts,
        clock_ms: Callable[[], int] = wall_clock_ms,
        monotonic_s: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self._connect, self._interval_s, self._record = connect, interval_s, record
        self._clock_ms, self._monotonic_s, self._chance = clock_ms, monotonic_s, chance
        self._evaluator, self._generations = (
            Evaluator(read_policy, follower, last_verdicts),
            GroupGenerations(follower),
        )
        self._changed = threading.Condition()
        self._status = CollectorStatus(interval_s)
        self._report: Report | None = None
        self._reader: ClusterReader | None = None
        self._asked = self._stopping = False
        self._thread = threading.Thread(target=self._run, name=f"collector {name}", daemon=True)

    def start(self) -> None:
        """Start polling; only once."""
        self._thread.start()
        self._generations.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop polling and close the connections; a poll that does not end soon has its connections closed."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.ident is None:
            return
        self._generations.stop(timeout_s)
        self._thread.join(min(GRACE_S, timeout_s))
        if self._thread.is_alive():
            self._hang_up()
            self._thread.join(max(0.0, timeout_s - GRACE_S))
        if self._thread.is_alive():
            log.warning("cluster %s: the current poll does not end; it ends with the process", self.name)

    def latest(self) -> Report | None:
        """The last good report; None before the first."""
        return self._report

    def status(self) -> CollectorStatus:
        """The state of polling."""
        return self._status

    def recording(self, group_id: str) -> Recording:
        """The group's generations, as far as they are kept: recorded, otherwise inferred."""
        return self._generations.recording(group_id)

    def recent_rebalances(self, until_ms: int | None = None) -> RecentRebalances:
        """The last rebalances of all groups, or the last up to that time, newest first."""
        return self._generations.recent(until_ms)

    def rebalance_counts(self, since_ms: int) -> Mapping[str, int]:
        """Group id -> how many of its rebalances are known from that time on."""
        return self._generations.rebalance_counts(since_ms)

    def share_targets(self, group_id: str) -> Mapping[str, TargetPartitions]:
        """The target assignments of a share group, by member id, as far as their records were read."""
        return self._generations.share_targets(group_id)

    def following(self) -> FollowStatus | None:
        """The state of following `__consumer_offsets`; None when it is switched off."""
        return self._generations.status()

    def poll_now(self) -> None:
        """Ask for a poll that begins after this call, ahead of schedule; a running poll finishes first."""
        with self._changed:
            self._asked = True
            self._changed.notify_all()

    def wait_for(self, number: int, timeout_s: float) -> Report | None:
        """The first report with that number or a later one; None after the timeout or when polling stops."""
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
        """Wait; returns whether to continue."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping, pause.at_least_s)
            self._changed.wait_for(lambda: self._stopping or self._asked, pause.seconds - pause.at_least_s)
            self._asked = False
            return not self._stopping

    def _poll(self) -> Pause:
        started_s = self._monotonic_s()
        self._update(next_poll_ms=None)
        try:
            report = self._read()
        except GroupscopeError as error:
            return self._failed(error)
        except Exception as error:  # noqa: BLE001 - a bug must show on the pages, not end the thread silently
            self._evaluator.forget_samples()
            return self._failed(self._bug(error))
        return self._succeeded(report, self._monotonic_s() - started_s)

    def _read(self) -> Report:
        if self._reader is None:
            self._reader = self._connect()
        report = self._evaluator.evaluate(self._reader, self._status.polls + 1, self._clock_ms())
        self._generations.observe(report.snapshot)
        if self._record is not None:
            self._record(report.health)
        return report

    def _succeeded(self, report: Report, took_s: float) -> Pause:
        interval_s = self._interval_s if report.snapshot.groups else min(self._interval_s, EMPTY_INTERVAL_S)
        pause, now_ms = pause_after(interval_s, took_s), self._clock_ms()
        if self._status.consecutive_failures:
            log.info("cluster %s: read again after %d failures", self.name, self._status.consecutive_failures)
        with self._changed:
            self._report = report
            self._status = CollectorStatus(
                interval_s=max(interval_s, took_s + pause.seconds),
                polls=self._status.polls + 1,
                took_s=took_s,
                last_ok_ms=now_ms,
                next_poll_ms=pause.ends_ms(now_ms),
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
        self._update(
            error=_bare(error),
            failing_since_ms=before.failing_since_ms or now_ms,
            consecutive_failures=failures,
            next_poll_ms=pause.ends_ms(now_ms),
        )
        return pause

    def _bug(self, error: Exception) -> GroupscopeError:
        if not self._stopping:
            log.error("cluster %s: internal error", self.name, exc_info=error)
        return GroupscopeError(f"internal error: {type(error).__name__}", "Please report it with the server's log")

    def _hang_up(self) -> None:
        """Close the reader, best effort: sockets may be gone, and Kafka clients raise kinds of RuntimeError."""
        with self._changed:
            reader, self._reader = self._reader, None
        if reader is not None:
            with suppress(OSError, RuntimeError, GroupscopeError):
                reader.close()

    def _update(self, **changes: object) -> None:
        with self._changed:
            self._status = replace(self._status, **changes)  # type: ignore[arg-type]
            self._changed.notify_all()


def _bare(error: GroupscopeError) -> GroupscopeError:
    """The error without its traceback and causes, whose frames would keep a whole poll's objects alive."""
    error.__traceback__ = error.__cause__ = error.__context__ = None
    return error
