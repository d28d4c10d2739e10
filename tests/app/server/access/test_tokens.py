"""The file of tokens, and the check of a token that a request shows."""

import json
import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.access.tokens import create, find, load_tokens, revoke
from app.server.access.visitor import Grant, Role
from lag.errors import ConfigError

NOW_MS = 1_795_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


def test_a_token_that_was_made_is_found_and_its_secret_is_not_in_the_file(path: Path) -> None:
    made = create(path, "grafana", Role.VIEWER, groups=["payments-*"], now_ms=NOW_MS)
    assert re.fullmatch(r"gs_[0-9a-f]{8}_[\w-]{43}", made.secret)
    tokens = load_tokens(path).tokens
    found = find(tokens, made.secret, NOW_MS)
    assert found == made.token
    assert found.grant == Grant(Role.VIEWER, ("*",), ("payments-*",))
    assert made.secret.rpartition("_")[2] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_a_wrong_secret_and_what_is_no_token_are_not_found(path: Path) -> None:
    made, other = (create(path, name, Role.ADMIN, now_ms=NOW_MS) for name in ("a", "b"))
    tokens = load_tokens(path).tokens
    wrong = made.secret[:12] + other.secret[12:]
    last = "A" if made.secret[-1] != "A" else "B"
    for shown in ("", "gs_", wrong, made.secret + "x", made.secret[:-1], made.secret[:-1] + last, made.token.sha256):
        assert find(tokens, shown, NOW_MS) is None, shown


@given(st.text())
def test_random_text_is_no_token(shown: str) -> None:
    assert find((), shown, NOW_MS) is None


def test_a_token_is_valid_until_it_expires(path: Path) -> None:
    made = create(path, "a", Role.VIEWER, now_ms=NOW_MS, expires_ms=NOW_MS + 1000)
    tokens = load_tokens(path).tokens
    assert find(tokens, made.secret, NOW_MS + 999) is not None
    assert find(tokens, made.secret, NOW_MS + 1000) is None


@pytest.mark.parametrize("by", ["name", "id"])
def test_a_revoked_token_is_gone_and_others_stay(path: Path, by: str) -> None:
    made, other = (create(path, name, Role.VIEWER, now_ms=NOW_MS) for name in ("a", "b"))
    assert revoke(path, getattr(made.token, by)) == made.token
    tokens = load_tokens(path).tokens
    assert (find(tokens, made.secret, NOW_MS), find(tokens, other.secret, NOW_MS)) == (None, other.token)


@pytest.fixture
def of_another_owner(path: Path) -> Path:
    """A file of the account that runs the server, with the token `a`."""
    if os.geteuid() != 0:
        pytest.skip("not run as root: only root can give a file to another account")
    create(path, "a", Role.VIEWER, now_ms=NOW_MS)
    os.chown(path, 12_345, 12_346)
    return path


def test_a_file_of_another_owner_stays_theirs(of_another_owner: Path) -> None:
    create(of_another_owner, "b", Role.VIEWER, now_ms=NOW_MS)
    revoke(of_another_owner, "a")
    after = of_another_owner.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (12_345, 12_346, 0o600)


def test_a_file_that_cannot_be_given_to_its_owner_is_left_as_it_was(
    of_another_owner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refused)
    with pytest.raises(ConfigError, match=r"cannot be written: Operation not permitted") as error:
        revoke(of_another_owner, "a")
    assert error.value.hint.startswith("Run the command as the owner of the file or as root")
    assert [token.name for token in load_tokens(of_another_owner).tokens] == ["a"]
    assert list(of_another_owner.parent.iterdir()) == [of_another_owner]


def test_the_mode_of_a_read_only_file_is_named_to_its_owner(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write it all the same, so the refusal is that of another user's system."""
    create(path, "a", Role.VIEWER, now_ms=NOW_MS)
    path.chmod(0o400)

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("app.server.access.tokens.locked_file", refused)
    with pytest.raises(ConfigError, match=r"cannot be written: its mode is 0400") as error:
        revoke(path, "a")
    assert error.value.hint == f"Run chmod u+w {path}"


def test_a_file_that_a_group_may_read_stays_readable_for_it(path: Path) -> None:
    create(path, "a", Role.VIEWER, now_ms=NOW_MS)
    path.chmod(0o640)
    before = path.stat()
    revoke(path, "a")
    assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_gid) == (0o640, before.st_gid)


def test_tokens_that_are_made_and_revoked_at_the_same_time_are_all_right(path: Path) -> None:
    create(path, "leaked", Role.ADMIN, now_ms=NOW_MS)
    names = [f"t{number}" for number in range(8)]
    with ThreadPoolExecutor(9) as threads:
        made = threads.map(lambda name: create(path, name, Role.VIEWER, now_ms=NOW_MS), names)
        gone = threads.submit(revoke, path, "leaked")
    assert [each.token.name for each in made] == names
    assert gone.result().name == "leaked"
    assert sorted(token.name for token in load_tokens(path).tokens) == names


def test_a_file_that_a_command_left_empty_is_filled_by_the_next(path: Path) -> None:
    path.touch(mode=0o600)
    made = create(path, "a", Role.VIEWER, now_ms=NOW_MS)
    assert load_tokens(path).tokens == (made.token,)


def test_a_file_that_does_not_exist_has_no_token_to_revoke(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be written: No such file or directory"):
        revoke(path, "a")
    assert list(path.parent.iterdir()) == []


def test_names_are_unique_and_only_known_tokens_are_revoked(path: Path) -> None:
    create(path, "a", Role.VIEWER, now_ms=NOW_MS)
    with pytest.raises(ConfigError, match="already has a token 'a'"):
        create(path, "a", Role.ADMIN, now_ms=NOW_MS)
    with pytest.raises(ConfigError, match="has no token 'b'"):
        revoke(path, "b")


def test_a_broken_file_is_refused_with_its_line_and_without_its_hashes(path: Path) -> None:
    create(path, "a", Role.VIEWER, now_ms=NOW_MS)
    document = json.loads(path.read_text())
    document["tokens"][0]["role"] = "root"
    path.write_text(json.dumps(document, indent=1))
    with pytest.raises(ConfigError, match=r"line 7: tokens\[0\]\.role") as refused:
        load_tokens(path)
    assert document["tokens"][0]["sha256"] not in str(refused.value)
