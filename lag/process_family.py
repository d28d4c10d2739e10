"""A family: a process and all that it starts, identified by a mark in the environment, which children inherit.

The id of a process, a session or a group is reused once it is free, and a command line that names our files may be
an editor's: a process killed by one of these may be unrelated. No other process has a mark of ours. A process belongs
to the families of its parent as well.

Only the standard library is imported here, so that the supervisor starts quickly.
"""

import os
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psutil import Process

_MARKS = "_GROUPSCOPE_FAMILIES"
_GONE_WITHIN_S = 10.0
_LOOK_EVERY_S = 0.01


def new_family() -> str:
    """The name of a family that no other process has."""
    return secrets.token_hex(16)


def own_family() -> str:
    """The name of the smallest family that this process belongs to. Raises KeyError where it belongs to none."""
    return os.environ[_MARKS].rpartition(os.pathsep)[2]


def environment(*families: str) -> dict[str, str]:
    """This process's environment, for a process that belongs to these families as well as to those of this process."""
    marks = [mark for mark in (os.environ.get(_MARKS), *families) if mark]
    return {**os.environ, _MARKS: os.pathsep.join(marks)}


def living(family: str) -> "list[Process]":
    """The processes of a family, without this one, zombies, and those of other users."""
    import psutil

    return [process for process in psutil.process_iter() if process.pid != os.getpid() and _is_in(process, family)]


def end_family(family: str) -> None:
    """Kill every process of a family, until none is left; gives up after 10 s."""
    import psutil

    deadline = time.monotonic() + _GONE_WITHIN_S
    while time.monotonic() < deadline and (left := living(family)):
        for process in left:
            with suppress(psutil.Error):
                process.kill()  # psutil compares the start time first: the id may be another process's by now
        time.sleep(_LOOK_EVERY_S)


def _is_in(process: "Process", family: str) -> bool:
    import psutil

    try:
        return family in process.environ().get(_MARKS, "").split(os.pathsep)
    except (OSError, psutil.Error):
        return False
