"""`groupscope simulate`: the summary for people, the tables for programs, and what is refused."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import simulate as command
from assignors.simulation.side_by_side import simulate_all
from tests.app.cli.commandline import refused, run

CRASH = """\
schema_version: 1
name: one of two dies
assignor: sticky
topics:
  - {name: t, partitions: 2}
members:
  - {id: a, topics: [t]}
  - {id: b, topics: [t]}
events:
  - {at: 31s, crash: b}
protocol:
  session.timeout.ms: 10000
  group.initial.rebalance.delay.ms: 0
  simulated.latency.ms: 10
  simulated.append.ms: 0
  simulated.plan.ms: 0
  simulated.heartbeat.spread.ms: 0
"""


@pytest.fixture
def crash(tmp_path: Path) -> str:
    """The story of `test_stories`: its times are derived there."""
    path = tmp_path / "crash.yaml"
    path.write_text(CRASH)
    return str(path)


def test_the_summary_that_people_read(crash: str) -> None:
    done = run("simulate", crash, "--protocol", "eager", "--protocol", "cooperative")
    assert (done.code, done.err) == (0, "")
    assert done.out == dedent("""\
        one of two dies
          protocol     assignor            rebalances  moved  down, total  longest down  longest pause  twice  lost
          eager        sticky                       2      1     11.160 s      11.120 s        0.040 s     10     0
                       seeds 0 to 7                 2      1     11.160 s      11.120 s        0.040 s     10     0
          cooperative  cooperative-sticky           2      1     11.120 s      11.120 s        0.000 s     10     0
                       seeds 0 to 7                 2      1     11.120 s      11.120 s        0.000 s     10     0
        eager, 44.000 s simulated
                 0.070 s  generation 1: first assignment
                42.110 s  generation 2: crash b
        cooperative, 44.000 s simulated
                 0.070 s  generation 1: first assignment
                42.110 s  generation 2: crash b
        """)


def test_the_same_story_under_three_protocols(crash: str) -> None:
    done = run("simulate", crash, *(f"--protocol={name}" for name in ("consumer", "cooperative", "eager")))
    assert (done.code, done.err) == (0, "")
    assert [line.split()[:2] for line in done.out.splitlines()[2:8:2]] == [
        ["consumer", "uniform"],
        ["cooperative", "cooperative-sticky"],
        ["eager", "sticky"],
    ]


def test_the_range_over_seeds_contains_the_figures_of_the_chosen_seed(tmp_path: Path) -> None:
    path = tmp_path / "crash.yaml"
    path.write_text(CRASH.replace("  simulated.heartbeat.spread.ms: 0\n", ""))
    document = run("simulate", str(path), "--seed", "2", "--seeds", "4", "--json").document
    figures, over = document["protocols"]["eager"]["summary"], document["over_seeds"]
    assert over["seeds"] == [2, 3, 4, 5]
    for name, (lowest, highest) in over["protocols"]["eager"].items():
        assert lowest <= figures[name] <= highest
    lowest, highest = over["protocols"]["eager"]["longest_down_ms"]
    assert lowest < highest
    row = run("simulate", str(path), "--seed", "2", "--seeds", "4").out.splitlines()[3]
    assert f"{lowest / 1000:.3f}–{highest / 1000:.3f} s" in row
    assert "seeds 2 to 5" in row


def test_each_seed_is_simulated_once(crash: str, monkeypatch: pytest.MonkeyPatch) -> None:
    simulated: list[int] = []

    def noted(*args: Any, seed: int) -> Any:
        simulated.append(seed)
        return simulate_all(*args, seed=seed)

    monkeypatch.setattr(command, "simulate_all", noted)
    args = [crash, "--protocol", "eager", "--seed", "5", "--seeds", "3", "--json"]
    assert CliRunner().invoke(command.command, args).exit_code == 0
    assert simulated == [5, 6, 7]


def test_one_seed_has_no_range(crash: str) -> None:
    assert "seeds" not in run("simulate", crash, "--seeds", "1").out
    assert run("simulate", crash, "--seeds", "1", "--json").document["over_seeds"] == {"seeds": [0], "protocols": {}}


def test_the_tables_as_one_document(crash: str) -> None:
    done = run("simulate", crash, "--json", "--seed", "3")
    reported = done.document["protocols"]["eager"]
    assert (done.code, done.err, done.document["scenario"], done.document["seed"]) == (0, "", "one of two dies", 3)
    assert list(reported) == [
        *("assignor", "end_ms", "unsettled", "summary", "spans", "group", "messages", "ownership", "callbacks"),
        *("commits", "failures", "generations"),
    ]
    assert reported["spans"][0] == {"member": "a", "state": "joining", "start_ms": 0, "end_ms": 60, "generation": -1}
    assert reported["messages"][0] == {
        "source": "a",
        "target": "brokers",
        "kind": "FindCoordinator",
        "error": None,
        "sent_ms": 0,
        "arrived_ms": 10,
    }
    assert reported["ownership"][0] == {
        "partition": ["t", 0],
        "member": None,
        "hold": "nobody",
        "start_ms": 0,
        "end_ms": 80,
    }
    assert reported["summary"]["down_ms"] == sum(row["down_ms"] for row in reported["summary"]["downtime"]) == 11_160
    assert reported["summary"]["processed"][1] == {
        "partition": ["t", 1],
        "processed": 310 + 140,
        "duplicated": 10,
        "lost": 0,
    }
    assert {row["error"] for row in reported["commits"]} == {None}
    assert reported["generations"][1]["assignment"] == {"a": [["t", 0], ["t", 1]]}
    assert {call["name"] for call in reported["callbacks"]} == {"onPartitionsAssigned", "onPartitionsRevoked"}


def test_the_latency_of_the_command_line_takes_the_place_of_the_files(crash: str) -> None:
    done = run("simulate", crash, "--json", "--latency-ms", "0")
    assert {row["arrived_ms"] - row["sent_ms"] for row in done.document["protocols"]["eager"]["messages"]} == {0}


def test_a_story_that_never_comes_to_rest_says_so(tmp_path: Path) -> None:
    path = tmp_path / "slow.yaml"
    path.write_text(CRASH + "  max.poll.interval.ms: 60000\n  simulated.processing.ms: 80000\n")
    done = run("simulate", str(path))
    assert done.code == 0
    assert done.out.endswith("never became stable: a processes for longer than max.poll.interval.ms\n")
    assert done.err == "warning: eager never became stable: a processes for longer than max.poll.interval.ms\n"
    assert run("simulate", str(path), "--json").document["protocols"]["eager"]["unsettled"] is not None


def test_retries_that_take_no_time_are_reported_and_are_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "timeless.yaml"
    away = "  - {at: 20s, coordinator_down: true}\n  - {at: 21s, coordinator_up: true}\n  - {at: 31s, crash: b}\n"
    timeless = CRASH.replace("latency.ms: 10", "latency.ms: 0") + "  retry.backoff.ms: 0\n"
    path.write_text(timeless.replace("  - {at: 31s, crash: b}\n", away))
    done = run("simulate", str(path), "--protocol", "consumer", "--seeds", "1")
    assert (done.code, done.err) == (
        0,
        "warning: consumer never became stable: more than 200,000 events in the millisecond at 20.000 s, "
        "so time does not advance; raise simulated.latency.ms or retry.backoff.ms above 0\n",
    )


def test_a_standalone_committer_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(CRASH + "  enable.auto.commit: false\n")
    done = run("simulate", str(path), "--json")
    summary = done.document["protocols"]["eager"]["summary"]
    assert (summary["duplicated"], summary["lost"], summary["processed"]) == (None, None, None)


def test_settings_that_kafka_refuses_are_named_with_its_error(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(CRASH.replace("10000", "1000") + "  sesion.timeout.ms: 1\n")
    reported = refused("simulate", str(path))
    assert reported == "protocol: Kafka has no setting 'sesion.timeout.ms'. Did you mean 'session.timeout.ms'?"
    path.write_text(CRASH.replace("10000", "4000"))
    assert "INVALID_SESSION_TIMEOUT (26)" in refused("simulate", str(path))


def test_wrong_protocols_are_wrong_usage(crash: str) -> None:
    done = run("simulate", crash, "--protocol", "lazy")
    assert (done.code, done.out) == (2, "")
    assert "'lazy' is not one of eager, cooperative, consumer" in done.err


def test_a_file_that_is_no_scenario_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    path.write_text("schema_version: 1\n")
    assert refused("simulate", str(path)).startswith(f"{path}:1: ")
