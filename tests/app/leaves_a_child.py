"""A program that ends while a process that it has started goes on, as stdin says; its output is that process's id."""

import os
import subprocess
import sys
import time


def forked() -> int:
    """A process that keeps all that is open here, as those of multiprocessing do."""
    if child := os.fork():
        return child
    os.setsid()
    time.sleep(600)
    os._exit(0)


how = sys.stdin.read()
if how == "forked":
    print(forked(), flush=True)  # noqa: T201
else:
    its = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, start_new_session=how == "in a session")
    print(its.pid, flush=True)  # noqa: T201
