"""A program that has an embedded cluster and reports to a test how far it is; the test then ends it somehow.

python endings.py kafka|sleeper|forking|family
"""

import json
import os
import sys
import time

from lag.embedded.broker import EmbeddedKafka
from lag.embedded.supervisor_client import Keeper

START_A_CHILD = """
import subprocess, time
subprocess.Popen(["sleep", "600"], process_group=0)
print("started", flush=True)
time.sleep(600)
"""
FAMILY = [sys.executable, "-c", START_A_CHILD]
"""A process that has started another one, which the kernel does not end with it."""


def hold_kafka() -> None:
    """One real broker, until somebody ends us; Ctrl-C leaves the with block."""
    with EmbeddedKafka() as kafka:
        report({"folder": str(kafka.folder), "pids": [broker.pid for broker in kafka.brokers]})
        time.sleep(600)


def hold_sleeper() -> None:
    """A process that only sleeps in the broker's place: it is there at once."""
    keeper = Keeper()
    assert keeper.folder is not None
    pid = keeper.start("sleeper", ["sleep", "600"], keeper.folder / "log")
    report({"folder": str(keeper.folder), "pids": [pid]})
    time.sleep(600)


def hold_family() -> None:
    """A process with a child in a process group of its own."""
    keeper = Keeper()
    assert keeper.folder is not None
    log = keeper.folder / "log"
    pid = keeper.start("family", FAMILY, log)
    while not log.read_text():
        time.sleep(0.01)
    report({"folder": str(keeper.folder), "pids": [pid]})
    time.sleep(600)


def hold_forking() -> None:
    """A fork of us keeps the pipe to the supervisor open after our end."""
    keeper = Keeper()
    if os.fork() == 0:
        os.environ["FORKED"] = "1"
        time.sleep(20)
        os._exit(0)
    assert keeper.folder is not None
    report({"folder": str(keeper.folder), "pids": [keeper.start("sleeper", ["sleep", "600"], keeper.folder / "log")]})
    time.sleep(600)


def report(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    {"kafka": hold_kafka, "sleeper": hold_sleeper, "forking": hold_forking, "family": hold_family}[sys.argv[1]]()
