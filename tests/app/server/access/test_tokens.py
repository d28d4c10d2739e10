"""The file of tokens, and the check of a token that a request shows."""

import json
import re
import stat
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


def test_names_are_unique_and_only_known_tokens_are_revoked(path: Path) -> None:
    create(path, "a", Role.VIEWER, now_ms=NOW_MS)
    with pytest.raises(ConfigError, match="has a token 'a' already"):
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
