"""The real `groupscope` command as a process of its own."""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lag.embedded.supervisor import PREFIX
from lag.history.store import History
from tests.support.forge import COMMAND, Forge
from tests.support.waiting import wait_until

_FORGE = Forge()


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def run(*args: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Done:
    """Run to the end. Nothing that a command writes may be a traceback."""
    made = _FORGE.run(list(args), os.environ | dict(env or {}), cwd)
    assert "Traceback" not in made.out + made.err, made.err
    return Done(made.code, made.out, made.err)


def refused(*args: str, env: Mapping[str, str] | None = None) -> str:
    """The sentence on stderr of a command that fails with exit code 1 and nothing on stdout."""
    done = run(*args, env=env)
    assert (done.code, done.out) == (1, ""), done
    assert done.err.startswith("error: "), done.err
    return done.err.removeprefix("error: ").rstrip("\n")


class Running:
    """A command that runs until it is stopped; its temp dir is a folder of the test."""

    def __init__(self, process: subprocess.Popen[bytes], out: IO[bytes], err: IO[bytes], temp: Path) -> None:
        self.process, self.temp = process, temp
        self._out, self._err = out, err

    @property
    def out(self) -> str:
        return Path(self._out.name).read_text()

    @property
    def err(self) -> str:
        return Path(self._err.name).read_text()

    def first_line(self, within_s: float = 150.0) -> Any:
        """The first line on stdout, as JSON."""
        wait_until(lambda: "\n" in self.out or self.process.poll() is not None, within_s)
        assert "\n" in self.out, self.err
        return json.loads(self.out.splitlines()[0])

    def reported(self, what: str, within_s: float = 60.0) -> None:
        """Wait until stderr has `what`."""
        wait_until(lambda: what in self.err or self.process.poll() is not None, within_s, reported=lambda: self.err)
        assert what in self.err

    def ends(self, number: int = 0, within_s: float = 30.0) -> int:
        """Send a signal, if any; the exit code."""
        if number:
            self.process.send_signal(number)
        code = self.process.wait(within_s)
        assert "Traceback" not in self.out + self.err, self.err
        return code


@contextmanager
def running(
    folder: Path, *args: str, env: Mapping[str, str] | None = None, command: str = COMMAND, cwd: Path | None = None
) -> Iterator[Running]:
    """Start a command whose output goes to files; at the end it is gone, however the test ends."""
    temp = folder / "temp"
    temp.mkdir()
    with (
        tempfile.NamedTemporaryFile(dir=folder) as out,
        tempfile.NamedTemporaryFile(dir=folder) as err,
        subprocess.Popen(
            [command, *args],
            cwd=cwd,
            stdout=out,
            stderr=err,
            env=os.environ | {"TMPDIR": str(temp)} | dict(env or {}),
            start_new_session=True,
        ) as process,
    ):
        try:
            yield Running(process, out, err, temp)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()


def recorded_groups(command: Running, table: str) -> set[str]:
    """The groups in a table of the demo's history."""
    for folder in command.temp.glob(f"{PREFIX}*/history"):
        history = History(folder)
        if history.exists(table):
            return set(history.query(f"SELECT DISTINCT group_id FROM {table}", table)["group_id"].to_pylist())
    return set()
