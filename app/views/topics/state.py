"""What the Topics page computes once per snapshot, shared by all sessions."""

import pandas as pd

from app.ui.state import Shown, once_per_snapshot
from app.views.topics import tables, topic_tables
from app.views.topics.tables import Reader
from app.views.topics.topic_tables import TopicView


@once_per_snapshot(max_entries=6)
def topics_table(page: Shown) -> pd.DataFrame:
    """All topics of the snapshot as one table."""
    return tables.build(page.report.snapshot, topic_readers(page), page.report.window)


@once_per_snapshot(max_entries=6)
def topic_readers(page: Shown) -> dict[str, list[Reader]]:
    """Topic -> the groups with offsets in it."""
    return tables.readers(page.report.snapshot, page.report.health, page.report.window)


@once_per_snapshot(max_entries=32)
def topic_view(page: Shown, name: str) -> TopicView:
    """One topic with its groups and partitions."""
    return topic_tables.view(page.report.snapshot, page.report.health, page.report.window, name)
