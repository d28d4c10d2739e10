"""A fragment of the page before does not blank the page after it.

The browser asks for reruns of a `run_every` fragment until it hears that a link in the page is followed. The server
keeps a request that arrives while the next page runs, and then starts a run on the page before. Its fragment is gone,
but the browser takes the start of the run for a change of the page, and removes everything that the page shows.

Checked against Streamlit 1.67.0 (`ScriptRunner._run_script`, and `handleNewSession` of the frontend). Unnecessary once
Streamlit drops such a request; https://github.com/streamlit/streamlit/pull/9617 did so for links in the navigation.
"""

from streamlit.runtime import app_session
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx


class PageScriptRunner(ScriptRunner):
    """Streamlit's script runner; it skips fragments of another page than the one that it ran last."""

    def _run_script(self, rerun_data: RerunData) -> None:
        context = get_script_run_ctx()
        shown = context.page_script_hash if context else ""
        if not rerun_data.fragment_id_queue or shown == rerun_data.page_script_hash:
            super()._run_script(rerun_data)


def skip_fragments_of_other_pages() -> None:
    """Make the sessions that begin from now on use `PageScriptRunner`."""
    app_session.ScriptRunner = PageScriptRunner  # type: ignore[attr-defined]
