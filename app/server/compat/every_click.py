"""Clicks that follow each other quickly all count.

While a page computes, Streamlit merges the requests that arrive: of four clicks on one button, or four presses of its
key, one is left. Here a request that clicks what a waiting one already clicks waits behind it, and gets a run of its
own. The callback comes first in a run, and the next request ends the run, but not before the callback has ended:
Streamlit would end it where it reads the session's state.

While the browser draws, it does the same: it sends what was clicked a moment later (`setTimeout`), and clicks that
waited for the drawing come before that moment. `IN_BROWSER` passes each on after the one before was sent.

Checked against Streamlit 1.67.0 (`ScriptRequests`, `ScriptRunner`, and `scheduleFlush` of the frontend's
`WidgetStateManager`). Unnecessary once Streamlit counts the clicks of merged requests.
"""

from collections import deque
from collections.abc import Set as AbstractSet

import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx, script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests, ScriptRequestType

IN_BROWSER = """<script>
if (!window.everyClick) {
    window.everyClick = [];
    let sending = false;
    const isOnButton = e => e.target.closest?.(".stButton");
    const isClick = e => e.type === "click" && isOnButton(e);
    const isKey = e => /^Arrow(Left|Right)$/.test(e.key) && (e.target === document.body || isOnButton(e));
    const sent = () => {
        sending = false;
        window.everyClick.shift()?.();
    };
    const take = e => {
        if (!isClick(e) && !isKey(e)) return;
        if (sending) {
            e.preventDefault();
            e.stopImmediatePropagation();
            const { target } = e, again = new e.constructor(e.type, e);
            window.everyClick.push(() => target.dispatchEvent(again));
        } else {
            sending = true;
            setTimeout(() => setTimeout(sent));  // the inner one is later than Streamlit's own
        }
    };
    window.addEventListener("click", take, true);
    window.addEventListener("keydown", take, true);
}
</script>"""


class EveryClick(ScriptRequests):
    """Streamlit's requests of a session, of which no click is lost."""

    def __init__(self) -> None:
        super().__init__()
        self._later: deque[RerunData] = deque()

    def _request_rerun_locked(self, new_data: RerunData) -> bool:
        """Streamlit calls it with its lock held."""
        if self._later or self._clicks_again(new_data):
            self._later.append(new_data)
            return True
        return super()._request_rerun_locked(new_data)

    def _clicks_again(self, request: RerunData) -> bool:
        is_waiting = self._state is ScriptRequestType.RERUN
        return is_waiting and bool(clicked(self._rerun_data) & clicked(request))

    def on_scriptrunner_yield(self) -> ScriptRequest | None:
        """Called where a running script can be interrupted."""
        request = super().on_scriptrunner_yield()
        self._next_waits(request)
        return request

    def on_scriptrunner_ready(self) -> ScriptRequest:
        """Called before the first run and after each."""
        request = super().on_scriptrunner_ready()
        self._next_waits(request)
        return request

    def _next_waits(self, taken: ScriptRequest | None) -> None:
        """Once a request is taken, the next ones wait in its place."""
        if taken is not None and taken.type is ScriptRequestType.RERUN:
            with self._lock:
                while self._later and not self._clicks_again(self._later[0]):
                    super()._request_rerun_locked(self._later.popleft())


def clicked(request: RerunData) -> AbstractSet[str]:
    """The ids of the buttons that a request clicks."""
    states = request.widget_states
    return {state.id for state in states.widgets if state.trigger_value} if states else set()


_may_end = ScriptRunner._maybe_handle_execution_control_request


def end_after_callbacks(runner: ScriptRunner) -> None:
    """Where a run may end for the next request, unless its callbacks have not ended."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or context.has_script_started:
        _may_end(runner)


def count_every_click() -> None:
    """Make the sessions that begin from now on count every click."""
    script_runner.ScriptRequests = EveryClick  # type: ignore[attr-defined]
    ScriptRunner._maybe_handle_execution_control_request = end_after_callbacks  # type: ignore[assignment, method-assign]


def count_in_browser() -> None:
    """Part of each page: `IN_BROWSER`."""
    st._event.html(IN_BROWSER, unsafe_allow_javascript=True)  # where an element takes no room
