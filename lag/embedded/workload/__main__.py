"""`python -m lag.embedded.workload --bootstrap-server H:P --folder F`: the workload's own process.

It runs until its standard input ends, so it cannot outlive whoever started it. The first line on standard output is
`{"port": n}`, where the panel's actions are served to holders of the key in `GROUPSCOPE_DEMO_KEY` (hexadecimal).
What it writes to disk is in the folder, which its owner removes: however it ends, it need not clean up itself.
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
from pathlib import Path
from types import FrameType

from lag.embedded.workload.control_server import Desk
from lag.embedded.workload.process import KEY_ENVIRONMENT
from lag.embedded.workload.stage import Stage

PATIENCE_S = 8.0
NICE = 10  # the broker and the dashboard come first: people watch them


def main() -> None:
    """Run the workload until standard input ends, or on SIGTERM or SIGINT."""
    os.nice(NICE)
    arguments = _arguments()
    tempfile.tempdir = _short(arguments.folder)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    signal.signal(signal.SIGTERM, _leave)
    stage = Stage(arguments.bootstrap_server)
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
    parser.add_argument("--folder", required=True, type=Path)
    return parser.parse_args()


def _short(folder: Path) -> str:
    """A short path of that folder, on Linux.

    multiprocessing has a socket in the temp dir, and the path of a socket has 107 bytes at most (unix(7)).
    """
    by_descriptor = Path(f"/proc/self/fd/{os.open(folder, os.O_RDONLY)}")  # open until we end
    return str(by_descriptor if by_descriptor.exists() else folder)


def _leave(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end_for_certain() -> None:
    """A client whose broker is gone may take its time to close; nobody waits for that."""
    watchdog = threading.Timer(PATIENCE_S, os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()


if __name__ == "__main__":
    main()
