"""A file is written as a whole or not at all, on a disk that is full in the middle too."""

import errno
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lag.whole_file import write_new_whole, write_whole
from tests.support.full_disk import full_disk

Write = Callable[[Path, bytes], object]


@pytest.mark.parametrize("write", [write_whole, write_new_whole])
def test_a_full_disk_leaves_nothing_of_the_file(tmp_path: Path, write: Write) -> None:
    with full_disk(after_bytes=1000), pytest.raises(OSError, match="File too large"):
        write(tmp_path / "plan.json", b"x" * 5000)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    file = write_whole(tmp_path / "state.json", b"old")
    with full_disk(after_bytes=1000), pytest.raises(OSError, match="File too large"):
        write_whole(file, b"x" * 5000)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == {file: b"old"}


@pytest.mark.parametrize("has_links", [True, False])
def test_of_many_who_write_a_new_file_one_has_written_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    if not has_links:
        monkeypatch.setattr(os, "link", _without_links)
    file, together, written = tmp_path / "plan.json", threading.Barrier(8), []

    def write(letter: bytes) -> None:
        together.wait()
        try:
            write_new_whole(file, letter * 100_000)
            written.append(letter)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=write, args=(bytes([65 + number]),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (letter,) = written
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == {file: letter * 100_000}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def _without_links(*_: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")  # as vfat answers
