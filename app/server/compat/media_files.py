"""Downloads stay available for a while after the page that offered them was redrawn.

Streamlit gives each redrawn download button a new URL and deletes the old file at once, so a click on a button that the
browser has not replaced yet gets a 404.

Checked against Streamlit 1.67.0. Unnecessary once Streamlit has a grace period again, like that of
https://github.com/streamlit/streamlit/pull/1494; a related issue is https://github.com/streamlit/streamlit/issues/8932.
"""

import time
from collections.abc import Callable

from streamlit.runtime import get_instance
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorage

GRACE_PERIOD_S = 30.0
"""Longer than a busy browser shows a button that has been replaced."""


class RetainingMediaFileManager(MediaFileManager):
    """Streamlit's manager; it deletes an orphaned file only after `GRACE_PERIOD_S`."""

    def __init__(self, storage: MediaFileStorage, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(storage)
        self._clock = clock
        self._orphaned_since_s: dict[str, float] = {}

    def remove_orphaned_files(self) -> None:
        """Delete the files that no session has referenced for `GRACE_PERIOD_S`."""
        now_s = self._clock()
        with self._lock:
            referenced = {name for names in self._files_by_session_and_coord.values() for name in names.values()}
            orphaned = (self._file_metadata.keys() | self._deferred_callables.keys()) - referenced
            self._orphaned_since_s = {name: self._orphaned_since_s.get(name, now_s) for name in orphaned}
            for name, since_s in self._orphaned_since_s.items():
                if now_s - since_s >= GRACE_PERIOD_S:
                    self._delete(name)

    def _delete(self, name: str) -> None:
        if name in self._deferred_callables:
            self._drop_deferred_id(name)
        else:
            self._delete_file(name)


def retain_media_files() -> None:
    """Replace the media file manager of a server that has not served a request yet."""
    runtime = get_instance()
    runtime._media_file_mgr = RetainingMediaFileManager(runtime.media_file_mgr._storage)
