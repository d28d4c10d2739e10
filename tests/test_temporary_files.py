"""What is kept in the temp dir is for its owner alone, whatever the umask of the process."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.server.temporary_history import TemporaryHistory
from lag.embedded.supervisor import owned_folder
from lag.whole_file import write_whole


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def test_the_folder_of_an_embedded_cluster() -> None:
    with owned_folder("groupscope-test-") as folder:
        assert mode(folder) == 0o700


def test_the_history_of_a_session() -> None:
    kept = TemporaryHistory()
    assert mode(kept.root) == 0o700
    kept.delete()


def test_a_file_that_is_written_whole(tmp_path: Path) -> None:
    assert mode(write_whole(tmp_path / "file", b"x")) == 0o600
