"""The disk under the history is full, or its files are damaged; the dashboard goes on, and no row is lost."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lag.history.store import History
from tests.reliability.bench import Bench, Fault
from tests.reliability.brokers import Cluster
from tests.reliability.dashboard import Look, dashboard
from tests.reliability.truth import Truth

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(900)]

TABLE = "group_snapshots"


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 8 MB in memory."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Path]:
    """Where the history is."""
    with small_disk(tmp_path / "disk") as disk:
        yield disk / "history"


@pytest.fixture
def bench(three: Cluster, truth: Truth, tmp_path: Path, history: Path) -> Iterator[Bench]:
    """A dashboard of the test's own, whose history has its first rows."""
    with dashboard(tmp_path / "output", three.client_file, history) as shown:
        bench = Bench(three, truth, shown)
        bench.settled()
        bench.stored(shown.looks)
        yield bench


def grow(file: Path) -> None:
    """Until the disk is full."""
    with file.open("wb", buffering=0) as growing:
        while True:
            growing.write(bytes(4096))


def logged(bench: Bench) -> Callable[[Look], bool]:
    """Whether the server has written to its log since now that it has trouble with the history."""
    before = len(bench.dashboard.command.err)
    return lambda _look: "history" in bench.dashboard.command.err[before:]


def test_disk_full(bench: Bench, history: Path) -> None:
    filler = history.parent / "filler"

    def fill() -> None:
        with pytest.raises(OSError, match="No space left"):
            grow(filler)

    made = "the history is on a file system of 8 MB, which is filled; later there is space again"
    bench.row(Fault("Disk full", made, fill, filler.unlink, logged(bench)))


def test_delta_log_corrupt(bench: Bench, history: Path) -> None:
    newest = max((history / TABLE / "_delta_log").glob("*.json"))
    whole = newest.read_bytes()

    def restore() -> None:
        newest.write_bytes(whole)

    made = "the newest commit of `group_snapshots` is cut in half; later the file is restored"
    bench.row(
        Fault("Delta log corrupt", made, lambda: newest.write_bytes(whole[: len(whole) // 2]), restore, logged(bench))
    )


def test_delta_checkpoint_corrupt(bench: Bench, history: Path) -> None:
    table = History(history).open(TABLE)
    assert table is not None
    table.create_checkpoint()
    (checkpoint,) = (history / TABLE / "_delta_log").glob("*.checkpoint.parquet")
    whole, commits = checkpoint.read_bytes(), list_commits(history)

    def damage() -> None:
        checkpoint.write_bytes(whole[: len(whole) // 2])

    def restore() -> None:
        checkpoint.write_bytes(whole)

    has_logged = logged(bench)

    def went_on(look: Look) -> bool:
        return has_logged(look) or list_commits(history) != commits

    made = "a checkpoint of `group_snapshots` is cut in half; later the file is restored"
    bench.row(Fault("Delta checkpoint corrupt", made, damage, restore, went_on))


def list_commits(history: Path) -> list[str]:
    """The commits of the table."""
    return sorted(one.name for one in (history / TABLE / "_delta_log").glob("*.json"))
