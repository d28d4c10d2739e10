"""Fields of labs, each for one value of the story. The key of a field is `<lab>_<parameter>`."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st

from app.ui.labs.lab_state import LabState, S

T = TypeVar("T")


def field(
    lab: LabState[S],
    draw: Callable[..., object],
    label: str,
    parameter: str,
    value: T,
    change: Callable[[T], None] | None = None,
    **options: Any,
) -> None:
    """A field of Streamlit, such as `st.toggle`, that shows `value`; `change` replaces the plain change of it."""
    key = f"{lab.name}_{parameter}"
    st.session_state[key] = value

    def write() -> None:
        new = st.session_state[key]
        change(new) if change else lab.change({parameter: new})

    draw(label, key=key, on_change=write, **options)


def select(
    lab: LabState[S],
    label: str,
    parameter: str,
    options: Mapping[T, str],
    value: T,
    change: Callable[[T], None] | None = None,
) -> None:
    """A select box."""
    words = options.__getitem__
    field(lab, st.selectbox, label, parameter, value, change, options=list(options), format_func=words)


def number(lab: LabState[S], label: str, parameter: str, value: int, limits: tuple[int, int], **more: Any) -> None:
    """A whole number within `limits`, both included."""
    least, most = limits
    field(lab, st.number_input, label, parameter, min(value, most), min_value=least, max_value=most, **more)
