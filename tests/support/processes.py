"""The processes of a test, recognised by their temp dir: however they were started and whoever their parent is now."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil


def using(temp: Path) -> list[psutil.Process]:
    """Every live process with this TMPDIR in its environment; one that ends while we look, and a zombie, is none."""
    return [process for process in psutil.process_iter() if _temp_dir(process) == str(temp)]


def command_line(process: psutil.Process) -> list[str]:
    """Its arguments; none when it has ended meanwhile."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def is_alive(pid: int) -> bool:
    """Whether it runs; a zombie does not: whoever adopted it has only not looked yet."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def somebody_elses(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process with a session of its own that no product code has started; killed at the end of the block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _temp_dir(process: psutil.Process) -> str | None:
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get("TMPDIR")
    except psutil.Error:
        return None
