"""Quiet hours: on which days, past midnight, and in which time zone."""

from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.notices.quiet import QuietHours
from lag.verdict.catalogue import Severity

FRIDAY = frozenset({4})


def holds_back(at: str, severity: Severity = Severity.WARNING, **rest: Any) -> bool:
    hours = QuietHours(time(22), time(7), rest.pop("zone", UTC), **rest)
    return hours.holds_back(severity, round(datetime.fromisoformat(at).timestamp() * 1000))


@pytest.mark.parametrize(
    ("at", "is_quiet"),
    [
        ("2026-11-27T21:59:59Z", False),
        ("2026-11-27T22:00:00Z", True),
        ("2026-11-28T06:59:59Z", True),
        ("2026-11-28T07:00:00Z", False),
    ],
)
def test_past_midnight(at: str, is_quiet: bool) -> None:
    assert holds_back(at) is is_quiet


def test_the_days_are_those_on_which_they_start() -> None:
    assert holds_back("2026-11-27T23:00:00Z", days=FRIDAY)
    assert holds_back("2026-11-28T06:00:00Z", days=FRIDAY)
    assert not holds_back("2026-11-28T23:00:00Z", days=FRIDAY)
    assert not holds_back("2026-11-27T06:00:00Z", days=FRIDAY)


def test_on_the_clock_of_the_zone_in_winter_and_in_summer() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert holds_back("2026-11-27T21:00:00Z", zone=berlin)
    assert not holds_back("2026-11-27T06:00:00Z", zone=berlin)
    assert holds_back("2026-07-27T20:00:00Z", zone=berlin)
    assert not holds_back("2026-07-27T05:00:00Z", zone=berlin)


@pytest.mark.parametrize(
    ("at", "is_quiet"),
    [
        ("2026-03-28T21:00:00Z", True),  # 22:00 in winter time; the clock goes forward at 1:00 UTC
        ("2026-03-29T01:00:00Z", True),
        ("2026-03-29T04:59:59Z", True),
        ("2026-03-29T05:00:00Z", False),  # 7:00 in summer time
        ("2026-10-24T19:59:59Z", False),
        ("2026-10-24T20:00:00Z", True),  # 22:00 in summer time; the clock goes back at 1:00 UTC
        ("2026-10-25T00:30:00Z", True),
        ("2026-10-25T01:30:00Z", True),
        ("2026-10-25T05:59:59Z", True),
        ("2026-10-25T06:00:00Z", False),  # 7:00 in winter time
    ],
)
def test_on_the_nights_in_which_the_clock_changes(at: str, is_quiet: bool) -> None:
    assert holds_back(at, zone=ZoneInfo("Europe/Berlin")) is is_quiet


def test_within_one_day() -> None:
    noon = QuietHours(time(12), time(13), UTC)
    at = [round(datetime(2026, 11, 27, hour, tzinfo=UTC).timestamp() * 1000) for hour in (11, 12, 13)]
    assert [noon.holds_back(Severity.INFO, each) for each in at] == [False, True, False]


def test_what_is_severe_enough_is_still_sent() -> None:
    assert not holds_back("2026-11-27T23:00:00Z", Severity.CRITICAL, still_sent=Severity.CRITICAL)
    assert holds_back("2026-11-27T23:00:00Z", Severity.WARNING, still_sent=Severity.CRITICAL)
