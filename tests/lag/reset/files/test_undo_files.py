"""The lock of a group, and where the undo folder is."""

import multiprocessing
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread

import pytest

from lag.errors import ConfigError, ResetRefused
from lag.reset.files.undo_files import UndoFiles, undo_folder


@pytest.fixture
def files(tmp_path: Path) -> UndoFiles:
    return UndoFiles(tmp_path / "plan.json", tmp_path / "undo")


def test_a_group_is_locked_until_the_plan_has_ended_others_are_not(files: UndoFiles, tmp_path: Path) -> None:
    with files.lock("billing"):
        with pytest.raises(ResetRefused, match="Another plan for group billing is being applied on this machine"):
            files.lock("billing", wait_s=0.0).__enter__()
        with files.lock("shipping"):
            assert len(list((tmp_path / "undo").iterdir())) == 2
    assert list((tmp_path / "undo").iterdir()) == []
    with files.lock("billing", wait_s=0.0):
        pass


def test_who_waits_has_the_lock_once_the_other_has_ended(files: UndoFiles) -> None:
    waits, has_it = Event(), Event()

    def wait() -> None:
        waits.set()
        with files.lock("billing", wait_s=60.0):
            has_it.set()

    other = Thread(target=wait)
    with files.lock("billing"):
        other.start()
        waits.wait(60)
        assert not has_it.is_set()
    other.join(60)
    assert has_it.is_set()


def _hold(files: UndoFiles, is_held: "multiprocessing.synchronize.Event") -> None:
    with files.lock("billing"):
        is_held.set()
        Event().wait()


@pytest.mark.process
def test_the_lock_of_a_process_that_is_killed_is_free(files: UndoFiles) -> None:
    context = multiprocessing.get_context("forkserver")
    is_held = context.Event()
    process = context.Process(target=_hold, args=(files, is_held))
    process.start()
    assert is_held.wait(120)
    with pytest.raises(ResetRefused):
        files.lock("billing", wait_s=0.0).__enter__()
    process.kill()
    process.join(60)
    with files.lock("billing", wait_s=0.0):
        pass


@pytest.mark.parametrize("group_id", ["..", "a/../b", "é" * 200, "\ud800"])
def test_every_group_has_a_lock(files: UndoFiles, tmp_path: Path, group_id: str) -> None:
    with files.lock(group_id):
        (lock,) = (tmp_path / "undo").iterdir()
        assert lock.suffix == ".lock"


def test_without_a_folder_for_the_lock_nothing_is_applied(tmp_path: Path) -> None:
    (tmp_path / "undo").touch()
    with ExitStack() as held, pytest.raises(ConfigError, match=r"undo cannot be created: .*GROUPSCOPE_UNDO_FOLDER"):
        held.enter_context(UndoFiles(tmp_path / "plan.json", tmp_path / "undo").lock("billing"))


def test_the_undo_folder_is_the_users_unless_the_variable_names_another() -> None:
    assert undo_folder({"GROUPSCOPE_UNDO_FOLDER": "/u", "XDG_STATE_HOME": "/s"}) == Path("/u")
    assert undo_folder({"XDG_STATE_HOME": "/s"}) == Path("/s/groupscope/undo")
    assert undo_folder({}) == Path.home() / ".local/state/groupscope/undo"


def test_a_user_without_a_home_is_told_to_name_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as it answers for an unknown user
    with pytest.raises(ConfigError, match=r"no home folder\. Name a folder in GROUPSCOPE_UNDO_FOLDER"):
        undo_folder({})
