"""`groupscope pipeline`: stream, roll-up, compaction, status as a person and a program see them, on one session."""

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from app.cli import cli
from app.cli.pipeline import _report_piece, _roll_up, compact, status
from lag.embedded.broker import EmbeddedKafka
from lag.errors import ConfigError, GroupscopeError, HistoryError
from lag.history.resume.rollup_progress import LAST_COMMITS, RollupProgress, save_progress
from lag.history.resume.stream_progress import NEVER, mark_read
from lag.history.store import History
from lag.pipeline import session as session_module
from lag.pipeline import stream as stream_module
from lag.pipeline.checkpoint import Gap
from lag.pipeline.rollup import Piece
from lag.pipeline.stream import Listeners, Outcome, Source
from tests.lag.history.rows import NOON, rows
from tests.lag.pipeline.broker_side import commit, places, records

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]


@dataclass(frozen=True)
class Said:
    out: str
    err: str

    @property
    def document(self) -> Any:
        assert self.out.count("\n") == 1
        return json.loads(self.out)


Call = Callable[..., Said]


@pytest.fixture
def call(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Call]:
    """Run a command to its end, on the session of this module."""
    monkeypatch.setattr(session_module, "session", lambda: nullcontext(spark))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def called(name: str, history: Path, *args: str) -> Said:
        done = CliRunner().invoke(cli, ["pipeline", name, "--history", str(history), *args])
        if isinstance(done.exception, GroupscopeError):
            raise done.exception
        assert done.exit_code == 0, done.output
        return Said(done.stdout, done.stderr)

    yield called
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def cluster_with_commits(cluster: EmbeddedKafka) -> str:
    """Its address; one group that has committed."""
    commit(cluster.bootstrap_servers, "billing", {("orders", partition): 7 for partition in range(4)})
    return cluster.bootstrap_servers


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history that the tests below fill one after the other."""
    return tmp_path_factory.mktemp("history")


@pytest.mark.long
def test_the_stream_reports_its_progress_and_what_it_added(call: Call, cluster_with_commits: str, root: Path) -> None:
    servers = cluster_with_commits
    stated = call("stream", root, "--bootstrap-server", servers, "--once", "--json")
    truth = records(servers)
    assert stated.document["rows"] == {
        "commits": len(places(truth, commits=True)), "group_events": len(places(truth, commits=False)),
        "decode_errors": 0,
    }  # fmt: skip
    assert (stated.document["gaps"], stated.document["unknown_types"]) == ([], {})
    assert "Spark is starting\nbatch 0: " in stated.err
    assert stated.err.rstrip().endswith("/s, 0 offsets behind")
    again = call("stream", root, "--bootstrap-server", servers, "--once")
    assert again.out.splitlines()[0].split() == ["TABLE", "ROWS", "ADDED"]
    assert again.out.splitlines()[1].split() == ["commits", "0"]


@pytest.mark.long
def test_the_roll_up_reports_its_progress_and_what_it_wrote(call: Call, root: Path) -> None:
    history = History(root)
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    polls = [
        {"cluster": cluster_of(history), "topic": "orders", "poll_ts": now - timedelta(minutes=30 - n),
         "partition": 0, "log_end": 10, "last_stable": 10}
        for n in range(3)
    ]  # fmt: skip
    history.append("end_offsets", rows("end_offsets", *polls))
    old = {"cluster": cluster_of(history), "group_id": "old", "topic": "orders", "committed": 4}
    history.append("commits", rows("commits", old | {"src_ts": now - timedelta(hours=4)}))
    stated = call("rollup", root, "--once", "--json")
    assert set(stated.document["rows"]) == {
        "lag_1m", "lag_1h", "lag_group_topic_1m", "group_health_1m", "slo_burn",
    }  # fmt: skip
    first, last = stated.err.splitlines()
    assert first == "Spark is starting"
    assert " rows, " in last
    assert last.endswith("/s")
    written = {name: len(history.query(f"SELECT 1 FROM {name}", name)) for name in stated.document["rows"]}
    assert written == stated.document["rows"]
    assert written["lag_1m"] > 0


def test_a_long_roll_up_says_how_far_behind_it_is_and_when_it_will_be_done(capsys: pytest.CaptureFixture[str]) -> None:
    """Two of five hours took 30 s."""
    begin = datetime(2026, 11, 22, 12, tzinfo=UTC)
    _report_piece(Piece(begin, begin + timedelta(hours=2), {"lag_1m": 900, "lag_1h": 300}, 30.0), timedelta(hours=3))
    assert capsys.readouterr().err == "2026-11-22 12:00 to 14:00: 1,200 rows, 40/s, 3.0 h behind, about 45 s left\n"


def test_what_a_stream_could_not_read_is_a_warning_when_it_is_found_and_in_the_result(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gap, outcome = Gap(1, 5, 8), Outcome("c1")

    def run(_: bool, heard: Listeners) -> None:
        outcome.gaps += (gap,)
        heard.gap(gap)

    source = SimpleNamespace(topic=SimpleNamespace(cluster_id="c1"))
    monkeypatch.setattr(Source, "of", lambda _: source)
    monkeypatch.setattr(stream_module, "Stream", lambda *_: SimpleNamespace(outcome=outcome, run=run))
    stated = call("stream", tmp_path, "--bootstrap-server", "localhost:9", "--once", "--json")
    assert stated.err.splitlines() == ["Spark is starting", f"warning: {gap}"]
    assert stated.document["gaps"] == [{"partition": 1, "since": 5, "until": 8}]


def cluster_of(history: History) -> str:
    return str(history.query("SELECT cluster FROM commits LIMIT 1", "commits")["cluster"][0].as_py())


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A history of one group's two commits, in two files of one day."""
    for committed in range(2):
        reported = {"cluster": "c", "group_id": "billing", "topic": "orders", "src_offset": committed}
        History(tmp_path).append("commits", rows("commits", {**reported, "committed": committed}))
    return tmp_path


