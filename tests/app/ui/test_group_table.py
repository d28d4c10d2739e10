"""The time until retention deletes what a group has not read."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.ui.group_table import retention_left
from app.views.overview.tables import rounded_down
from lag.model import FOREVER, LagTotal, Topic
from lag.verdict.health import Finding, GroupHealth, TimeLag
from lag.verdict.status import Status

HOUR_MS = 3_600_000
HEALTH = GroupHealth(
    Finding(Status.FALLING_BEHIND, "", ""), LagTotal(10, 2, 2), 1.0, 2.0, TimeLag(1_800.0), None, {}, None, np.empty(0)
)


def topics(*retentions: int | None) -> list[Topic]:
    """Topics with that retention.ms."""
    return [Topic(f"t{at}", None, 1, retention_ms=ms) for at, ms in enumerate(retentions)]


def test_the_shortest_retention_counts_from_the_oldest_unread_record() -> None:
    assert retention_left(HEALTH, topics(HOUR_MS, 2 * HOUR_MS, FOREVER)) == (1_800.0, "")


def test_deletion_that_is_due_is_now() -> None:
    assert retention_left(replace(HEALTH, time_lag=TimeLag(9_999.0)), topics(HOUR_MS)) == (0.0, "")


def test_a_group_that_loses_records_has_no_time_left() -> None:
    lost = replace(HEALTH, finding=Finding(Status.LOST, "", ""))
    assert retention_left(lost, topics(None)) == (0.0, "")


@pytest.mark.parametrize(
    ("health", "retentions", "why"),
    [
        (HEALTH, [None, HOUR_MS], "retention.ms"),
        (HEALTH, [FOREVER], "without a time limit"),
        (replace(HEALTH, lag=LagTotal(0, 2, 2)), [HOUR_MS], "no unread records"),
        (replace(HEALTH, lag=LagTotal(None, 0, 2)), [HOUR_MS], "lag is unknown"),
        (replace(HEALTH, time_lag=TimeLag(None, reason="older than the samples")), [HOUR_MS], "older than the samples"),
    ],
)
def test_an_unknown_time_has_its_reason(health: GroupHealth, retentions: list[int | None], why: str) -> None:
    seconds, said = retention_left(health, topics(*retentions))
    assert seconds is None
    assert why in said


def test_long_times_are_rounded_down_to_two_units() -> None:
    assert rounded_down(pd.Series([59.0, 3_661.0, 90_061.0])).tolist() == [59, 3_660, 90_000]
    assert rounded_down(pd.Series([np.nan])).isna().all()
