"""Clicks that follow each other quickly all count.

While a page computes, Streamlit merges the requests that arrive: of four clicks on one button, or four presses of its
key, one is left. Here a request that clicks what a waiting one already clicks waits behind it, and gets a run of its
own. The callback comes first in a run, and the next request ends the run.

Checked against Streamlit 1.67.0 (`ScriptRequests`). Unnecessary once Streamlit counts the clicks of merged requests.
"""

from collections import deque
from collections.abc import Set as AbstractSet

from streamlit.runtime.scriptrunner import RerunData, script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests, ScriptRequestType


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


def count_every_click() -> None:
    """Make the sessions that begin from now on use `EveryClick`."""
    script_runner.ScriptRequests = EveryClick  # type: ignore[attr-defined]