def test_compaction_says_what_it_did(call: Call, kept: Path) -> None:
    stated = call("compact", kept, "--json")
    tables = {one["table"]: one for one in stated.document["tables"]}
    assert [tables["commits"][name] for name in ("files_before", "files_after", "days_dropped")] == [2, 1, 0]
    assert "commits: merging files" in stated.err
    heads = call("compact", kept).out.splitlines()[0]
    assert heads.split("  ")[0] == "TABLE"


def test_a_damaged_table_does_not_keep_the_others_from_being_compacted(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`commits` is the first of the tables."""
    for number in range(2):
        History(kept).append("end_offsets", rows("end_offsets", {"partition": number}))
    (log,) = (kept / "commits").glob("_delta_log/*0.json")
    log.write_text("not json")
    with pytest.raises(HistoryError, match=f"The history at {kept}/commits cannot be used"):
        compact(str(kept), json=True)
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert [(one["table"], one["files_after"], one["days_left"]) for one in tables] == [("end_offsets", 1, 0)]


@pytest.mark.parametrize(
    ("behind", "reported"),
    [
        (timedelta(minutes=4), ""),
        (timedelta(minutes=70), "the stream has read up to {:%Y-%m-%d %H:%M} UTC"),
        (None, "the stream has read nothing yet"),
    ],
)
def test_a_roll_up_that_waits_for_the_stream_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], behind: timedelta | None, reported: str
) -> None:
    history, read = History(tmp_path), NEVER if behind is None else datetime.now(UTC) - behind
    history.append("end_offsets", rows("end_offsets", {"poll_ts": datetime.now(UTC)}))
    mark_read(history, "c1", read)
    _roll_up(history, SimpleNamespace(run=lambda *_: []), Counter())
    stated = (
        f"warning: {reported}; later minutes are not rolled up. Run groupscope pipeline stream\n" if reported else ""
    )
    assert capsys.readouterr().err == stated.format(read)


def test_a_roll_up_of_a_history_that_no_dashboard_writes_says_why_there_is_no_lag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history, now = History(tmp_path), datetime.now(UTC)
    nothing = SimpleNamespace(run=lambda *_: [])
    history.append("end_offsets", rows("end_offsets", {"poll_ts": now - timedelta(days=2)}))
    _roll_up(history, nothing, Counter())
    assert capsys.readouterr().err == (
        f"warning: no log ends are recorded since {now.date() - timedelta(days=1)}, so lag cannot be computed. "
        f"Run groupscope serve --history {tmp_path}\n"
    )
    history.append("end_offsets", rows("end_offsets", {"poll_ts": now}))
    _roll_up(history, nothing, Counter())
    assert capsys.readouterr().err == ""


def test_status_says_what_each_table_holds(call: Call, kept: Path) -> None:
    history = History(kept)
    tables = {one["table"]: one for one in call("status", kept, "--json").document["tables"]}
    assert tables["commits"]["rows"] == len(history.query("SELECT 1 FROM commits", "commits"))
    assert tables["commits"]["last_day"] == NOON.date().isoformat()
    assert call("status", kept).out.splitlines()[1].split()[0] == "commits"


@pytest.mark.parametrize("json", [False, True])
def test_status_of_a_folder_without_a_history_is_an_error(tmp_path: Path, json: bool) -> None:
    with pytest.raises(HistoryError, match=r"There is no history at .*nowhere"):
        status(str(tmp_path / "nowhere"), json=json)
    file = tmp_path / "file"
    file.write_text("text")
    with pytest.raises(HistoryError, match="cannot be used: it is not a folder"):
        status(str(file), json=json)


def test_status_says_how_far_stream_and_roll_up_have_come(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history, read = History(tmp_path), datetime.now(UTC) - timedelta(minutes=2, seconds=5)
    mark_read(history, "c1", read)
    mark_read(history, "c2", NEVER)
    save_progress(history, RollupProgress({"c1": NOON}, NOON, LAST_COMMITS.empty_table()))
    status(str(tmp_path), json=True)
    assert json.loads(capsys.readouterr().out)["progress"] == [
        {"cluster": "c1", "read_until": read.isoformat(), "rolled_up_until": NOON.isoformat()},
        {"cluster": "c2", "read_until": None, "rolled_up_until": None},
    ]
    status(str(tmp_path), json=False)
    first, second = capsys.readouterr().out.splitlines()[-2:]
    assert first.startswith(f"c1       {read:%Y-%m-%d %H:%M:%S} UTC, 2 min 5 s ago  {NOON:%Y-%m-%d %H:%M:%S} UTC, ")
    assert second.split() == ["c2", "-", "-"]


def test_levels_are_taken_from_the_file_or_the_environment(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Spark starts."""
    wrong = tmp_path / "slo.toml"
    wrong.write_text("[[slo]]\n")
    for named in (["--slo", str(wrong)], []):
        with pytest.raises(ConfigError, match=r"slo\.0\.slo_id: Field required"):
            call("rollup", tmp_path / "history", "--once", *named)
        monkeypatch.setenv("GROUPSCOPE_SLO", str(wrong))


def test_an_unreachable_cluster_is_reported_before_spark_starts(call: Call, tmp_path: Path) -> None:
    with pytest.raises(GroupscopeError) as refused:
        call("stream", tmp_path / "history", "--bootstrap-server", "127.0.0.1:1", "--once")
    assert refused.value.hint
