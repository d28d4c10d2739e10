"""Fields that change the story of a lab: each shows a value of the story and writes a new one into the URL."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st

from app.ui.labs.lab_state import LabState, S

T = TypeVar("T")


class LabFields:
    """The fields of one lab. `parameter` names a value of the story; the key of a field is `<lab>_<parameter>`."""

    def __init__(self, lab: LabState[S]) -> None:
        self._name, self._change = lab.name, lab.change

    def select(
        self,
        label: str,
        parameter: str,
        options: Mapping[T, str],
        value: T,
        change: Callable[[T], None] | None = None,
    ) -> None:
        """A select box; `change` replaces the plain change of the value."""
        key, write = self._show(parameter, value, change)
        st.selectbox(label, list(options), key=key, format_func=options.__getitem__, on_change=write)

    def toggle(self, label: str, parameter: str, value: bool) -> None:
        """A switch."""
        key, write = self._show(parameter, value)
        st.toggle(label, key=key, on_change=write)

    def number(
        self,
        label: str,
        parameter: str,
        value: int,
        limits: tuple[int, int],
        change: Callable[[int], None] | None = None,
        **more: Any,
    ) -> None:
        """A whole number within `limits`, both included."""
        least, most = limits
        key, write = self._show(parameter, min(value, most), change)
        st.number_input(label, least, most, key=key, on_change=write, **more)

    def text(self, label: str, parameter: str, value: str, **more: Any) -> None:
        """A line of text."""
        key, write = self._show(parameter, value)
        st.text_input(label, key=key, max_chars=120, on_change=write, **more)

    def slider(
        self,
        label: str,
        parameter: str,
        value: int,
        limits: tuple[int, int],
        step: int,
        change: Callable[[int], None],
    ) -> None:
        """A slider within `limits`, both included; a value outside them widens it."""
        key, write = self._show(parameter, value, change)
        st.slider(label, min(limits[0], value), max(limits[1], value), step=step, key=key, on_change=write)

    def _show(
        self, parameter: str, value: T, change: Callable[[T], None] | None = None
    ) -> tuple[str, Callable[[], None]]:
        """The key of a field that shows `value`, and the callback that writes a new one."""
        key = f"{self._name}_{parameter}"
        st.session_state[key] = value

        def write() -> None:
            new = st.session_state[key]
            change(new) if change else self._change({parameter: new})

        return key, write
