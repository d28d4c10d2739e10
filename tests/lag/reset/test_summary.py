"""What to know before a plan is applied."""

import pytest

from assignors.model import TopicPartition
from lag.model import GroupType
from lag.reset.model import Action, Kind, PartitionPlan, Plan
from lag.reset.summary import warnings

RECREATES = "Its undo plan commits these offsets again, which creates the group again"
NO_UNDO = "There is no undo: no offset can be committed again, since none of the topics exists"


def deletion(*gone: bool) -> Plan:
    """A group is deleted with an offset for each of these topics, which exist or are gone."""
    rows = tuple(
        PartitionPlan(TopicPartition(f"t{number}", 0), Action.DELETE, 5, topic_is_gone=is_gone)
        for number, is_gone in enumerate(gone)
    )
    return Plan(Kind.DELETE_GROUP, "c", "g", GroupType.CLASSIC, 0, "Empty", None, partitions=rows)


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        ((False, False), [RECREATES]),
        ((True, False), [RECREATES, "1 offset cannot be committed again: the topic does not exist"]),
        ((True, True), [NO_UNDO]),
        ((), []),
    ],
)
def test_a_deletion_promises_only_the_undo_that_is_possible(gone: tuple[bool, ...], expected: list[str]) -> None:
    assert [text for text in warnings(deletion(*gone)) if "auto.offset.reset" not in text] == expected
