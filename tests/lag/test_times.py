"""Times and whole numbers: exact in both directions."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lag.times import EPOCH, from_iso_time, from_micros, from_ms, iso_time, micros, ms

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
