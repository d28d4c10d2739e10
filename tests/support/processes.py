"""The processes of a test, told by their temp dir: however they were started and whoever their parent is now."""

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


def _temp_dir(process: psutil.Process) -> str | None:
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get("TMPDIR")
    except psutil.Error:
        return None
