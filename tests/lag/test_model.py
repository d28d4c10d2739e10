"""Problems as text."""

import pytest

from lag.model import Problem, Scope


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        ("broker 3 at kafka:9092 cannot be reached", "broker 3 at kafka:9092 cannot be reached. Check the network"),
        ("it is too old", "broker 3: it is too old. Check the network"),
    ],
)
def test_a_problem_names_its_subject_once(cause: str, text: str) -> None:
    assert str(Problem("unreachable", Scope.BROKER, "3", cause, "Check the network")) == text
