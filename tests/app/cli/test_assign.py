"""`groupscope assign`: generations as JSON in the shape of the design, or as a difference that people can read."""

import itertools
import json
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from assignors.scenario import examples
from tests.app.cli.commandline import refused, run
from tests.support.forge import COMMAND

ROOT = Path(__file__).parents[3]
BUFFERED = {"PYTHONUNBUFFERED": ""}  # as Python is by itself; where it is set, no output can get lost
WEIGHTED, CONSISTENT = "docs.plugins.weighted:Weighted", "docs.plugins.consistent:Consistent"

PLUGINS = """\
import os, sys, time
from assignors.model import Assignment


class Sound:
    name = "sound"

    def assign(self, group):
        print("noise on stdout")
        first = group.members[0]
        return Assignment(None, {m.member_id: [] for m in group.members} | {first.member_id: list(everything(group))})


def everything(group):
    from assignors.model import TopicPartition

    return (TopicPartition(t.name, n) for t in group.topics.values() for n in range(t.partitions))


class Raises(Sound):
    def assign(self, group):
        raise ValueError("no idea")


class Hangs(Sound):
    def assign(self, group):
        while True:
            time.sleep(1)


class Dies(Sound):
    def assign(self, group):
        print("last words", end="")
        os._exit(3)


class Leaves(Sound):
    def assign(self, group):
        sys.exit(4)


class Forgets(Sound):
    def assign(self, group):
        return Assignment(None, {m.member_id: [] for m in group.members})


class Doubles(Sound):
    def assign(self, group):
        return Assignment(None, {m.member_id: list(everything(group)) for m in group.members})
"""


