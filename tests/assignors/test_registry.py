"""Assignors by name, and plugins that are not what they should be."""

import pytest

import assignors
from assignors.model import Assignment, Assignor, AssignorError, Group


class Lazy:
    """A plugin that gives nobody anything."""

    name = "lazy"

    def assign(self, group: Group) -> Assignment:
        return Assignment(None, {member.member_id: () for member in group.members})


class NoAssignor:
    """Has a name, and plans nothing."""

    name = "none"


def test_all_seven_are_there_under_their_names() -> None:
    for name in assignors.names():
        found = assignors.get(name)
        assert found.name == name
        assert isinstance(found, Assignor)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("cooperative_sticky", "No assignor is named 'cooperative_sticky'. Did you mean 'cooperative-sticky'?"),
        ("", "No assignor is named ''. There are range, roundrobin, "),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(asked: str, answer: str) -> None:
    with pytest.raises(AssignorError) as refusal:
        assignors.get(asked)
    assert str(refusal.value).startswith(answer)


def test_a_plugin_by_module_and_class() -> None:
    assert assignors.load_plugin(f"{__name__}:Lazy").name == "lazy"


@pytest.mark.parametrize(
    ("reference", "cause"),
    [
        ("lazy", "'lazy' does not name an assignor. Write it as module:Class."),
        ("no_such_module:Lazy", "cannot be loaded: No module named 'no_such_module'."),
        (f"{__name__}:Missing", "cannot be loaded: module '"),
        (f"{__name__}:NoAssignor", "is no assignor: it needs a name and a method assign(group)."),
    ],
)
def test_a_plugin_that_is_none(reference: str, cause: str) -> None:
    with pytest.raises(AssignorError) as refusal:
        assignors.load_plugin(reference)
    assert cause in str(refusal.value)
