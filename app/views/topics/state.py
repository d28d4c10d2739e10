"""What the Topics page computes once per snapshot, shared by all sessions."""

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app.ui.state import Shown
from app.views.topics import tables, topic_tables
from app.views.topics.topic_tables import TopicView

if TYPE_CHECKING:
    from lag.polling.report import Report


@st.cache_resource(max_entries=6, show_spinner=False)
def _topics(key: tuple[str, int, int], _report: "Report") -> pd.DataFrame:
    return tables.build(_report.snapshot, _report.health, _report.window)


@st.cache_resource(max_entries=32, show_spinner=False)
def _topic(key: tuple[str, int, int], name: str, _report: "Report") -> TopicView:
    return topic_tables.view(_report.snapshot, _report.health, _report.window, name)


def topics_table(page: Shown) -> pd.DataFrame:
    """All topics of the snapshot as one table."""
    return _topics(page.key, page.report)


def topic_view(page: Shown, name: str) -> TopicView:
    """One topic with its groups and partitions."""
    return _topic(page.key, name, page.report)
