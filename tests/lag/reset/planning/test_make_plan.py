"""Plans for groups of which a broker cannot be made to show this, read from a reading made by hand."""

from collections.abc import Collection, Mapping
from typing import cast

import pytest

from assignors.model import TopicPartition
from lag.offsets import PartitionProblem
from lag.reset.access import GroupAccess
from lag.reset.applying.undo import undo_plan
from lag.reset.asked.specification import parse_skip
from lag.reset.files.offsets_csv import offsets_csv
from lag.reset.files.plan_document import plan_text
from lag.reset.model import Action, GroupReading, RecordHead
from lag.reset.planning.make_plan import NOT_SHOWN, Request, plan_group_deletion, plan_offsets
from lag.reset.remarks import remark
from tests.lag.reset.make import ORDERS, position, reading
from tests.support.known import known

SHUT = TopicPartition("shut", 0)


class Read:
    """Gives a reading made before."""

    def __init__(self, group: GroupReading) -> None:
        self._group = group

    def topics(self) -> Mapping[str, int]:
        return {"orders": 1}

    def read(self, _group_id: str, _topics: Collection[str]) -> GroupReading:
        return self._group

    def first_records(
        self, offsets: Mapping[TopicPartition, int], _most: int = 1, _with_values: bool = False
    ) -> Mapping[TopicPartition, tuple[RecordHead, ...]]:
        head = RecordHead(7, 5_000, b"card 4711", (("trace", b"t-1"),), 12)
        return dict.fromkeys(offsets, (head,))


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


@pytest.mark.parametrize("is_operator", [True, False])
def test_of_the_records_that_a_plan_skips_others_than_operators_get_nothing(is_operator: bool) -> None:
    cluster = cast(GroupAccess, Read(reading({ORDERS: position(7)})))
    plan = plan_offsets(cluster, Request("billing", parse_skip(["orders:0:7"]), with_records=is_operator))
    (row,) = plan.partitions
    assert (row.from_offset, row.to_offset, row.skipped, row.from_ms) == (7, 8, 1, 5_000)
    assert [record.key for record in row.records] == ([b"card 4711"] if is_operator else [])
    assert row.notes == (() if is_operator else (NOT_SHOWN,))
    assert ("4711" in plan_text(plan), "t-1" in plan_text(plan)) == (is_operator, is_operator)
    assert (NOT_SHOWN in remark(row)) is not is_operator
