"""`groupscope sweep`: rows in the history, once; what is wrong is named and the rest goes on; nothing half."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from app.cli import sweep
from app.server.compat.shutdown import STOP_SIGNALS
from assignors.scenario.dump import document
from lag.history.store import History
from lag.sweeps import sweep_table
from lag.sweeps.plan import LOCAL, SweepRequest, parse_member_counts
from tests.app.cli.commandline import refused, run, running
from tests.app.views.swept import groups

FEW = ("--assignor", "range", "--members", "x1,4")


def fleet(path: Path, *more: str) -> Path:
    lines = [*(json.dumps(document(its)) for its in groups()), *more]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def count(root: Path, table: str) -> int:
    return int(History(root).query(f"SELECT count(*) AS n FROM {table}", table)["n"][0].as_py())


def test_a_sweep_run_again_replaces_its_rows_and_a_wrong_line_is_listed(tmp_path: Path) -> None:
    path = fleet(tmp_path / "fleet.jsonl", '{"name": 1}')
    for _ in range(2):
        done = run("sweep", "--fleet", str(path), "--history", str(tmp_path / "h"), *FEW, "--json")
        assert done.code == 1
        reported = done.document
        assert (reported["groups"], reported["cases"], reported["runner"], reported["without_figures"]) == (
            3,
            6,
            "local",
            0,
        )
        assert {its["where"] for its in reported["problems"]} == {f"{path}:4"}
        assert "6 of 6 cases, " in done.err
    assert (count(tmp_path / "h", "sweeps"), count(tmp_path / "h", "sweep_groups")) == (6, 3)
    named = ("--members", "x1,6", "--sweep-id", "mine")
    other = run("sweep", "--fleet", str(path), "--history", str(tmp_path / "h"), *named)
    assert "as sweep mine" in other.err
    assert other.out.startswith("2 of 3 groups would gain: ")
    assert "its lag drains in 2 min instead of never" in other.out
    assert count(tmp_path / "h", "sweep_groups") == 6


def test_what_cannot_be_asked_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path, history = str(fleet(tmp_path / "fleet.jsonl")), str(tmp_path / "h")
    reported = refused("sweep", "--fleet", path, "--history", history, "--members", "many")
    assert reported.startswith("'many' is not a number of members.")
    assert run("sweep", "--fleet", path, "--snapshot", path, "--history", history).code == 2
    assert not Path(history).exists()


def test_a_sweep_that_is_stopped_while_it_is_written_is_written_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, before = sweep_table.write, {number: signal.getsignal(number) for number in STOP_SIGNALS}

    def interrupted(*its: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        written = real(*its)
        signal.raise_signal(signal.SIGTERM)
        return written

    monkeypatch.setattr(sweep_table, "write", interrupted)
    path, history = fleet(tmp_path / "fleet.jsonl"), str(tmp_path / "h")
    try:
        sweep.run(
            sweep.Source(fleet=path), SweepRequest(("range",), parse_member_counts("x1")), history, LOCAL, None, True
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert (count(tmp_path / "h", "sweeps"), count(tmp_path / "h", "sweep_groups")) == (3, 3)


@pytest.mark.process
def test_a_sweep_that_is_stopped_writes_nothing(tmp_path: Path) -> None:
    path, history = fleet(tmp_path / "fleet.jsonl"), tmp_path / "h"
    arguments = ("--fleet", str(path), "--history", str(history), "--members", "1..3000", "--runner", "local")
    with running(tmp_path, "sweep", *arguments) as reported:
        reported.reported(" cases, ")
        assert reported.ends(signal.SIGINT) == 1
        assert "The sweep was stopped before its end. Nothing was written" in reported.err
    assert not history.exists()
