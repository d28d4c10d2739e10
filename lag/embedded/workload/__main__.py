"""`python -m lag.embedded.workload --bootstrap-server H:P`: the workload's own process.

It runs until its standard input ends, so it cannot outlive whoever started it. The first line on standard output is
`{"port": n}`, where the panel's actions are served to holders of the key in `GROUPSCOPE_DEMO_KEY` (hexadecimal).
"""

import argparse
import json
import logging
import os
import secrets
import signal
import sys
import tempfile
import threading
from types import FrameType

from lag.embedded.workload.desk import Desk
from lag.embedded.workload.process import KEY_ENVIRONMENT
from lag.embedded.workload.stage import Stage

PATIENCE_S = 8.0
NICE = 10  # the broker and the dashboard come first: people watch them

LONGEST_TEMP = 107 - len("/pymp-12345678/listener-12345678")
"""multiprocessing has a socket in the temp dir, and the path of a socket has 107 bytes at most (unix(7))."""


def main() -> None:
    """Run the workload until standard input ends, or on SIGTERM or SIGINT."""
    os.nice(NICE)
    if len(os.fsencode(tempfile.gettempdir())) > LONGEST_TEMP:
        tempfile.tempdir = "/tmp"
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    signal.signal(signal.SIGTERM, _leave)
    stage = Stage(_arguments().bootstrap_server)
    desk = Desk(bytes.fromhex(os.environ.pop(KEY_ENVIRONMENT, secrets.token_hex(32))), stage.act)
    threading.Thread(target=desk.run, name="desk", daemon=True).start()
    try:
        stage.start()
        sys.stdout.write(json.dumps({"port": desk.port}) + "\n")
        sys.stdout.flush()
        sys.stdin.buffer.read()
    except (KeyboardInterrupt, BrokenPipeError):
        logging.getLogger(__name__).info("told to stop")
    finally:
        _end_for_certain()
        stage.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lag.embedded.workload", description=__doc__)
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT")
    return parser.parse_args()


def _leave(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end_for_certain() -> None:
    """A client whose broker is gone may take its time to close; nobody waits for that."""
    watchdog = threading.Timer(PATIENCE_S, os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()


if __name__ == "__main__":
    main()
