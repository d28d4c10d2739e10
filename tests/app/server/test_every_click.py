"""Clicks on one button that arrive while a page computes each have a run of their own."""

from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType

from app.server.compat.every_click import EveryClick, clicked, count_every_click, end_after_callbacks
from tests.app.conftest import Open
from tests.app.reading import asked

YIELD = "_maybe_handle_execution_control_request"


def request(**states: Any) -> RerunData:
    """The state of each widget: True is a click, a number a slider."""
    return RerunData(
        widget_states=WidgetStates(
            widgets=[
                WidgetState(id=name, trigger_value=True) if value is True else WidgetState(id=name, int_value=value)
                for name, value in states.items()
            ]
        )
    )


def taken(requests: ScriptRequests, *made: RerunData) -> list[tuple[set[str], int | None]]:
    """What each run is asked that follows these requests: the buttons clicked, and the slider."""
    for one in made:
        assert requests.request_rerun(one)
    found = []
    while (run := requests.on_scriptrunner_yield()) is not None and run.type is ScriptRequestType.RERUN:
        states = run.rerun_data.widget_states
        sliders = [state.int_value for state in states.widgets if state.id == "slider"] if states else []
        found.append((set(clicked(run.rerun_data)), sliders[0] if sliders else None))
    return found


CASES: dict[str, tuple[list[RerunData], list[tuple[set[str], int | None]]]] = {
    "four clicks on one button": ([request(next=True)] * 4, [({"next"}, None)] * 4),
    "a slider that moves on": ([request(slider=value) for value in range(4)], [(set(), 3)]),
    "a slider, then a click": ([request(slider=2), request(slider=2, add=True)], [({"add"}, 2)]),
    "clicks on two buttons": ([request(next=True), request(add=True)], [({"next", "add"}, None)]),
    "what comes after a click that waits": (
        [request(next=True, slider=1), request(next=True, slider=1), request(slider=5)],
        [({"next"}, 1), ({"next"}, 5)],
    ),
}


@pytest.mark.parametrize(("made", "runs"), CASES.values(), ids=CASES)
def test_what_waits_while_a_page_computes(made: list[RerunData], runs: list[tuple[set[str], int | None]]) -> None:
    assert taken(EveryClick(), *made) == runs


class FourTimes(EveryClick):
    """As if each click were four before the page has drawn anything; the browser's address is that of before."""

    def request_rerun(self, new_data: RerunData) -> bool:
        for _ in range(3 if clicked(new_data) else 0):
            super().request_rerun(new_data)
        return super().request_rerun(new_data)


def test_four_clicks_on_next_are_four_steps(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    page = open_page("whatif", example="100-partitions", gen="0")
    monkeypatch.setattr(script_runner, "ScriptRequests", FourTimes)
    monkeypatch.setattr(ScriptRunner, YIELD, end_after_callbacks)
    page = next(button for button in page.button if button.label == "Next").click().run()
    assert asked(page)["gen"] == "4"
    page = next(button for button in page.button if button.label == "Previous").click().run()
    assert asked(page)["gen"] == "0"


def test_a_stopped_session_takes_no_click() -> None:
    requests = EveryClick()
    requests.request_stop()
    assert not requests.request_rerun(request(next=True))


def test_streamlit_loses_three_of_four_clicks() -> None:
    """Where it does not, `EveryClick` is not needed."""
    assert len(taken(ScriptRequests(), *[request(next=True)] * 4)) == 1


def test_sessions_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_runner, "ScriptRequests", ScriptRequests)
    monkeypatch.setattr(ScriptRunner, YIELD, getattr(ScriptRunner, YIELD))
    count_every_click()
    assert script_runner.ScriptRequests is EveryClick  # type: ignore[attr-defined]
    assert getattr(ScriptRunner, YIELD) is end_after_callbacks
