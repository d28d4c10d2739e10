"""Assignors by name, and plugins that are not what they should be."""

from collections.abc import Callable
from pathlib import Path

import pytest

import assignors
from assignors.model import Assignment, Assignor, AssignorError, Group
from tests.support.installed import Yours


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
        ("", "No assignor is named ''. Choose from range, roundrobin, "),
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
        ("no_such_module:Lazy", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'."),
        (f"{__name__}:Missing", "cannot be loaded: AttributeError: module '"),
        (f"{__name__}:NoAssignor", "is not an assignor: it needs a name and a method assign(group)."),
    ],
)
def test_a_plugin_that_is_none(reference: str, cause: str) -> None:
    with pytest.raises(AssignorError) as refusal:
        assignors.load_plugin(reference)
    assert cause in str(refusal.value)


def test_an_installed_assignor_has_a_name_like_kafkas(install_yours: Callable[..., Yours]) -> None:
    kafkas = assignors.names()
    install_yours("wraps", "first")
    assert assignors.names() == (*kafkas, "first", "wraps")
    assert assignors.get("first").name == "first"
    with pytest.raises(AssignorError, match=r"^No assignor is named 'firs'. Did you mean 'first'\?$"):
        assignors.get("firs")


def test_an_installed_assignor_whose_constructor_raises_is_reported(install_yours: Callable[..., Yours]) -> None:
    install_yours("unready")
    with pytest.raises(AssignorError, match=r"'yours:Unready' cannot be loaded: ValueError: no settings\.$"):
        assignors.get("unready")


@pytest.mark.parametrize(
    ("line", "reported"), [("raise ValueError('bad table')", "ValueError: bad table."), ("exit(3)", "SystemExit: 3.")]
)
def test_a_module_that_raises_as_it_is_imported_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, reported: str
) -> None:
    (tmp_path / "never_there.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AssignorError, match="The assignor 'never_there:X' cannot be loaded: ") as refusal:
        assignors.load_plugin("never_there:X")
    assert str(refusal.value).endswith(reported)
