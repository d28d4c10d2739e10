"""`groupscope notices`: a file is checked without sending, and a test notice is marked."""

from pathlib import Path

import pytest

from tests.app.cli.commandline import refused, run
from tests.support.notice_targets import Listener, http_server

SECRET = "s3cret-Passw0rd"


def written(folder: Path, *servers: Listener) -> Path:
    """A file with a webhook target for each server: t0, t1, …"""
    targets = "".join(f"  - {{name: t{n}, url: '{each.url}/{SECRET}'}}\n" for n, each in enumerate(servers))
    path = folder / "notices.yaml"
    path.write_text(f"webhook:\n{targets}")
    return path


def test_a_file_is_checked_and_nothing_is_sent(tmp_path: Path) -> None:
    with http_server() as server:
        file = written(tmp_path, server)
        assert run("notices", "check", str(file)).out == f"{file}: ok, 1 target\n"
        document = run("notices", "check", str(file), "--json").document
        assert server.got == []
    assert document == {"ok": True, "targets": [{"name": "t0", "kind": "webhook"}]}
    assert [path.name for path in tmp_path.iterdir()] == ["notices.yaml"]


def test_a_broken_file_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "notices.yaml"
    path.write_text("slack:\n  - name: team\n    ulr: https://x\n")
    reported = (
        f"{path}: line 2: slack[0].url: The key 'url' is missing.; line 3: slack[0].ulr: The key 'ulr' is unknown."
    )
    assert refused("notices", "check", str(path)).startswith(reported)
    assert reported in refused("serve", "--bootstrap-server", "127.0.0.1:1", "--notices", str(path))


def test_a_file_without_targets_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "notices.yaml"
    path.write_text("dashboard: https://scope.example\n")
    assert run("notices", "check", str(path)).out == f"{path}: ok, 0 targets: nobody is sent notices\n"
    assert "has no target" in refused("notices", "test", "--notices", str(path))


def test_a_test_notice_and_its_end_are_sent_and_marked(tmp_path: Path) -> None:
    with http_server() as one, http_server() as other:
        done = run("notices", "test", "t1", env={"GROUPSCOPE_NOTICES": str(written(tmp_path, one, other))})
        assert (done.code, done.out, one.got) == (0, "t1 (webhook): sent\n", [])
        begin, end = other.documents()
    assert (begin["event"], end["event"], begin["id"]) == ("open", "close", end["id"])
    assert (begin["test"], end["test"]) == (True, True)


def test_every_target_is_tried_and_those_that_fail_are_named_without_a_secret(tmp_path: Path) -> None:
    with http_server(500) as bad, http_server() as good:
        done = run("notices", "test", "--notices", str(written(tmp_path, bad, good)), "--json")
    assert done.code == 1
    assert done.document == {
        "targets": [
            {"name": "t0", "kind": "webhook", "error": "HTTP 500"},
            {"name": "t1", "kind": "webhook", "error": None},
        ]
    }
    assert SECRET not in done.out + done.err


def test_a_target_that_is_unknown_and_no_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with http_server() as server:
        file = written(tmp_path, server)
    assert "No target is named 'pager'. The targets are: t0" in refused(
        "notices", "test", "pager", "--notices", str(file)
    )
    monkeypatch.delenv("GROUPSCOPE_NOTICES", raising=False)
    assert "Give --notices FILE, or set GROUPSCOPE_NOTICES" in refused("notices", "test")
