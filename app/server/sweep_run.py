"""A sweep started from a page: in a separate process, with progress, a limit, a deadline and a way to cancel it.

The process has a low priority, so polling and pages go first. It writes the result itself, and reports on stdout as
JSON, one object a line: {"done": cases}, and finally {"sweep_id": …} or {"cause": …, "hint": …}.
"""

import json
import os
import pickle
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from threading import BoundedSemaphore, Event, Thread
from typing import Any

from app.processes.child import Child, end, ending, how_it_ended
from assignors.whatif.events import Scenario
from lag.errors import ConfigError, GroupscopeError
from lag.history.store import History
from lag.sweeps import local, sweep_table
from lag.sweeps.plan import Plan, SweepRequest
from lag.sweeps.sweep_table import SweepHeader

MAX_CASES = 100_000
"""About two minutes of one core for groups of usual size."""
MAX_MEMBER_COUNTS = 200
DEADLINE_S = 600
MAX_RUNS = 2
"""Sweeps that run at once, of all sessions: each takes one core."""
REPORT_EVERY_S = 0.5
NICENESS = 10
"""Added to the niceness of the process."""

SMALLER = "Choose fewer groups, assignors or member counts, or run the command."

_free_runs = BoundedSemaphore(MAX_RUNS)


class SweepRun:
    """One sweep, started by its constructor. `root` is the history that the result is written to.

    Once the run has ended, either `sweep_id` is the id of the sweep, `error` says why nothing was written, or the run
    is cancelled. The constructor raises ConfigError if MAX_RUNS others are running.
    """

    def __init__(self, plan: Plan, cluster: str, root: str, deadline_s: int = DEADLINE_S) -> None:
        if not _free_runs.acquire(blocking=False):
            raise ConfigError(f"{MAX_RUNS} sweeps are running on this server", "Start yours when one has ended.")
        self.cases, self.groups = len(plan), len(plan.scenarios)
        self.cases_done = self.groups_done = 0
        self.sweep_id: str | None = None
        self.error: GroupscopeError | None = None
        self._plan, self._asked = plan, (plan, cluster, root, deadline_s)
        self.deadline_s = deadline_s
        self._started_s = time.monotonic()
        self._first: tuple[float, int] | None = None  # time and cases of the first report
        self._cancelled = Event()
        self._process: Child | None = None
        self._thread = Thread(target=self._run, name="sweep", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._thread.is_alive()

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` ended it."""
        return self._cancelled.is_set() and self.sweep_id is None

    @property
    def left_s(self) -> float | None:
        """The estimated time until it ends; None before the second report."""
        if self._first is None or self.cases_done == self._first[1]:
            return None
        since_s, before = self._first
        return (self.cases - self.cases_done) * (time.monotonic() - since_s) / (self.cases_done - before)

    @property
    def is_too_slow(self) -> bool:
        """Whether the estimate is beyond the deadline."""
        took_s = time.monotonic() - self._started_s
        return self.left_s is not None and took_s + self.left_s > self.deadline_s

    def cancel(self) -> None:
        """End the process; nothing is written, unless all was written before. No effect on a run that has ended."""
        self._cancelled.set()
        if self._process is not None and self._process.poll() is None:
            end(self._process)

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until it has ended."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            with ending(Child("app.server.sweep_run")) as process:
                self._process = process
                if not self._cancelled.is_set():
                    self._follow(process)
            self.error = self.error or self._early_end(process.returncode)
        except OSError as error:
            self.error = GroupscopeError(f"The sweep process did not start: {error.strerror}")
        finally:
            _free_runs.release()

    def _follow(self, process: Child) -> None:
        """Hand the sweep over, then read the reports until the process has ended."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with process.stdin as asked:
                pickle.dump(self._asked, asked, pickle.HIGHEST_PROTOCOL)
        except BrokenPipeError:
            return  # it has ended: by `cancel`, or with an error on stderr
        for line in process.stdout:
            self._take_report(json.loads(line))
        process.wait()

    def _take_report(self, report: dict[str, Any]) -> None:
        if "cause" in report:
            self.error = GroupscopeError(report["cause"], report["hint"])
        self.cases_done = report.get("done", self.cases_done)
        self._first = self._first or (time.monotonic(), self.cases_done)
        self.groups_done = self._plan.groups_done(self.cases_done)
        self.sweep_id = report.get("sweep_id")

    def _early_end(self, code: int) -> GroupscopeError | None:
        if self.sweep_id is not None or self._cancelled.is_set():
            return None
        if code == -signal.SIGALRM:
            why = f"The sweep was stopped: it had not ended after {self.deadline_s} s"
            return GroupscopeError(why, SMALLER)
        return GroupscopeError(f"The sweep process ended {how_it_ended(code)}", "See the server's log.")


def plan_of(scenarios: Sequence[Scenario], request: SweepRequest) -> Plan:
    """The cases. Raises ConfigError if there are none, or more than MAX_CASES."""
    if (counts := len(request.member_counts)) > MAX_MEMBER_COUNTS:
        raise ConfigError(f"{counts:,} member counts exceed this page's limit of {MAX_MEMBER_COUNTS}", SMALLER)
    plan = Plan(scenarios, request)
    if len(plan) > MAX_CASES:
        raise ConfigError(f"{len(plan):,} cases exceed this page's limit of {MAX_CASES:,}", SMALLER)
    return plan


def _serve() -> None:
    """The process: one sweep on stdin, reports on stdout."""
    os.nice(NICENESS)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the server has ended, and this process ends with its next report
    plan, cluster, root, deadline_s = pickle.load(sys.stdin.buffer)
    signal.alarm(deadline_s)
    try:
        _sweep(plan, cluster, root)
    except GroupscopeError as error:
        _report(cause=error.cause, hint=error.hint)


def _sweep(plan: Plan, cluster: str, root: str) -> None:
    groups = sweep_table.groups(plan)
    header = SweepHeader(sweep_table.sweep_id(cluster, groups, plan.request), cluster, datetime.now(UTC))
    found, done = [], 0
    for portion in local.run(plan, header, REPORT_EVERY_S):
        found.append(portion)
        done += len(portion)
        _report(done=done)
    sweep_table.write(History(root), header, groups, found)
    _report(sweep_id=header.sweep_id)


def _report(**report: Any) -> None:
    print(json.dumps(report))  # noqa: T201 - stdout is the pipe to the server


if __name__ == "__main__":
    _serve()
