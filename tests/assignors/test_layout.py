"""Plans read whole: lists of the same partitions that reading them one by one gives, shared between plans."""

import numpy as np
import pytest

from assignors.layout import Layout, PartitionList, read_all
from assignors.model import TopicPartition

PLAN = {"A": [3, 0], "B": [], "C": [2, 1]}
"""Codes: 0 is t-0, 1 to 3 are u-0 to u-2."""


def plan() -> dict[str, PartitionList]:
    layout = Layout({"u": 3, "t": 1})
    return {member: PartitionList(layout, np.array(codes, np.int32)) for member, codes in PLAN.items()}


def test_a_plan_read_whole_is_that_read_one_by_one() -> None:
    expected = {
        "A": [TopicPartition("u", 2), TopicPartition("t", 0)],
        "B": [],
        "C": [TopicPartition("u", 1), TopicPartition("u", 0)],
    }
    assert read_all(plan()) == expected
    assert {member: list(part) for member, part in plan().items()} == expected


def test_plans_of_equal_topics_share_their_partitions() -> None:
    one, other = read_all(plan()), read_all(plan())
    assert all(mine is theirs for member in one for mine, theirs in zip(one[member], other[member], strict=True))
    with pytest.raises(ValueError, match="read-only"):
        Layout({"u": 3, "t": 1}).shared()[0] = None
