"""Previous, next and a slider over steps; the arrow keys work, and the URL says where."""

from collections.abc import Callable

import streamlit as st

from app.ui import link_values, state

PREVIOUS, NEXT = "step_Previous", "step_Next"


def position(parameter: str, last: int, default: int) -> int:
    """The step that the URL asks for, at most `last`; `default` when it asks for none."""
    asked = link_values.whole(parameter)
    return min(default if asked is None else asked, last)


def go(parameter: str, at: int) -> None:
    """Go to a step."""
    state.set_url(parameter, str(at))


def stepper(
    parameter: str, at: int, last: int, label: str, text: Callable[[int], str], write: Callable[[int], None]
) -> None:
    """Draw the controls for steps 0 to `last`; `write` stores another step under `parameter`.

    A click counts from the step that the last click led to, which may not be drawn yet.
    """
    position = f"_{parameter}_position"
    st.session_state[position] = st.session_state[parameter] = at

    def move(by: int) -> None:
        st.session_state[position] = max(0, min(st.session_state[position] + by, last))
        write(st.session_state[position])

    def slide() -> None:
        if not any(st.session_state.get(button) for button in (PREVIOUS, NEXT)):  # else the browser's slider is late
            write(st.session_state[parameter])

    _go("Previous", PREVIOUS, "chevron_left", "Left", at > 0, lambda: move(-1))
    _go("Next", NEXT, "chevron_right", "Right", at < last, lambda: move(1))
    st.select_slider(
        label,
        range(last + 1),
        key=parameter,
        format_func=text,
        label_visibility="collapsed",
        on_change=slide,
        width="stretch",
    )


def _go(label: str, key: str, icon: str, shortcut: str, enabled: bool, move: Callable[[], None]) -> None:
    st.button(label, icon=f":material/{icon}:", shortcut=shortcut, disabled=not enabled, on_click=move, key=key)
