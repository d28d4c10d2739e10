"""Exactly one way to say where offsets go; 0 is a value."""

from typing import Any

import pytest

from lag.errors import ConfigError
from lag.reset.asked.specification import Delete, Exact, Shift, Time
from lag.reset.asked.specification_text import Asked, specification


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (Asked(shift_by=0), Shift(0)),
        (Asked(to_offset=0), Exact(0)),
        (Asked(delete_offsets=True), Delete()),
        (Asked(by_duration="1s"), Time(9_000, 1_000)),
        (Asked(to_datetime="0"), Time(0)),
    ],
)
def test_one_way_is_taken(asked: Asked, wanted: object) -> None:
    assert specification(asked, "billing", 10_000) == wanted


@pytest.mark.parametrize("given", [{}, {"to_latest": True, "shift_by": 0}, {"shift_by": 0, "to_offset": 0}])
def test_none_or_more_than_one_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        specification(Asked(**given), "billing", 0)


def test_an_offset_beyond_kafkas_is_refused() -> None:
    with pytest.raises(ConfigError, match="larger than any offset"):
        specification(Asked(to_offset=2**63), "billing", 0)
