"""pytest-xdist's `loadfile`, which also ends when a worker has crashed.

pytest-xdist 3.8.0 waits for ever then (its issues 1323, 1327 and 1378): it hands out that worker's finished files once
more, as empty work, and a new worker with a single test waits for a second one.
"""

from contextlib import suppress
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class CrashSafe(LoadFileScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """A crashed worker's tests that have not run go to the other workers; the test that crashed has failed."""

    def remove_node(self, node: WorkerController) -> str | None:
        units = self.assigned_work.pop(node)
        waiting = [(unit, test) for unit in units.values() for test, finished in unit.items() if not finished]
        if not waiting:
            return None
        unit, crashed = waiting[0]
        unit[crashed] = True
        self.workqueue.update({file: unit for file, unit in units.items() if not all(unit.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return str(crashed)

    def _assign_work_unit(self, node: WorkerController) -> None:
        """A worker that has just crashed cannot be sent its file: `remove_node` hands it to another one."""
        with suppress(OSError):
            super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> CrashSafe | None:
    """pytest-xdist's hook: whole files to each worker (`--dist loadfile`)."""
    return CrashSafe(config, log) if config.getvalue("dist") == "loadfile" else None
