"""Times and durations as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lag.errors import ConfigError
from lag.reset.asked.times import duration_ms, iso_duration, timestamp_ms
from lag.times import iso_time


@given(st.integers(0, 4_000_000_000_000))
def test_a_time_is_read_as_it_is_written(ms: int) -> None:
    assert timestamp_ms(iso_time(ms)) == ms


@given(st.integers(10**11, 4_000_000_000_000))
def test_a_time_in_milliseconds_is_that_time(ms: int) -> None:
    assert timestamp_ms(str(ms)) == ms


@pytest.mark.parametrize(
    ("digits", "unit"), [("1700000000", "seconds"), ("1700000000" + "0" * 6, "microseconds"), ("17" + "0" * 17, "nano")]
)
def test_a_number_in_another_unit_is_asked_about_with_what_to_write(digits: str, unit: str) -> None:
    """`date +%s` prints seconds: as milliseconds they are in January 1970, and every record is read again."""
    with pytest.raises(ConfigError, match=f"in {unit}.*2023-11-14T22:13:20.000Z or 1700000000000"):
        timestamp_ms(digits)


@given(st.integers(1, 10_000_000_000))
def test_a_duration_is_read_as_it_is_written(ms: int) -> None:
    assert duration_ms(iso_duration(ms)) == ms


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ConfigError, match="2026-11-25T10:00:00Z for UTC"):
        timestamp_ms("2026-11-25T10:00:00")


@pytest.mark.parametrize(
    "text", ["", "1", "1y", "P", "PT", "1h 30m", "-1h", "P1Y", "999999999w", "١h", "9" * 5000 + "h", "1h" * 5000]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        duration_ms(text)


def test_a_time_before_1970_is_not_the_end_of_the_log() -> None:
    """To Kafka, the timestamp -1 is the end of the log."""
    assert timestamp_ms("1969-12-31T23:59:59.999Z") == 0


@pytest.mark.parametrize("text", ["", "yesterday", "-1", "2026-13-01T00:00:00Z", "999999999999999", "9" * 5000])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        timestamp_ms(text)
