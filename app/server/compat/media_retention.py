"""A click on a download is answered, though the page was drawn anew before it came.

Each drawing offers a download under a new name, and Streamlit forgets the old one as soon as any page has been drawn:
of a hundred clicks on a dashboard that six tabs looked at, seven came to nothing.
"""

import time
from collections.abc import Callable

from streamlit.runtime import get_instance
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorage

KEPT_S = 30.0
"""Longer than a busy browser shows a button that has been replaced."""


class PatientFiles(MediaFileManager):
    """Streamlit's own, which keeps what is no longer offered for `KEPT_S`."""

    def __init__(self, storage: MediaFileStorage, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(storage)
        self._clock = clock
        self._idle_since_s: dict[str, float] = {}

    def remove_orphaned_files(self) -> None:
        """Remove what no page has offered for `KEPT_S`."""
        now_s = self._clock()
        with self._lock:
            offered = {name for names in self._files_by_session_and_coord.values() for name in names.values()}
            idle = (self._file_metadata.keys() | self._deferred_callables.keys()) - offered
            self._idle_since_s = {name: self._idle_since_s.get(name, now_s) for name in idle}
            for name, since_s in self._idle_since_s.items():
                if now_s - since_s >= KEPT_S:
                    self._forget(name)

    def _forget(self, name: str) -> None:
        if name in self._deferred_callables:
            self._drop_deferred_id(name)
        else:
            self._delete_file(name)


def keep_downloads() -> None:
    """Let the server that is starting, and has not served anybody yet, keep downloads."""
    runtime = get_instance()
    runtime._media_file_mgr = PatientFiles(runtime.media_file_mgr._storage)
