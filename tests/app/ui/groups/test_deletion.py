"""The time until retention deletes what a group has not read."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.ui import verdicts
from app.ui.groups.deletion import REASONS, of_groups, two_units
from lag.model import FOREVER
from lag.offsets import PartitionProblem
from lag.verdict.window.sample_window import SampleRing
from lag.verdict.window.time_to_loss import NoTime
from tests.lag.make import cluster, end, group

HOUR_MS = 3_600_000
Commits = Mapping[str, int | None]


def left(
    commits: Commits, t_ms: int | None = HOUR_MS, u_ms: int | None = 2 * HOUR_MS, start: int = 0
) -> tuple[float | None, str]:
    """Seconds, or the reason for none, of a group that stands still: the log ends of t-0, t-1 and u-0 grow from 100 by
    10 records in each of four polls, 10 s apart.
    """
    ring, names = SampleRing(), ("t-0", "t-1", "u-0")
    for number in range(4):
        ends = {name: end(100 + 10 * number, start=start * (number + 1)) for name in names}
        snapshot = cluster({"g": group(commits)}, ends, number + 1, number * 10_000)
        window = ring.append(snapshot)
    retention = {"t": t_ms, "u": u_ms}
    topics = {name: replace(topic, retention_ms=retention[name]) for name, topic in snapshot.topics.items()}
    row = of_groups(replace(snapshot, topics=topics), window).loc["g"]
    return (None if np.isnan(row["deleted_in_s"]) else float(row["deleted_in_s"])), str(row["deleted_in_why"])


def test_the_partition_with_the_least_time_counts_by_the_retention_of_its_topic() -> None:
    assert left({"t-0": 120, "t-1": 115, "u-0": 105}) == (3600 - 15, "")
    assert left({"t-0": 120, "t-1": 115, "u-0": 105}, u_ms=20_000) == (0.0, "")


def test_a_topic_without_unread_records_does_not_count() -> None:
    assert left({"t-0": 130, "u-0": 105}) == (7200 - 25, "")


def test_records_that_are_deleted_unread_leave_no_time() -> None:
    assert left({"t-0": 5, "u-0": 130}, t_ms=FOREVER, start=10) == (0.0, "")


def test_deletion_by_size_counts_too() -> None:
    """The log start moves by 10 records in 10 s, and is 10 records from the group."""
    assert left({"t-0": 50}, t_ms=FOREVER, start=10) == (10.0, "")


@pytest.mark.parametrize(
    ("commits", "t_ms", "why"),
    [
        ({}, HOUR_MS, "it has no offsets"),
        ({"t-0": 130, "u-0": 130}, HOUR_MS, "no unread records"),
        ({"t-0": 130, "t-1": None}, HOUR_MS, verdicts.problem(PartitionProblem.NO_COMMIT)),
        ({"u-0": 130, "t-0": 120}, None, "retention.ms is unknown"),
        ({"u-0": 130, "t-0": 120}, FOREVER, "no deletion by age"),
        (
            {"t-0": 120, "t-1": 90},
            HOUR_MS,
            "at most 59 min 30 s on t-1: its oldest unread record predates the first poll",
        ),
    ],
)
def test_without_a_time_there_is_a_reason(commits: Commits, t_ms: int | None, why: str) -> None:
    assert left(commits, t_ms) == (None, why)


def test_a_group_that_reads_faster_than_retention_deletes_has_no_countdown() -> None:
    ring = SampleRing()
    for number in range(4):
        ends = {"t-0": end(900, start=10 * number)}
        snapshot = cluster({"g": group({"t-0": 500 + 50 * number})}, ends, number + 1, number * 10_000)
        window = ring.append(snapshot)
    topics = {"t": replace(snapshot.topics["t"], retention_ms=FOREVER)}
    row = of_groups(replace(snapshot, topics=topics), window).loc["g"]
    assert (np.isnan(row["deleted_in_s"]), row["deleted_in_why"]) == (True, REASONS[NoTime.NEVER_REACHED])


def test_a_countdown_is_rounded_down_to_its_two_largest_units() -> None:
    seconds = pd.Series([59.6, 3_599.0, 3_661.0, 86_399.0, 90_061.0, 604_495.0, np.inf, np.nan])
    shown = two_units(seconds)
    assert shown[:6].tolist() == [59.0, 3_599.0, 3_660.0, 86_340.0, 90_000.0, 601_200.0]
    assert shown[6:].isna().all()
