"""Plans for groups of which a broker cannot be made to show this, read from a reading made by hand."""

from collections.abc import Collection
from typing import cast

import pytest

from assignors.model import TopicPartition
from lag.offsets import PartitionProblem
from lag.reset.access import GroupAccess
from lag.reset.applying.undo import undo_plan
from lag.reset.files.offsets_csv import offsets_csv
from lag.reset.model import Action, GroupReading
from lag.reset.planning.make_plan import plan_group_deletion
from tests.lag.reset.make import position, reading
from tests.support.known import known

SHUT = TopicPartition("shut", 0)


class Read:
    """Gives a reading made before."""

    def __init__(self, group: GroupReading) -> None:
        self._group = group

    def read(self, _group_id: str, _topics: Collection[str]) -> GroupReading:
        return self._group


@pytest.mark.parametrize(
    ("problem", "back"),
    [
        (PartitionProblem.UNAUTHORIZED, "shut,0,77\n"),
        (PartitionProblem.LEADERLESS, "shut,0,77\n"),
        (PartitionProblem.TIMEOUT, "shut,0,77\n"),
        (PartitionProblem.TOPIC_DELETED, ""),
    ],
)
def test_an_offset_comes_back_unless_its_topic_is_known_to_be_deleted(problem: PartitionProblem, back: str) -> None:
    unread = position(77, None, None, tp=SHUT, problem=problem, topic_id=None)
    plan = plan_group_deletion(cast(GroupAccess, Read(reading({SHUT: unread}))), "billing")
    undo = known(undo_plan(plan, 1))
    assert offsets_csv(undo.partitions) == back
    assert [row.action for row in undo.partitions] == [Action.SET if back else Action.NONE]
