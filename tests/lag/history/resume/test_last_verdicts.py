"""The verdicts that a server finds stored when it starts."""

from pathlib import Path

import pytest

from lag.errors import HistoryError
from lag.history.recorder import group_snapshots
from lag.history.resume.last_verdicts import last_verdicts, last_verdicts_or_none
from lag.history.store import History
from lag.verdict.health import Health
from lag.verdict.judge import Past, judge
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import URGENCY, Status
from lag.verdict.window.sample_window import SampleRing
from tests.lag.make import cluster, end, group

START = 1_790_000_000_000
MINUTE = 60_000


def health(polls: int, start_ms: int = START) -> Health:
    """Group "a" is stopped, "b" keeps up; polls come every 30 s."""
    ring, past = SampleRing(), Past()
    for poll in range(polls):
        groups = {"a": group({"t-0": 5}), "b": group({"t-0": 9})}
        snapshot = cluster(groups, {"t-0": end(9)}, poll + 1, start_ms + poll * 30_000)
        found = judge(snapshot, ring.append(snapshot), past=past)
        past = Past(found.onsets or past.onsets)
    return found


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path)
    for polls in (1, 5):
        made.append("group_snapshots", group_snapshots(health(polls)))
    return made


def test_the_last_verdict_of_each_group_comes_back_with_its_onset(history: History) -> None:
    found = last_verdicts(history, "id-test", START + 3 * MINUTE, 0).onsets
    assert found.groups == ("a", "b")
    assert [URGENCY[code] for code in found.status] == [Status.STOPPED, Status.OK]
    assert [found.onsets.at(0), found.onsets.at(1)] == [Onset(START, False, OnsetSource.HISTORY), None]
    assert found.is_unbroken.all()


def test_after_a_longer_gap_polls_are_missing(history: History) -> None:
    assert not last_verdicts(history, "id-test", START + 30 * MINUTE, 0).onsets.is_unbroken.any()


def test_without_stored_polls_of_the_cluster_nothing_comes_back(history: History, tmp_path: Path) -> None:
    assert last_verdicts(history, "another", START + 3 * MINUTE, 0).onsets.groups == ()
    assert last_verdicts(history, "id-test", START, 0).onsets.groups == ()
    assert last_verdicts(History(tmp_path / "none"), "id-test", START, 0).onsets.groups == ()


def test_a_history_that_cannot_be_read_is_reported_and_polling_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = tmp_path / "group_snapshots" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("no Delta log")
    with pytest.raises(HistoryError):
        last_verdicts(History(tmp_path), "id-test", START, 0)
    assert last_verdicts_or_none(History(tmp_path), "id-test", START, 0).onsets.groups == ()
    assert "verdicts before this start are not known" in caplog.text
