"""The log on stderr, for people and for programs."""

import json
import logging
import signal
import sys
from pathlib import Path

import pytest

from app.log_format import JsonLines
from tests.app.cli.commandline import running


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
