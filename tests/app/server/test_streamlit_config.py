"""Theme and security settings hold however the server is started: by us, by uvicorn, by Streamlit, from a wheel."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.error_util import _log_uncaught_app_exception

from app.server.web_app import packaged_config

ROOT = Path(__file__).parents[3]
ASKED = "import json, app.server.asgi, streamlit; print(json.dumps({name: streamlit.get_option(name) for name in %r}))"


@pytest.mark.process
def test_servers_started_without_our_command_take_the_file_of_the_working_directory() -> None:
    ours = packaged_config()
    stated = subprocess.run([sys.executable, "-c", ASKED % list(ours)], cwd=ROOT, capture_output=True, check=True)
    assert json.loads(stated.stdout) == ours


def test_the_file_in_the_package_is_that_of_the_checkout() -> None:
    """A wheel has no room for what is beside the packages. After a change: cp .streamlit/config.toml app/.streamlit/"""
    name = Path(".streamlit", "config.toml")
    assert (ROOT / "app" / name).read_text() == (ROOT / name).read_text()


def test_no_full_collection_follows_each_run_of_a_page() -> None:
    """With 5,000 groups it takes 0.17 s, every 2 s for each open page, and holds up all others."""
    assert packaged_config()["runner.postScriptGC"] is False


def test_the_traceback_of_a_failed_page_does_not_go_to_stdout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There it would follow the JSON of `groupscope up --json`."""
    monkeypatch.setattr("streamlit.config.get_option", packaged_config().get)
    _log_uncaught_app_exception(OverflowError("too large"))
    assert capsys.readouterr().out == ""
