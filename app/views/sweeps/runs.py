"""The sweep that this session runs: at most one at a time, ended with the session."""

from uuid import uuid4

import streamlit as st

from app.server.sweep_run import SweepRun
from app.ui import formats, state, widgets
from app.views.sweeps import state as state_sweeps
from app.views.sweeps import text
from lag.sweeps.plan import Plan

LOOK_EVERY = "1s"
CANCEL_S = 2.0
_RUN = "_sweep_run"


def current() -> SweepRun | None:
    """The run of this session: one that is running, or one that ended without a result."""
    run: SweepRun | None = st.session_state.get(_RUN)
    return run


def start(plan: Plan, cluster: str) -> None:
    """Run the sweep in a process of its own. Raises ConfigError if too many are running."""
    run = st.session_state[_RUN] = SweepRun(plan, cluster, state_sweeps.root_to_write())
    _ended_with_session(uuid4().hex, run)


@st.cache_resource(scope="session", on_release=SweepRun.cancel, show_spinner=False)
def _ended_with_session(key: str, _run: SweepRun) -> SweepRun:
    """Streamlit calls `on_release` when the session ends or its browser has disconnected."""
    return _run


def show_result() -> None:
    """Once the run has written its sweep, show that sweep."""
    run = current()
    if run is None or run.is_running or run.sweep_id is None:
        return
    del st.session_state[_RUN]
    state_sweeps.sweeps_of.clear()
    state.set_url("group", None)
    state.set_url("sweep", run.sweep_id)


def watch() -> bool:
    """Show how far the run is, if one is running; whether one is."""
    run = current()
    if run is None or not run.is_running:
        return False
    _progress()
    return True


@st.fragment(run_every=LOOK_EVERY)
def _progress() -> None:
    """The progress bar, and a button that cancels the run; redraws the page when it has ended."""
    run = current()
    if run is None or not run.is_running:
        st.rerun()
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.progress(run.cases_done / run.cases, text.progress(run))
        st.button("Cancel", icon=":material/close:", key="sweep_cancel", on_click=_cancel)


def _cancel() -> None:
    """Cancel, and wait until the process has ended."""
    if (run := current()) is not None:
        run.cancel()
        run.wait(CANCEL_S)


def last_words() -> None:
    """Why the last run has no result, if so."""
    run = current()
    if run is None or run.is_running:
        return
    if run.error is not None:
        widgets.line(":red", "error", formats.md(run.error.cause), formats.md(run.error.hint))
    elif run.is_cancelled:
        widgets.line(":gray", "block", "The sweep was cancelled", "Nothing was stored.")
