"""Temporary histories: their folders go with them, or with the server."""

from pathlib import Path

from app.server.temporary_history import TemporaryHistory, delete_all


def test_a_folder_is_deleted_with_its_history() -> None:
    kept = TemporaryHistory()
    folder = Path(kept.root)
    assert folder.is_dir()
    del kept
    assert not folder.exists()


def test_all_folders_are_deleted_when_the_server_stops() -> None:
    kept = [TemporaryHistory(), TemporaryHistory()]
    delete_all()
    assert [Path(its.root).exists() for its in kept] == [False, False]
    delete_all()
