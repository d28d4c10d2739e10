"""What the Group page computes once per snapshot, shared by all sessions."""

from app.ui.state import Shown, once_per_snapshot
from app.views.group.view import GroupView, group_view
from lag.generations.explanation import Explanation, explain


@once_per_snapshot(max_entries=32)
def view(page: Shown, group_id: str) -> GroupView | None:
    """One group with its partitions and their health; None if it is not in the snapshot."""
    group = page.report.snapshot.group(group_id)
    return None if group is None else group_view(group, page.report.snapshot, page.report.health)


@once_per_snapshot(max_entries=32)
def explanation(page: Shown, group_id: str) -> Explanation | None:
    """The assignment compared with the result of the group's assignor; None if the group is not in the snapshot."""
    group = page.report.snapshot.group(group_id)
    return None if group is None else explain(group, page.report.snapshot.topics)
