"""What the Group page computes once per snapshot, shared by all sessions."""

from typing import TYPE_CHECKING

import streamlit as st

from app.ui.state import Shown
from app.views.group.view import GroupView, group_view
from lag.generations.explanation import Explanation, explain

if TYPE_CHECKING:
    from lag.polling.report import Report


@st.cache_resource(max_entries=32, show_spinner=False)
def _view(key: tuple[str, int, int], group_id: str, _report: "Report") -> GroupView | None:
    group = _report.snapshot.group(group_id)
    return None if group is None else group_view(group, _report.snapshot, _report.health)


@st.cache_resource(max_entries=32, show_spinner=False)
def _explanation(key: tuple[str, int, int], group_id: str, _report: "Report") -> Explanation | None:
    group = _report.snapshot.group(group_id)
    return None if group is None else explain(group, _report.snapshot.topics)


def view(page: Shown, group_id: str) -> GroupView | None:
    """One group with its partitions and their health; None if it is not in the snapshot."""
    return _view(page.key, group_id, page.report)


def explanation(page: Shown, group_id: str) -> Explanation | None:
    """The assignment compared with the result of the group's assignor; None if the group is not in the snapshot."""
    return _explanation(page.key, group_id, page.report)
