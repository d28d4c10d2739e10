"""What a page asks of a cluster to reset a group, and how it is answered: in a separate process, with a deadline.

This way, brokers that do not answer and plans of ten thousand partitions slow down neither pages nor polls.
"""

import json
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import BoundedSemaphore, Thread
from typing import Any

from app.processes.child import Child, answer_of, how_it_ended
from app.server.settings import ClusterSettings
from lag.errors import ConfigError, GroupscopeError, ResetRefused
from lag.reset.model import Plan
from lag.reset.planning.make_plan import Request

DEADLINE_S = 300.0
MAX_RUNS = 4
"""Tasks that run at once, of all sessions."""

_free_runs = BoundedSemaphore(MAX_RUNS)


class Step(StrEnum):
    """What is to be done."""

    PLAN = "plan"
    APPLY = "apply"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class FileRequest:
    """The offsets of an uploaded file, in all its partitions or in those of `topics`."""

    group_id: str
    name: str
    data: bytes
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupDeletion:
    """Delete the group, with all that it has committed."""

    group_id: str


@dataclass(frozen=True, slots=True)
class MemberRemoval:
    """Remove a static member."""

    group_id: str
    instance_id: str


Asked = Request | FileRequest | GroupDeletion | MemberRemoval
"""What a plan can be made for."""


@dataclass(frozen=True, slots=True)
class ResetTask:
    """One step for one cluster: PLAN has a `request`, the others a `plan`. `folder` is where undo plans are stored."""

    step: Step
    cluster: ClusterSettings
    request: Asked | None = None
    plan: Plan | None = None
    allow_writes: bool = False
    folder: Path | None = None


class ResetRun:
    """A task, started by its constructor. Once it has ended, it has a `document` or an `error`.

    The document is that of a plan, or of the results; a ResetRefused means that nothing was written. `on_end` is called
    in a thread. Raises ConfigError if MAX_RUNS others are running.
    """

    def __init__(
        self, task: ResetTask, on_end: "Callable[[ResetRun], None]" = lambda run: None, deadline_s: float = DEADLINE_S
    ) -> None:
        if not _free_runs.acquire(blocking=False):
            raise ConfigError(f"{MAX_RUNS} plans are already running on this server", "Try again in a moment")
        self.task = task
        self.document: dict[str, Any] | None = None
        self.error: GroupscopeError | None = None
        self._deadline_s, self._on_end = deadline_s, on_end
        self._thread = Thread(target=self._run, name="reset", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._thread.is_alive()

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until it has ended."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            self._take(answer_of(Child("app.server.reset_worker"), pickle.dumps(self.task), self._deadline_s))
        except OSError as error:
            self.error = GroupscopeError(f"The process did not start: {error.strerror}")
        finally:
            _free_runs.release()
            self._on_end(self)

    def _take(self, ended: Any) -> None:
        if ended is None:
            self.error = GroupscopeError(
                f"There was no answer within {self._deadline_s:g} s",
                "If a plan was being applied, verify it: it may be partly applied"
                if self.task.step is Step.APPLY
                else "",
            )
            return
        try:
            answer = json.loads(ended.answer)
        except ValueError:
            self.error = GroupscopeError(f"The process ended {how_it_ended(ended.code)}", "Its log is on stderr")
            return
        if "cause" in answer:
            error = ResetRefused if answer["refused"] else GroupscopeError
            self.error = error(answer["cause"], answer["hint"])
        else:
            self.document = answer


def read_task() -> ResetTask:
    """In the process: the task, from stdin."""
    task: ResetTask = pickle.load(sys.stdin.buffer)
    return task
