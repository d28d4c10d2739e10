"""The controls of the time that the chart of the lag shows: its length, and buttons that move it."""

from datetime import datetime, timedelta

import streamlit as st

from app.ui import widgets
from app.views.group.lag.history import TimeShown, show_last_hour, show_time

LENGTHS = {
    "5 min": timedelta(minutes=5),
    "15 min": timedelta(minutes=15),
    "1 h": timedelta(hours=1),
    "6 h": timedelta(hours=6),
}


def controls(shown: TimeShown) -> None:
    """The length, which keeps the end, and the buttons Earlier, Later, Last hour and Pin."""
    chosen = next((name for name, length in LENGTHS.items() if length == shown.length), None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        widgets.segments(
            "Length",
            LENGTHS,
            chosen,
            "lag_length",
            lambda name: show_time(shown.end, LENGTHS.get(name, shown.length)),
            width="content",
        )
        _move("Earlier", "arrow_back", shown.end - shown.length, shown.length)
        if not shown.is_chosen:
            _move("Pin", "keep", shown.end, shown.length, widgets.PIN)
        else:
            _move("Later", "arrow_forward", shown.end + shown.length, shown.length)
            widgets.plain_button("Last hour", "last_page", "lag_last_hour", show_last_hour)


def _move(label: str, icon: str, until: datetime, length: timedelta, explained: str | None = None) -> None:
    widgets.plain_button(label, icon, f"lag_{icon}", show_time, until, length, help=explained)
