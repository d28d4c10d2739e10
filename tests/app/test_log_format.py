"""The log on stderr, for people and for programs."""

import json
import logging
import signal
import sys
from pathlib import Path

import pytest

from app.log_format import JsonLines
from tests.app.cli.commandline import running

WARNS = """
import sys, threading, time, warnings

def warn():
    while "app.server.asgi" not in sys.modules:
        time.sleep(0.05)
    warnings.warn("from a library")

threading.Thread(target=warn, daemon=True).start()
"""
"""Warns while the server runs, as a library may."""


def test_an_entry_is_one_line_of_json_whatever_its_text() -> None:
    try:
        raise ValueError("a\nb")
    except ValueError:
        record = logging.LogRecord("lag.x", logging.ERROR, "x.py", 1, 'no "%s"\n\ud800', ("groups",), sys.exc_info())
    line = JsonLines().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert (found["level"], found["logger"], found["message"]) == ("ERROR", "lag.x", 'no "groups"\n\ud800')
    assert found["exception"].endswith("ValueError: a\nb\n")
    assert found["at"].endswith("+00:00")


@pytest.mark.process
def test_each_line_of_a_server_on_stderr_is_json(tmp_path: Path) -> None:
    args = ["serve", "--json", "--port", "0", "--bootstrap-server", "127.0.0.1:1", "--log-format", "json"]
    with running(tmp_path, *args) as command:
        command.first_line()
        assert command.ends(signal.SIGTERM) == 0
        entries = [json.loads(line) for line in command.err.splitlines()]
        assert command.out.count("\n") == 1
    stated = {(entry["logger"], entry["level"]): entry["message"] for entry in entries}
    assert "127.0.0.1:1" in stated["lag.polling.collector", "WARNING"]
    assert stated["groupscope", "INFO"] == "stopped"


@pytest.mark.process
def test_each_entry_has_the_level_that_it_states(tmp_path: Path) -> None:
    args = ["serve", "--json", "--port", "0", "--bootstrap-server", "127.0.0.1:1", "--log-format", "json"]
    env = {"PYTHONWARNINGS": "default", "PYTHONPATH": str(tmp_path)}
    (tmp_path / "sitecustomize.py").write_text(WARNS)
    with running(tmp_path, *args, "--host", "0.0.0.0", "--insecure", env=env) as command:
        command.first_line()
        assert command.ends(signal.SIGTERM) == 0
        entries = [json.loads(line) for line in command.err.splitlines()]
    stated = {(entry["logger"], entry["level"]): entry["message"] for entry in entries}
    assert stated["groupscope", "WARNING"].startswith("everybody who reaches 0.0.0.0 sees all groups")
    assert "UserWarning: from a library" in stated["py.warnings", "WARNING"]
    refused = running(tmp_path / "again", "serve", "--json", "--tls-cert", "none.pem", "--log-format", "json")
    (tmp_path / "again").mkdir()
    with refused as command:
        assert command.process.wait(60) == 1
        (entry,) = [json.loads(line) for line in command.err.splitlines()]
    assert (entry["level"], entry["message"]) == (
        "ERROR",
        "TLS needs both a certificate and its key. Give --tls-cert FILE and --tls-key FILE",
    )


@pytest.mark.process
def test_a_start_logs_what_concerns_the_cluster_alone(tmp_path: Path) -> None:
    """Streamlit warned twice that it had found no runtime, and of options that it had detected."""
    login = tmp_path / "secrets.toml"
    login.write_text(
        '[auth]\nredirect_uri = "http://127.0.0.1:1/oauth2callback"\nclient_id = "a"\nclient_secret = "b"\n'
        f'cookie_secret = "{"c" * 32}"\nserver_metadata_url = "http://127.0.0.1:1/.well-known/openid-configuration"\n'
    )
    roles = tmp_path / "roles.yaml"
    roles.write_text("grants:\n  - {role: admin, users: [ann]}\n")
    files = ["--login", str(login), "--roles", str(roles)]
    with running(tmp_path, "serve", "--json", "--port", "0", "--bootstrap-server", "127.0.0.1:1", *files) as command:
        command.first_line()
        assert command.ends(signal.SIGTERM) == 0
        lines = command.err.splitlines()
    assert [line[:45] for line in lines] == ["WARNING lag.polling.collector: cluster 127.0.", "stopped"]
