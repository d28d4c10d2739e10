"""What the Overview computes once per snapshot, shared by all sessions."""

from app.ui import state
from app.ui.group_table import GroupTable
from app.ui.state import Shown, once_per_snapshot
from app.views.overview import tables


@once_per_snapshot(max_entries=6)
def group_table(page: Shown) -> GroupTable:
    """All groups of the snapshot, with the time until deletion."""
    return tables.with_deletion(state.group_table(page), page.report.snapshot, page.report.window)
