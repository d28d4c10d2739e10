"""`groupscope token`: made once, listed without secrets, revoked; each recorded."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.server.access.tokens import find, load_tokens
from lag.audit.log import AuditLog
from lag.errors import ConfigError

DAY_MS = 86_400_000


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The tokens and the audit log, which the environment names."""
    tokens, audit = tmp_path / "tokens.json", tmp_path / "audit.jsonl"
    monkeypatch.setenv("GROUPSCOPE_TOKENS", str(tokens))
    monkeypatch.setenv("GROUPSCOPE_AUDIT", str(audit))
    return tokens, audit


def token(*arguments: str) -> str:
    ran = CliRunner().invoke(cli, ["token", *arguments], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def document(*arguments: str) -> Any:
    return json.loads(token(*arguments, "--json"))


def test_a_token_is_shown_once_and_works(files: tuple[Path, Path]) -> None:
    shown = token("create", "--name", "prometheus").strip()
    made = find(load_tokens(files[0]).tokens, shown, 0)
    assert made is not None
    assert (made.name, made.role.value, made.groups, made.expires_ms) == ("prometheus", "viewer", ("*",), None)
    assert shown not in files[0].read_text() + files[1].read_text() + token("list")


def test_a_token_for_some_groups_of_some_clusters_that_expires(files: tuple[Path, Path]) -> None:
    given = ("--groups", "payments-*", "--groups", "orders-*", "--clusters", "prod-*", "--expires", "90")
    made = document("create", "--name", "payments", "--role", "operator", *given)
    assert (made["role"], made["groups"], made["clusters"]) == ("operator", ["payments-*", "orders-*"], ["prod-*"])
    assert made["expires_ms"] - made["created_ms"] == 90 * DAY_MS
    (listed,) = document("list")["tokens"]
    assert listed == {name: value for name, value in made.items() if name != "token"}


def test_a_revoked_token_is_gone(files: tuple[Path, Path]) -> None:
    made = document("create", "--name", "a")
    assert document("revoke", made["id"])["revoked"]["name"] == "a"
    assert document("list") == {"tokens": []}


def test_who_makes_and_revokes_tokens_is_recorded(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.shared.auditing.getuser", lambda: "ann")
    made = document("create", "--name", "a", "--role", "admin")
    document("revoke", "a")
    revoked, created = AuditLog(files[1]).newest_first()
    assert (created.actor, created.action, created.detail) == (
        "ann",
        "token",
        f"Token {made['id']} (a) was created for role admin",
    )
    assert revoked.detail == f"Token {made['id']} (a) was revoked"


def test_without_a_file_the_option_is_named() -> None:
    with pytest.raises(ConfigError, match=r"Give --tokens FILE, or set GROUPSCOPE_TOKENS"):
        CliRunner().invoke(cli, ["token", "list"], catch_exceptions=False)
