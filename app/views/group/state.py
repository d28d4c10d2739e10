"""What the Group page computes once for each snapshot, shared by every session."""

from typing import TYPE_CHECKING

import streamlit as st

from app.ui.state import Shown
from app.views.group import tables
from lag.generations.explanation import Why, why

if TYPE_CHECKING:
    from lag.polling.report import Report


@st.cache_resource(max_entries=32, show_spinner=False)
def _group(key: tuple[str, int, int], group_id: str, _report: "Report") -> tables.GroupView | None:
    group = _report.snapshot.group(group_id)
    return None if group is None else tables.view(group, _report.snapshot, _report.health)


@st.cache_resource(max_entries=32, show_spinner=False)
def _why(key: tuple[str, int, int], group_id: str, _report: "Report") -> Why | None:
    group = _report.snapshot.group(group_id)
    return None if group is None else why(group, _report.snapshot.topics)


def group_view(page: Shown, group_id: str) -> tables.GroupView | None:
    """One group with its partitions and their health; None if the snapshot does not have it."""
    return _group(page.key, group_id, page.report)


def why_it_is_so(page: Shown, group_id: str) -> Why | None:
    """What the group's own assignor says to its assignment; None if the snapshot does not have the group."""
    return _why(page.key, group_id, page.report)
