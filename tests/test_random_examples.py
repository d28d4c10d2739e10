"""`make check` tries fewer random examples, each test in the same proportion."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.known import known
from tests.support.random_examples import random_examples


@pytest.fixture
def _profile_stays() -> Iterator[None]:
    before = settings.get_current_profile_name()
    yield
    settings.load_profile(before)


@pytest.mark.usefixtures("_profile_stays")
@pytest.mark.parametrize(("profile", "usual", "three_times", "least"), [("same", 100, 300, 2), ("few", 25, 75, 1)])
def test_numbers_of_examples_keep_the_proportion_of_the_profile(
    profile: str, usual: int, three_times: int, least: int
) -> None:
    settings.load_profile(profile)
    assert known(settings.default).max_examples == usual
    assert [random_examples(number).max_examples for number in (300, 2)] == [three_times, least]
    assert random_examples(2).derandomize
