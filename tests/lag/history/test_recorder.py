"""What the collectors read becomes rows; a history that cannot be written holds up nothing and fills nothing."""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest

from lag.errors import HistoryError
from lag.history import recorder
from lag.history.recorder import RecorderStatus, SnapshotRecorder, end_offsets, group_snapshots
from lag.history.store import History
from lag.model import INTERNAL_GROUP_PREFIX, ClusterSnapshot
from lag.polling.collector import Collector
from lag.verdict.catalogue import STORED
from lag.verdict.health import Health
from lag.verdict.judge import judge
from lag.verdict.rules.status_rules import MARKERS_ONLY
from lag.verdict.status import Status
from lag.verdict.window.sample_window import SampleRing
from tests.lag.history.past import STATUS_OF
from tests.lag.make import cluster, deleted, end, failed, group, judged
from tests.lag.polling.test_collector import Script, clock
from tests.support.waiting import wait_until

TOPIC_ID = UUID("6b2f8a10-3c4d-4e5f-8a9b-0c1d2e3f4a5b")
AT = datetime(2026, 11, 22, 12, 0, 0, 250_000, UTC)


def snapshot(number: int = 1, at_ms: int = round(AT.timestamp() * 1000)) -> ClusterSnapshot:
    """Two groups; nobody reads `idle`, `gone` was deleted, `t-1` has no leader."""
    groups = {"g": group({"t-0": 90, "t-1": 5, "gone-0": 7}, 2), "h": group({}, 0, state="Empty")}
    ends = {
        "t-0": replace(end(100, start=10, stable=99), leader_epoch=7),
        "t-1": failed(),
        "gone-0": deleted(),
        "idle-0": end(3),
    }
    return cluster(groups, ends, number, at_ms, topic_ids={"t": str(TOPIC_ID), "idle": str(TOPIC_ID)})


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def test_end_offsets_are_those_of_partitions_that_groups_have_to_do_with() -> None:
    rows = end_offsets(snapshot()).to_pylist()
    assert [(row["topic"], row["partition"]) for row in rows] == [("gone", 0), ("t", 0), ("t", 1)]
    gone, first, second = rows
    assert first == {
        "cluster": "id-test", "topic": "t", "topic_id": TOPIC_ID.bytes, "partition": 0, "poll_ts": AT,
        "log_start": 10, "log_end": 100, "last_stable": 99, "leader_epoch": 7, "err": 0, "dt": AT.date(),
    }  # fmt: skip
    assert (gone["topic_id"], gone["log_end"], gone["err"]) == (None, None, 4)
    assert (second["log_start"], second["log_end"], second["leader_epoch"], second["err"]) == (None, None, None, 5)


def test_group_snapshots_say_what_their_lag_covers() -> None:
    group_g, group_h = group_snapshots(judged([snapshot()])).to_pylist()
    assert group_g == {
        "cluster": "id-test", "poll_ts": AT, "group_id": "g", "type": "classic", "state": "Stable", "coordinator": 1,
        "assignor": "range", "epoch": None, "members": 2, "lag": 10, "lag_known": 1, "lag_partitions": 3,
        "complete": True, "status": STORED[Status.TOPIC_DELETED], "time_lag_ms": None, "markers": 0,
        "onset": AT, "onset_is_exact": False, "onset_source": "window", "opened": None, "open_status": None,
        "dt": AT.date(),
    }  # fmt: skip
    assert (group_h["state"], group_h["members"], group_h["lag"], group_h["lag_partitions"]) == ("Empty", 0, 0, 0)


