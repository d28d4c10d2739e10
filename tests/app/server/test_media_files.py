"""Downloads stay available for a grace period after the page that offered them was redrawn."""

import pytest
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from app.server.compat.media_files import GRACE_PERIOD_S, RetainingMediaFileManager


class Dashboard:
    """The media files of a server whose clock the test sets."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.files = RetainingMediaFileManager(MemoryMediaFileStorage("/media"), lambda: self.now_s)

    def draw(self, text: bytes, place: str = "0.1") -> str:
        """The name under which a redrawn page offers its download."""
        self.files.clear_session_refs()
        name = self.files.add_deferred(lambda: text, "text/csv", place, "table.csv")
        self.files.remove_orphaned_files()
        return name

    def click(self, name: str) -> bytes | None:
        return self.fetch(self.files.execute_deferred(name))

    def fetch(self, url: str) -> bytes | None:
        found = self.files.read_file(url.rsplit("/", 1)[1].removesuffix(".csv"))
        return None if found is None else found.content


@pytest.fixture
def dashboard() -> Dashboard:
    return Dashboard()


def test_a_click_on_a_replaced_button_downloads_the_old_file(dashboard: Dashboard) -> None:
    before, after = dashboard.draw(b"old"), dashboard.draw(b"new")
    dashboard.now_s += GRACE_PERIOD_S - 1
    dashboard.files.remove_orphaned_files()
    assert (dashboard.click(before), dashboard.click(after)) == (b"old", b"new")


def test_an_orphaned_file_is_deleted_after_the_grace_period(dashboard: Dashboard) -> None:
    before, after = dashboard.draw(b"old"), dashboard.draw(b"new")
    dashboard.now_s += GRACE_PERIOD_S
    dashboard.files.remove_orphaned_files()
    with pytest.raises(MediaFileStorageError, match="not found"):
        dashboard.click(before)
    assert dashboard.click(after) == b"new"


def test_a_generated_file_survives_redraws_within_the_grace_period(dashboard: Dashboard) -> None:
    url = dashboard.files.execute_deferred(dashboard.draw(b"old"))
    for _ in range(5):
        dashboard.draw(b"new")
    assert dashboard.fetch(url) == b"old"
    dashboard.now_s += GRACE_PERIOD_S
    dashboard.files.remove_orphaned_files()
    assert dashboard.fetch(url) is None


def test_a_file_that_is_referenced_again_gets_a_new_grace_period(dashboard: Dashboard) -> None:
    url = dashboard.files.add(b"same", "text/csv", "0.1", "table.csv", is_for_static_download=True)
    dashboard.draw(b"other")
    dashboard.now_s += GRACE_PERIOD_S - 1
    assert dashboard.files.add(b"same", "text/csv", "0.2", "table.csv", is_for_static_download=True) == url
    dashboard.files.remove_orphaned_files()
    dashboard.now_s += 1
    dashboard.draw(b"another")
    assert dashboard.fetch(url) == b"same"


def test_a_closed_session_leaves_no_file(dashboard: Dashboard) -> None:
    dashboard.click(dashboard.draw(b"old"))
    dashboard.files.clear_session_refs()
    dashboard.files.remove_orphaned_files()
    dashboard.now_s += GRACE_PERIOD_S
    dashboard.files.remove_orphaned_files()
    assert (dashboard.files._file_metadata, dashboard.files._deferred_callables) == ({}, {})
