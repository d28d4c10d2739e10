"""Previous, next and a slider over steps; the arrow keys work, and the URL says where."""

from collections.abc import Callable

import streamlit as st

from app.ui import state


def asked(parameter: str, default: int) -> int:
    """The step that the URL asks for; it may lie past the last one."""
    text = state.url(parameter) or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else default


def position(parameter: str, last: int) -> int:
    """The step that the URL asks for, from 0 to `last`; by default the last one."""
    return min(asked(parameter, last), last)


def go(parameter: str, at: int) -> None:
    """Go to a step."""
    state.set_url(parameter, str(at))


def stepper(
    parameter: str, at: int, last: int, label: str, text: Callable[[int], str], write: Callable[[int], None]
) -> None:
    """Draw the controls for steps 0 to `last`; `write` puts another one where `parameter` stands."""
    _go("Previous", "chevron_left", "Left", at - 1, at > 0, write)
    _go("Next", "chevron_right", "Right", at + 1, at < last, write)
    st.session_state[parameter] = at
    st.select_slider(
        label,
        range(last + 1),
        key=parameter,
        format_func=text,
        label_visibility="collapsed",
        on_change=lambda: write(st.session_state[parameter]),
        width="stretch",
    )


def _go(label: str, icon: str, key: str, to: int, enabled: bool, write: Callable[[int], None]) -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        shortcut=key,
        disabled=not enabled,
        on_click=write,
        args=(to,),
        key=f"step_{label}",
    )
