"""Clicks and keys that come before the page is drawn again.

An AppTest draws the page after each click, so here the callbacks are called as the browser asks for them.
"""

from collections.abc import Callable
from typing import Any

import pytest

from app.ui import stepper


class Drawn:
    """The controls as they were drawn last, in place of Streamlit."""

    def __init__(self) -> None:
        self.session_state: dict[str, Any] = {}
        self.clicks: dict[str, Callable[[], None]] = {}
        self.steps: list[int] = []

    def button(self, label: str, key: str, on_click: Callable[[], None], **_: object) -> None:
        self.session_state[key] = False
        self.clicks[label] = on_click

    def select_slider(self, label: str, _: range, key: str, on_change: Callable[[], None], **__: object) -> None:
        self._key, self._slid = key, on_change

    def draw(self, at: int, last: int = 9) -> None:
        stepper.stepper("step", at, last, "Step", str, self.steps.append)

    def click(self, *labels: str) -> None:
        for label in labels:
            self.clicks[label]()

    def slide(self, to: int, **pressed: bool) -> None:
        """The browser reports the slider's value with each click, too."""
        self.session_state.update(pressed)
        self.session_state[self._key] = to
        self._slid()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    controls = Drawn()
    monkeypatch.setattr(stepper, "st", controls)
    controls.draw(at=2)
    return controls


def test_four_clicks_before_the_page_is_drawn_again_are_four_steps(drawn: Drawn) -> None:
    drawn.click("Next", "Next", "Next", "Next")
    assert drawn.steps == [3, 4, 5, 6]


def test_clicks_on_both_buttons_take_each_other_back(drawn: Drawn) -> None:
    drawn.click("Next", "Next", "Previous")
    assert drawn.steps == [3, 4, 3]


def test_clicks_past_an_end_do_not_count(drawn: Drawn) -> None:
    drawn.click(*["Previous"] * 5, "Next")
    assert drawn.steps[-1] == 1
    drawn.click(*["Next"] * 20, "Previous")
    assert drawn.steps[-1] == 8


def test_a_click_counts_from_the_step_that_is_drawn_when_the_url_has_changed(drawn: Drawn) -> None:
    drawn.click("Next")
    drawn.draw(at=7)
    drawn.click("Next")
    assert drawn.steps == [3, 8]


def test_the_slider_s_old_value_that_comes_with_a_click_moves_nothing(drawn: Drawn) -> None:
    drawn.slide(2, **{stepper.NEXT: True})
    assert drawn.steps == []
    drawn.slide(5, **{stepper.NEXT: False})
    assert drawn.steps == [5]