def polls(seconds: int, ends: Callable[[int], int], commits: Callable[[int], int | None]) -> list[ClusterSnapshot]:
    """A poll every ten seconds of a group on one partition."""
    return [
        cluster({"g": group({"t-0": commits(at)}, 1)}, {"t-0": end(ends(at))}, at // 10, at * 1000)
        for at in range(0, seconds + 1, 10)
    ]


def verdict(health: Health) -> tuple[Status | None, int | None, int]:
    """What is recorded of the only group: its status, time lag and partitions with markers."""
    (row,) = group_snapshots(health).to_pylist()
    return None if row["status"] is None else STATUS_OF[row["status"]], row["time_lag_ms"], row["markers"]


def test_a_group_that_falls_behind_is_recorded_as_such() -> None:
    falls = judged(polls(300, lambda at: 100 + 10 * at, lambda at: 100 + 5 * at))
    assert verdict(falls)[0] is falls.groups[0].finding.status is Status.FALLING_BEHIND


def test_a_group_that_stopped_is_not_ok_before_the_window_is_long_enough() -> None:
    stopped = polls(100, lambda at: 100 + at, lambda _: 90)
    assert [verdict(judged(stopped[: number + 1]))[0] for number in range(11)] == [*[None] * 9, *[Status.STOPPED] * 2]


def test_what_may_be_a_marker_is_noted_and_counts_for_no_time_lag() -> None:
    assert verdict(judged(polls(300, lambda _: 100, lambda _: 99))) == (Status.OK, None, 1)


def test_nothing_waits_where_only_markers_are_left() -> None:
    snapshots = polls(300, lambda _: 100, lambda _: 99)
    trend = SampleRing()
    window = [trend.append(one) for one in snapshots][-1]
    left = np.array([MARKERS_ONLY], np.uint8)
    assert verdict(judge(snapshots[-1], window, remainders=left)) == (Status.OK, 0, 1)


def test_a_group_that_has_read_everything_has_no_time_lag() -> None:
    assert verdict(judged(polls(300, lambda at: 100 + at, lambda at: 100 + at))) == (Status.OK, 0, 0)


def test_a_group_of_which_nothing_could_be_read_has_an_unknown_time_lag() -> None:
    assert verdict(judged([cluster({"g": group({}, 0, complete=False)}, {})])) == (Status.UNKNOWN, None, 0)


def test_the_members_of_a_group_that_could_not_be_described_are_not_known() -> None:
    """Unlike those of an empty group, and of one whose offsets alone could not be read."""
    groups = {
        "empty": group({}, 0, state="Empty"),
        "no offsets": group({"t-0": 1}, 2, complete=False),
        "empty, no offsets": group({"t-0": 1}, 0, state="Empty", complete=False),
        "undescribed": group({"t-0": 1}, 0, complete=False),
    }
    rows = group_snapshots(judged([cluster(groups, {"t-0": end(2)})])).to_pylist()
    members = {row["group_id"]: row["members"] for row in rows}
    assert members == {"empty": 0, "empty, no offsets": 0, "no offsets": 2, "undescribed": None}


def test_our_own_readers_groups_are_left_out() -> None:
    made = cluster({f"{INTERNAL_GROUP_PREFIX}x": group({"t-0": 1}), "g": group({"t-0": 1})}, {"t-0": end(2)})
    assert group_snapshots(judged([made]))["group_id"].to_pylist() == ["g"]


def test_everything_that_a_collector_reads_is_there_when_it_has_stopped(history: History) -> None:
    script = Script(snapshot)
    with SnapshotRecorder(history, flush_s=0.05) as made:
        collector = Collector("test", script.connect, 0.01, record=made.observe, clock_ms=clock())
        collector.start()
        collector.wait_for(5, 20)
        collector.stop()
    polls = [at_ms for _, at_ms in script.asked]
    found = history.query("SELECT DISTINCT poll_ts FROM end_offsets ORDER BY poll_ts", "end_offsets")
    assert [round(at.timestamp() * 1000) for at in found["poll_ts"].to_pylist()] == polls
    assert len(history.query("SELECT 1 FROM group_snapshots", "group_snapshots")) == 2 * len(polls)


def test_what_cannot_be_written_waits_and_is_reported_once(
    history: History, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = SnapshotRecorder(history)
    with monkeypatch.context() as patch:
        patch.setattr(History, "append", _full)
        for number in range(3):
            made.observe(judged([snapshot(number)]))
            made.flush()
    assert [(record.levelno, record.message) for record in caplog.records] == [(logging.WARNING, "full. Free some")]
    assert made.waiting_rows() == 3 * 5
    made.flush()
    assert made.waiting_rows() == 0
    assert len(history.query("SELECT 1 FROM end_offsets", "end_offsets")) == 9


def test_a_damaged_log_is_known_before_anything_is_written_and_gone_when_it_is_whole_again(history: History) -> None:
    with SnapshotRecorder(history) as made:
        made.observe(judged([snapshot()]))
    log = Path(history.table_path("end_offsets"), "_delta_log", f"{0:020}.json")
    whole = log.read_bytes()
    log.write_bytes(b"{no json")
    with SnapshotRecorder(history, flush_s=3600) as made:
        wait_until(lambda: made.status().problems)
        (problem,) = made.status().problems
        assert problem.startswith(f"The history at {history.table_path('end_offsets')} cannot be used")
        made.observe(judged([snapshot(2)]))
        made.flush()
        assert made.status() == RecorderStatus((problem,), waiting=3)
        log.write_bytes(whole)
        made.flush()
        assert made.status() == RecorderStatus()


def test_a_folder_that_cannot_be_made_is_known_with_the_first_rows(tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("no folder")
    with SnapshotRecorder(History(tmp_path / "file" / "history"), flush_s=0.01) as made:
        made.observe(judged([snapshot()]))
        wait_until(lambda: made.status().problems)
        assert made.status().waiting == 5


def test_two_recorders_on_one_history_lose_and_double_nothing(history: History) -> None:
    with SnapshotRecorder(history, flush_s=0.01) as one, SnapshotRecorder(history, flush_s=0.01) as two:
        for number in range(20):
            for made, at_ms in ((one, 1000 * number), (two, 1000 * number + 500)):
                made.observe(judged([snapshot(number, at_ms)]))
    sql = "SELECT poll_ts, COUNT(*) AS rows FROM end_offsets GROUP BY poll_ts ORDER BY poll_ts"
    rows = history.query(sql, "end_offsets").to_pylist()
    assert [(row["poll_ts"].timestamp(), row["rows"]) for row in rows] == [(0.5 * at, 3) for at in range(40)]


def _full(_: History, name: str, rows: object) -> None:
    raise HistoryError("full", "Free some")


def test_what_waits_is_bounded_and_the_oldest_is_given_up_and_reported(
    history: History, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A poll is 3 and 2 rows. Told when it begins, and how many are missing when it is over."""
    monkeypatch.setattr(recorder, "MAX_WAITING_ROWS", 12)
    made = SnapshotRecorder(history)
    for second in range(100):
        made.observe(judged([snapshot(second, second * 1000)]))
        assert made.waiting_rows() <= 12
    made.flush()
    found = history.query("SELECT DISTINCT poll_ts FROM end_offsets ORDER BY poll_ts", "end_offsets")
    assert [at.timestamp() for at in found["poll_ts"].to_pylist()] == [98, 99]
    kept = len(history.query("SELECT 1 FROM end_offsets", "end_offsets"))
    kept += len(history.query("SELECT 1 FROM group_snapshots", "group_snapshots"))
    made.flush()
    assert [record.message for record in caplog.records] == [
        "The history cannot be written fast enough: the oldest polls are dropped",
        f"The history is being written again; {100 * 5 - kept} rows of polls are missing",
    ]


def test_a_table_that_cannot_be_written_does_not_hold_up_the_other(
    history: History, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    append = History.append

    def broken(self: History, name: str, rows: pa.Table) -> None:
        if name == "end_offsets":
            raise HistoryError("damaged", "Restore it")
        append(self, name, rows)

    monkeypatch.setattr(History, "append", broken)
    made = SnapshotRecorder(history)
    for number in range(2):
        made.observe(judged([snapshot(number)]))
        made.flush()
    assert (made.waiting_rows(), len(history.query("SELECT 1 FROM group_snapshots", "group_snapshots"))) == (6, 4)
    assert [record.message for record in caplog.records] == ["damaged. Restore it"]


def test_polls_are_written_while_the_files_are_put_together(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long that takes; that of one table fails, the other one is cared for all the same."""
    cared, written = [], Event()

    def long_care(_: History, name: str, now: datetime) -> None:
        cared.append(name)
        assert written.wait(30)
        if name == "end_offsets":
            raise HistoryError("damaged", "Restore it")

    monkeypatch.setattr(recorder, "maintain", long_care)
    with SnapshotRecorder(history, flush_s=0.01, maintenance_s=0.01) as made:
        wait_until(lambda: cared)
        made.observe(judged([snapshot()]))
        wait_until(lambda: made.waiting_rows() == 0)
        written.set()
        wait_until(lambda: "group_snapshots" in cared)
    assert len(history.query("SELECT 1 FROM end_offsets", "end_offsets")) == 3
    assert cared[:2] == ["end_offsets", "group_snapshots"]


def test_a_cluster_without_an_id_is_not_kept(history: History) -> None:
    made = SnapshotRecorder(history)
    made.observe(judged([replace(snapshot(), cluster_id=None)]))
    assert made.waiting_rows() == 0
