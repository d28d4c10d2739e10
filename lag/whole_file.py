"""Files that are written as a whole or not at all: a full disk, a crash or another process leaves nobody half of one.

The bytes go to a file beside it, which gets the name once the disk has them.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OWNER_ONLY = 0o600
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
"""What file systems answer that have one name for each file, such as those of USB sticks."""


def write_whole(path: Path, data: bytes, mode: int = OWNER_ONLY, like: os.stat_result | None = None) -> Path:
    """Write the file, or replace it; returns `path`. Raises OSError, and then the old file is still there.

    `like`: the new file has the owner, group and mode of that one instead of `mode`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _beside(path, data) as made:
        if like is None:
            made.chmod(mode)
        else:
            _keep_readers(made, like)
        made.replace(path)
    _sync_folder(path)
    return path


def write_new_whole(path: Path, data: bytes) -> None:
    """Write a file that does not exist yet, for its owner only. Raises FileExistsError if it does; OSError."""
    with _beside(path, data) as made:
        try:
            os.link(made, path)  # unlike a renamed file, it replaces nothing
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
            made.replace(path)
    _sync_folder(path)


@contextmanager
def _beside(path: Path, data: bytes) -> Iterator[Path]:
    """A file in the same folder, readable by its owner only, which is on the disk; gone at the end if still there."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".groupscope-")
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield made
    finally:
        made.unlink(missing_ok=True)


def _keep_readers(made: Path, old: os.stat_result) -> None:
    """Others read the file, often as another user than the one who writes it. Raises OSError."""
    now = made.stat()
    is_of_a_group = old.st_mode & stat.S_IRWXG and now.st_gid != old.st_gid
    if now.st_uid != old.st_uid or is_of_a_group:
        os.chown(made, old.st_uid, old.st_gid)
    made.chmod(stat.S_IMODE(old.st_mode))


def _sync_folder(path: Path) -> None:
    """The name of a file is in its folder: without this, a crash of the machine may lose it."""
    folder = os.open(path.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
