"""Histories in temporary folders: what a page keeps for a session, or computes as an example."""

import shutil
import weakref
from tempfile import mkdtemp


class TemporaryHistory:
    """A history in a new folder, which is deleted with this object. `root` is the folder."""

    def __init__(self) -> None:
        self.root = mkdtemp(prefix="groupscope-")
        self.delete = weakref.finalize(self, shutil.rmtree, self.root, ignore_errors=True)
        _present.add(self)


_present: weakref.WeakSet[TemporaryHistory] = weakref.WeakSet()


def delete_all() -> None:
    """Delete all folders, when the server stops: a process that a signal ends runs no finalizers."""
    for kept in list(_present):
        kept.delete()
