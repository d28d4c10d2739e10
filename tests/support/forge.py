"""Makes `groupscope` processes quickly: this process has imported everything, and forks one for each request.

A command needs seconds else, most of them to import. It is a process of its own all the same: arguments, environment,
folder, files for what it writes, exit code, and an end like any other's.
`python -m tests.support.forge` reads requests (a line of JSON each) and answers each with the exit code.
"""

import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from select import select
from typing import Any

COMMAND = str(Path(sys.executable).with_name("groupscope"))
LIMIT_S = 120.0


@dataclass(frozen=True)
class Made:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


class Forge:
    """The forging process, started when first needed; it ends when we do."""

    _process: subprocess.Popen[str] | None = None

    def run(self, args: list[str], env: Mapping[str, str], cwd: Path | None) -> Made:
        """One command, from its start to its end."""
        process = self._started()
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            request = {"args": args, "env": dict(env), "cwd": str(cwd or Path.cwd()), "out": str(out), "err": str(err)}
            assert process.stdin is not None
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return Made(self._answer(process), out.read_text(), err.read_text())

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            command = [sys.executable, "-m", __name__]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            atexit.register(self._process.communicate)  # it ends with its input
        return self._process

    def _answer(self, process: subprocess.Popen[str]) -> int:
        assert process.stdout is not None
        ready, _, _ = select([process.stdout], [], [], LIMIT_S)
        if not ready:
            process.kill()
            self._process = None
            raise TimeoutError(f"the command has not ended within {LIMIT_S:.0f} s")
        return int(process.stdout.readline())


def _import_all() -> None:
    package = import_module("app.cli")
    for module in iter_modules(package.__path__, "app.cli."):
        import_module(module.name)
    for name in ("app.cli", "lag.cluster.reader", "lag.history.store", "pandas", "assignors.scenario"):
        import_module(name)


def _become(request: dict[str, Any]) -> None:
    """The process that was asked for."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for number, name in enumerate((os.devnull, request["out"], request["err"])):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
    sys.argv = [COMMAND, *request["args"]]
    sys.path[0] = str(Path(COMMAND).parent)  # as when the command itself is run
    tempfile.tempdir = None


def _forge() -> None:
    from app.cli import main

    _import_all()
    gc.freeze()  # what is there stays as it is, in memory that all share
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(request)
            main()
            return
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _forge()