def example(name: str) -> str:
    return str(examples()[name])


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A working directory with plugins in it, and an `app` that is not ours."""
    (tmp_path / "strange.py").write_text(PLUGINS)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("raise SystemExit('the wrong app')")
    return tmp_path


@pytest.mark.process
def test_the_document_of_the_design() -> None:
    done = run("assign", example("range-overload"), "--json")
    (name, reported), *others = done.document["assignors"].items()
    first, second = reported["generations"]
    assert (done.code, done.err, name, others) == (0, "", "range", [])
    assert list(first) == ["number", "event", "assignment", "moves", "quality"]
    assert (first["number"], first["event"]) == (1, "first assignment")
    assert first["assignment"] == {
        "c1": [["clicks", 0], ["clicks", 1], ["views", 0], ["views", 1]],
        "c2": [["clicks", 2], ["views", 2]],
    }
    assert {"partitions": 6, "most": 4, "fewest": 2, "stickiness": None, "skews": {}}.items() <= first[
        "quality"
    ].items()
    kept = {("clicks", 0), ("views", 1), ("views", 2)}
    assert kept.isdisjoint((move["topic"], move["partition"]) for move in second["moves"])
    assert second["moves"][0] == {
        "topic": "clicks",
        "partition": 1,
        "source": "c1",
        "target": "c2",
        "kind": "gained",
    }
    assert len(second["moves"]) == 6 - len(kept)


def test_a_drain_that_never_ends_is_null_with_its_reason() -> None:
    done = run("assign", example("hot-member"), "--json")
    drain = done.document["assignors"]["uniform"]["generations"][0]["quality"]["drain"]
    assert drain["seconds"] is None
    assert drain["reason"].endswith("records a second arrive, and it can process 1,000")
    assert "Infinity" not in done.out
    assert "NaN" not in done.out


def test_the_difference_that_people_read() -> None:
    done = run("assign", example("cooperative-hand-over"))
    assert (done.code, done.err) == (0, "")
    assert done.out == dedent("""\
        cooperative hand-over with cooperative-sticky
          7  at 0 s: initial state
             = 6 of 6 assigned; 3 each; 6 kept, 0 moved, 0 paused
          8  at 10 s: c3 joins
             c1  -1 (orders 2)
             c2  -1 (orders 5)
             = 4 of 6 assigned; 0 to 2 each; 1 idle; 4 kept, 2 moved, 2 paused
          9  at 10 s: c3 joins (rebalance 2)
             c3  +2 (orders 2,5)
             = 6 of 6 assigned; 2 each; 4 kept, 0 moved, 0 paused
        """)


def test_at_100_000_partitions_a_generation_is_at_most_40_lines_of_120() -> None:
    lines = run("assign", example("100000-partitions")).out.splitlines()
    heads = [number for number, line in enumerate(lines) if line[:2] == "  " and line[2].isdigit()] + [len(lines)]
    assert len(heads) == 6
    assert max(after - head for head, after in itertools.pairwise(heads)) <= 40
    assert max(map(len, lines)) <= 120
    assert "     and 64 more members (use --json)" in lines


def test_several_assignors_each_once() -> None:
    done = run("assign", example("range-overload"), "--json", *("--assignor", "sticky", "--assignor", "range") * 2)
    assert list(done.document["assignors"]) == ["sticky", "range"]


def test_all_that_fit() -> None:
    done = run("assign", example("range-overload"), "--json", "--assignor", "all")
    fitting = ["range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range"]
    assert list(done.document["assignors"]) == fitting


def test_a_share_group_has_an_assignor_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "share.yaml"
    path.write_text("schema_version: 1\nname: share\nassignor: share-simple\n")
    done = run("assign", str(path), "--json", "--assignor", "all")
    assert list(done.document["assignors"]) == ["share-simple"]


def test_an_assignor_that_is_unknown_leaves_the_others_standing() -> None:
    done = run("assign", example("range-overload"), "--json", "--assignor", "stick", "--assignor", "range")
    assert done.code == 1
    assert done.document["assignors"]["stick"] == {"error": "No assignor is named 'stick'. Did you mean 'sticky'?"}
    assert len(done.document["assignors"]["range"]["generations"]) == 2
    plain = run("assign", example("range-overload"), "--assignor", "stick")
    reported = "error: stick: No assignor is named 'stick'. Did you mean 'sticky'?\n"
    assert (plain.code, plain.out, plain.err) == (1, "", reported)


def test_a_file_that_is_no_scenario(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("schema_version: 2\nname: x\n")
    reported = [
        f"{path}:1: schema_version: This must be 1.",
        f"{path}:1: assignor: The key 'assignor' is missing.",
    ]
    assert refused("assign", str(path)).splitlines() == reported
    assert run("assign", str(path), "--json").document == {"error": {"cause": "\n".join(reported), "hint": ""}}


def test_a_scenario_that_would_take_minutes_and_gigabytes_is_refused(tmp_path: Path) -> None:
    events = [{"at": f"{at + 1}s", "restart": "a"} for at in range(25)]
    its = {"schema_version": 1, "name": "x", "assignor": "range", "topics": [{"name": "t", "partitions": 999_999}]}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(its | {"members": [{"id": "a", "topics": ["t"]}], "events": events}))
    size = "999,999 partitions, 1 member and 25 events are too many"
    assert refused("assign", str(path)) == f"{size}. Remove events, or divide them into several scenarios"


@pytest.mark.process
def test_stdin_is_a_file_too() -> None:
    text = examples()["range-overload"].read_bytes()
    done = subprocess.run([COMMAND, "assign", "-", "--json"], input=text, capture_output=True, check=False)
    assert done.stdout.decode() == run("assign", example("range-overload"), "--json").out


def test_an_odd_scenario_is_planned_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text("schema_version: 1\nname: odd\nassignor: range\nmembers: [{id: c1, topics: [gone]}]\n")
    done = run("assign", str(path))
    reported = (
        f"warning: {path}:4: members[0].topics[0]: No topic is ever named 'gone', so nothing is assigned for it.\n"
    )
    assert (done.code, done.err) == (0, reported)


# -- plugins -----------------------------------------------------------------------------------------------------------


def test_the_worked_examples_stand_beside_the_scenarios_own() -> None:
    done = run(
        "assign", example("hot-member"), "--json", "--plugin", WEIGHTED, "--plugin", CONSISTENT, env={}, cwd=ROOT
    )
    assert (done.code, done.err) == (0, "")
    assert list(done.document["assignors"]) == ["uniform", WEIGHTED, CONSISTENT]
    counts = {
        member: len(partitions)
        for member, partitions in done.document["assignors"][WEIGHTED]["generations"][0]["assignment"].items()
    }
    assert counts == {"big-1-x4": 6, "small-1": 1, "small-2": 1}  # 4 : 1 : 1 of 8


def test_what_a_plugin_prints_spoils_nothing(strange: Path) -> None:
    done = run("assign", example("range-overload"), "--json", "--plugin", "strange:Sound", env=BUFFERED, cwd=strange)
    assert (done.code, done.err) == (0, "noise on stdout\n")  # the scenario goes on with roundrobin
    first = done.document["assignors"]["strange:Sound"]["generations"][0]
    assert [len(partitions) for partitions in first["assignment"].values()] == [6, 0]


def test_a_plugin_dies_and_what_it_has_printed_is_there(strange: Path) -> None:
    done = run("assign", example("range-overload"), "--json", "--plugin", "strange:Dies", env=BUFFERED, cwd=strange)
    assert (done.code, done.err) == (1, "last words")


BROKEN = {
    "strange:Raises": "The assignor 'sound' raised ValueError: no idea",
    "strange:Dies": "The assignor 'strange:Dies' ended its process with exit code 3 before it had a plan.",
    "strange:Leaves": "The assignor 'sound' raised SystemExit: 4",
    "strange:Forgets": "The plan of 'sound' is broken. clicks-0, clicks-1, clicks-2 and 3 more have no owner.",
    "strange:Doubles": "The plan of 'sound' is broken. clicks-0 goes to both 'c1' and 'c2'. clicks-1 goes to both",
    "strange:Nothing": "The assignor 'strange:Nothing' cannot be loaded: AttributeError: module 'strange' has no attri",
    "nowhere:X": "The assignor 'nowhere:X' cannot be loaded: ModuleNotFoundError: No module named 'nowhere'.",
    "os:getcwd": "'os:getcwd' is not an assignor: it needs a name and a method assign(group).",
}


def test_plugins_that_are_not_what_they_should_be_are_reported_and_the_others_stand(strange: Path) -> None:
    plugins = [part for name in BROKEN for part in ("--plugin", name)]
    done = run("assign", example("range-overload"), "--json", *plugins, cwd=strange)
    outcomes = done.document["assignors"]
    assert done.code == 1
    assert len(outcomes["range"]["generations"]) == 2
    assert [name for name, reported in BROKEN.items() if not outcomes[name]["error"].startswith(reported)] == [], (
        outcomes
    )


def test_only_a_plugin_is_given_as_module_and_class(strange: Path) -> None:
    done = run("assign", example("range-overload"), "--json", "--assignor", "strange:Sound", cwd=strange)
    error = done.document["assignors"]["strange:Sound"]["error"]
    assert (done.code, done.err) == (1, "")
    assert error.startswith("No assignor is named 'strange:Sound'. Choose from range, roundrobin, ")


def test_a_plugin_that_hangs_is_ended(strange: Path) -> None:
    args = ("--json", "--plugin", "strange:Hangs", "--plugin-timeout", "2")
    done = run("assign", example("range-overload"), *args, cwd=strange)
    reported = "The assignor 'strange:Hangs' timed out: it had no plan after 2 s, so its process was stopped."
    assert (done.code, done.document["assignors"]["strange:Hangs"]) == (1, {"error": reported})
