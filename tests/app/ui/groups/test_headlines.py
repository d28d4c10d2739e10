"""Since when a verdict holds, in the sentence about its group and in a table."""

import re
from datetime import UTC

import numpy as np
import pandas as pd
import pytest

from app.ui.groups.headlines import clocks, predicate
from lag.model import GroupType, LagTotal
from lag.verdict.health import Finding, GroupHealth, TimeLag
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import URGENCY, Status

NOON_MS = 1_795_262_400_000
EXACT = Onset(NOON_MS - 65_000, True, OnsetSource.COMMIT)
AT_LEAST = Onset(NOON_MS - 65_000, False, OnsetSource.WINDOW)
WITH_ONSET = [status for status in URGENCY if status not in (Status.UNKNOWN, Status.OK)]


def stated(status: Status, onset: Onset | None, affected: int = 2, type_: GroupType = GroupType.CONSUMER) -> str:
    """The predicate for a group with that verdict on some of its 3 partitions, at noon."""
    lag = LagTotal(10, 3, 3, 4)
    finding = Finding(status, "", "", onset)
    health = GroupHealth(finding, lag, 1.0, 2.0, TimeLag(None), 60.0, {status: affected}, None, np.empty(0))
    return predicate(health, type_, NOON_MS, UTC)


@pytest.mark.parametrize("status", WITH_ONSET)
def test_every_verdict_with_an_onset_says_its_time_and_how_long_ago_it_was(status: Status) -> None:
    assert "since 11:58:55 (1 min 5 s)" in stated(status, EXACT)


@pytest.mark.parametrize("status", WITH_ONSET)
def test_an_onset_that_is_not_exact_is_a_bound(status: Status) -> None:
    assert "since 11:58:55 or earlier (at least 1 min 5 s)" in stated(status, AT_LEAST)


@pytest.mark.parametrize("status", URGENCY)
def test_without_an_onset_there_is_no_time(status: Status) -> None:
    assert not re.search(r"since|\d\d:\d\d|has been|has had", stated(status, None))


@pytest.mark.parametrize("onset", [None, EXACT])
def test_a_group_without_any_commit_has_none_on_any_partition(onset: Onset | None) -> None:
    assert "on any partition" in stated(Status.NEVER_COMMITTED, onset, affected=3)
    assert "on 2 of 3 partitions" in stated(Status.NEVER_COMMITTED, onset, affected=2)


def test_it_is_the_offsets_that_are_beyond_the_end() -> None:
    confirmed = stated(Status.BEYOND_END, EXACT, affected=3)
    assert confirmed.startswith("has had committed offsets beyond the log end on all partitions since 11:58:55 (")
    assert stated(Status.BEYOND_END, None).startswith("has committed offsets beyond the log end on 2 of 3 partitions: ")


def test_what_began_at_a_known_time_and_goes_on_has_been_so_since_then() -> None:
    assert stated(Status.HELD, EXACT) == "has been held back by an open transaction since 11:58:55 (1 min 5 s)"
    assert stated(Status.HELD, None) == "is held back by an open transaction"
    assert stated(Status.FLAPPING, EXACT) == "has been flapping since 11:58:55 (1 min 5 s): its verdicts come and go"
    assert stated(Status.FLAPPING, None) == "is flapping: its verdicts come and go"


def test_a_column_of_onsets_has_nothing_where_there_is_none() -> None:
    onsets = pd.Series([EXACT, None, AT_LEAST], dtype=object)
    assert clocks(onsets, NOON_MS, UTC).tolist() == ["11:58:55", None, "11:58:55 or earlier"]
    assert clocks(onsets[:0], NOON_MS, UTC).tolist() == []


@pytest.mark.parametrize("onset", [EXACT, AT_LEAST, None])
@pytest.mark.parametrize("affected", [1, 3])
@pytest.mark.parametrize("status", URGENCY)
def test_no_headline_says_that_a_share_group_commits(status: Status, affected: int, onset: Onset | None) -> None:
    assert "commit" not in stated(status, onset, affected, GroupType.SHARE)


@pytest.mark.parametrize("status", [Status.STOPPED, Status.STALLED, Status.NEVER_COMMITTED])
def test_the_headline_of_a_share_group_names_its_start_offset(status: Status) -> None:
    assert "start offset" in stated(status, EXACT, 2, GroupType.SHARE)


def test_a_group_with_only_transaction_markers_left_has_no_records_to_read() -> None:
    lag, finding = LagTotal(2, 3, 3, 1), Finding(Status.OK, "", "")
    health = GroupHealth(finding, lag, None, None, TimeLag(None), None, {}, None, np.empty(0), is_markers_only=True)
    assert predicate(health, GroupType.CONSUMER, NOON_MS, UTC) == (
        "is OK, 2 offsets behind: only transaction markers or aborted records are left"
    )
