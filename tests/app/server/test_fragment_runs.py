"""A request to rerun a fragment is skipped when another page is shown by then."""

from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner

from app.server.compat import fragment_runs
from app.server.compat.fragment_runs import PageScriptRunner

FRAGMENT_OF_GROUP = RerunData(page_script_hash="group", fragment_id_queue=["status line"])
CASES = {
    "a fragment of the page that is shown": (FRAGMENT_OF_GROUP, "group", True),
    "a fragment of the page before": (FRAGMENT_OF_GROUP, "whatif", False),
    "another page": (RerunData(page_script_hash="group"), "whatif", True),
}


@pytest.mark.parametrize(("asked", "shown", "is_run"), CASES.values(), ids=CASES)
def test_what_a_request_runs(asked: RerunData, shown: str, is_run: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[RerunData] = []
    monkeypatch.setattr(ScriptRunner, "_run_script", lambda _runner, rerun_data: run.append(rerun_data))
    monkeypatch.setattr(fragment_runs, "get_script_run_ctx", lambda: SimpleNamespace(page_script_hash=shown))
    PageScriptRunner.__new__(PageScriptRunner)._run_script(asked)
    assert run == [asked] * is_run
