"""Assignors of your own, and what becomes of their failures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import assignors
from assignors.model import Assignment, AssignorError, Group, TopicPartition
from tests.support.scenes import join, plans, scenario


@dataclass(frozen=True)
class Plugin:
    """An assignor that returns what it is given."""

    assign_: Callable[[Group], Any]
    name: str = "mine"

    def assign(self, group: Group) -> Assignment:
        made: Assignment = self.assign_(group)
        return made


def test_a_plugin_plans_an_eager_group() -> None:
    def last_gets_all(group: Group) -> Assignment:
        everything = [TopicPartition("t", at) for at in range(group.topics["t"].partitions)]
        last = group.members[-1].member_id
        return Assignment(None, {one.member_id: everything if one.member_id == last else [] for one in group.members})

    made = assignors.fold(scenario("range", "A", join("B")), Plugin(last_gets_all))
    assert plans(made) == [{"A": "t-0 t-1 t-2 t-3 t-4 t-5"}, {"A": "", "B": "t-0 t-1 t-2 t-3 t-4 t-5"}]
    assert (made[1].assignor, made[1].quality.paused) == ("mine", 6)


def test_a_plugin_that_raises_is_reported_with_its_text() -> None:
    def fails(group: Group) -> Assignment:
        if len(group.members) > 1:
            raise ZeroDivisionError("no luck")
        return assignors.get("range").assign(group)

    with pytest.raises(
        AssignorError, match=r"Event 1 at 600 s \(join B\): The assignor 'mine' raised ZeroDivisionError: no"
    ):
        assignors.fold(scenario("range", "A", join("B")), Plugin(fails))
    with pytest.raises(AssignorError, match="The assignor 'mine' raised SystemExit: 3"):
        assignors.fold(scenario("range", "A"), Plugin(lambda group: exit(3)))


def test_a_plugin_with_a_broken_plan_learns_what_is_broken() -> None:
    with pytest.raises(AssignorError, match=r"The plan of 'mine' is broken. t-0, t-1, t-2 and 3 more have no owner."):
        assignors.fold(scenario("range", "A"), Plugin(lambda group: Assignment(None, {"A": []})))
    with pytest.raises(AssignorError, match="The name of Plugin is 7"):
        assignors.fold(scenario("range", "A"), Plugin(lambda group: None, name=7))  # type: ignore[arg-type]
