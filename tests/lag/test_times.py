"""Times and whole numbers: exact in both directions."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lag.errors import ConfigError
from lag.times import EPOCH, epoch_ms, from_iso_time, from_micros, from_ms, iso_time, micros, ms

LAST_MS = ms(datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC))


@given(st.integers(-62_135_596_800_000, LAST_MS))
def test_milliseconds_come_back_as_they_were(at_ms: int) -> None:
    at = from_ms(at_ms)
    assert (ms(at), micros(at)) == (at_ms, 1000 * at_ms)
    assert from_micros(1000 * at_ms) == at


def test_integers_of_numpy_are_taken() -> None:
    at_ms: Any = np.int64(1500)
    assert from_ms(at_ms) == EPOCH + timedelta(seconds=1.5)


def test_milliseconds_are_rounded_down_and_zones_respected() -> None:
    assert ms(EPOCH + timedelta(microseconds=1999)) == 1
    assert ms(EPOCH - timedelta(microseconds=1)) == -1
    assert ms(datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))) == 0


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (LAST_MS, "9999-12-31T23:59:59.999Z"),
        (LAST_MS + 1, "253402300800000 ms"),
        (9 * 10**18, "9000000000000000000 ms"),
        (-1, "-1 ms"),
    ],
)
def test_a_time_before_1970_or_after_9999_is_written_in_milliseconds(at_ms: int, text: str) -> None:
    assert iso_time(at_ms) == text
    assert from_iso_time(text) == at_ms


@given(st.integers(10**11, 10**13 - 1))
def test_a_number_of_milliseconds_in_the_years_1973_to_2286_is_taken(at_ms: int) -> None:
    assert epoch_ms(at_ms) == at_ms


@given(st.integers(10**11, 10**13 - 1000))
def test_the_same_time_in_another_unit_is_asked_about_with_its_value_in_milliseconds(at_ms: int) -> None:
    for number, unit, meant in (
        (at_ms // 1000, "seconds", at_ms // 1000 * 1000),
        (at_ms * 1000, "microseconds", at_ms),
        (at_ms * 1_000_000, "nanoseconds", at_ms),
    ):
        with pytest.raises(ConfigError) as asked:
            epoch_ms(number)
        assert asked.value.cause.startswith(f"Is {number} in {unit}? In milliseconds it is ")
        assert f"Write {iso_time(meant)} or {meant} if it is in {unit}" in asked.value.hint
        assert epoch_ms(meant) == meant


@pytest.mark.parametrize(
    ("number", "question"),
    [
        (
            1_700_000_000,
            "Is 1700000000 in seconds? In milliseconds it is 1970-01-20T16:13:20.000Z. Write 2023-11-14T22:13:20.000Z "
            "or 1700000000000 if it is in seconds, or 1970-01-20T16:13:20.000Z if it is in milliseconds",
        ),
        (
            1_700_000_000_123_456,
            "Is 1700000000123456 in microseconds? In milliseconds it is after the year 9999. "
            "Write 2023-11-14T22:13:20.123Z or 1700000000123 if it is in microseconds",
        ),
        (
            1_700_000_000_123_456_789,
            "Is 1700000000123456789 in nanoseconds? In milliseconds it is after the year 9999. "
            "Write 2023-11-14T22:13:20.123Z or 1700000000123 if it is in nanoseconds",
        ),
        (
            20_261_125,
            "20261125 in milliseconds is 1970-01-01T05:37:41.125Z. "
            "Write a time such as 2026-11-25T10:00:00Z, or 1970-01-01T05:37:41.125Z if it is in milliseconds",
        ),
        (
            20_261_125_100_000,
            "20261125100000 in milliseconds is 2612-01-19T18:18:20.000Z. "
            "Write a time such as 2026-11-25T10:00:00Z, or 2612-01-19T18:18:20.000Z if it is in milliseconds",
        ),
    ],
)
def test_a_number_that_is_hardly_one_of_milliseconds_is_a_question(number: int, question: str) -> None:
    with pytest.raises(ConfigError) as asked:
        epoch_ms(number)
    assert str(asked.value) == question


def test_0_is_1970_in_every_unit() -> None:
    assert epoch_ms(0) == 0
