"""The plan of a reset that answers a verdict: what the Reset offsets page opens with."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from app.ui.link_values import MAX_TEXT
from app.views.group.view import GroupView
from assignors.model import TopicPartition
from lag.model import GroupType
from lag.verdict.status import Status


@dataclass(frozen=True, slots=True)
class ResetLink:
    """The button, and the URL parameters of the page."""

    label: str
    parameters: dict[str, str]


def reset_link(view: GroupView) -> ResetLink | None:
    """None where no reset is the answer, for groups of other tools, and where the partitions do not fit into a link."""
    if view.group.type not in (GroupType.CLASSIC, GroupType.CONSUMER):
        return None
    found = _change(view)
    if found is None or any(len(value) > MAX_TEXT for value in found.parameters.values()):
        return None
    return ResetLink(found.label, {"group": view.group.group_id, **found.parameters})


def _change(view: GroupView) -> ResetLink | None:
    status = view.health.finding.status
    affected = view.partitions_with(status)
    match status:
        case Status.LOST | Status.BEYOND_END if affected:
            return ResetLink("Plan a reset to the log start", {"to": "earliest", "topics": _named(affected)})
        case Status.STALLED if affected:
            return _skip(view, affected)
        case Status.NO_MEMBERS:
            return ResetLink("Plan to delete the group", {"to": "delete-group"})
        case Status.TOPIC_DELETED if view.group.has_no_members:
            is_all = len(affected) == len(view.lags)
            label = "Plan to delete the group" if is_all else "Plan to delete the group; the undo restores other topics"
            return ResetLink(label, {"to": "delete-group"})
    return None


def _named(partitions: Iterable[TopicPartition]) -> str:
    """Each partition by its number: a topic alone would also move those that are well."""
    numbers = defaultdict(list)
    for tp in partitions:
        numbers[tp.topic].append(str(tp.partition))
    return " ".join(f"{topic}:{','.join(of_topic)}" for topic, of_topic in numbers.items())


def _skip(view: GroupView, stalled: Iterable[TopicPartition]) -> ResetLink | None:
    """Past the record that the partition with the most lag is stuck at."""
    rows = [row for row in view.lags if row.tp in set(stalled) and row.committed is not None]
    if not rows:
        return None
    worst = max(rows, key=lambda row: row.lag_records or 0)
    value = f"{worst.tp.topic}:{worst.tp.partition}:{worst.committed}"
    return ResetLink("Plan to skip the record it is stuck at", {"to": "skip", "value": value})
