"""`python -m lag.embedded.workload --bootstrap-server H:P --folder F`: the workload's own process.

It runs until its standard input ends, so it cannot outlive the process that started it. Its first line of output is
`{"port": n}`, where the panel's actions are served to holders of the key in `GROUPSCOPE_DEMO_KEY` (hexadecimal). Its
files are in the folder, which the owner of the folder removes.
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

from lag.embedded.workload.control_server import ControlServer
from lag.embedded.workload.process import KEY_ENVIRONMENT
from lag.embedded.workload.stage import Stage

CLOSE_S = 8.0
NICE = 10  # lower priority than the broker and the dashboard


def main() -> None:
    """Run the workload until standard input ends, or on SIGTERM or SIGINT."""
    os.nice(NICE)
    arguments = _arguments()
    tempfile.tempdir = _short(arguments.folder)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    signal.signal(signal.SIGTERM, _on_sigterm)
    stage = Stage(arguments.bootstrap_server)
    controls = ControlServer(bytes.fromhex(os.environ.pop(KEY_ENVIRONMENT, secrets.token_hex(32))), stage.act)
    threading.Thread(target=controls.run, name="controls", daemon=True).start()
    try:
        stage.start()
        sys.stdout.write(json.dumps({"port": controls.port}) + "\n")
        sys.stdout.flush()
        sys.stdin.buffer.read()
    except (KeyboardInterrupt, BrokenPipeError):
        logging.getLogger(__name__).info("stopping")
    finally:
        _limit_closing()
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


def _on_sigterm(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _limit_closing() -> None:
    """End the process after CLOSE_S: a client whose broker is gone can take long to close."""
    watchdog = threading.Timer(CLOSE_S, os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()


if __name__ == "__main__":
    main()
