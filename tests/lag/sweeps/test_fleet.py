"""Where the groups of a sweep come from; what is wrong with an input is named, and the rest goes on."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.documents.snapshot import snapshot_document
from assignors.scenario import dump
from assignors.scenario.dump import document
from assignors.whatif.events import Event, Leave
from lag.errors import ConfigError
from lag.model import GroupType, Problem, Scope
from lag.partition_lag import totals
from lag.sweeps.fleet import InputProblem, of_cluster, of_files
from lag.sweeps.snapshot_document import read_document
from tests.lag.make import cluster, end, group, judged
from tests.lag.sweeps.scenarios import orders, shared


def lines(path: Path, *documents: object) -> Path:
    path.write_text("".join(f"{its if isinstance(its, str) else json.dumps(its)}\n" for its in documents))
    return path


def test_a_line_is_a_scenario_and_its_events_are_left_out(tmp_path: Path) -> None:
    with_event = replace(orders(), events=(Event(1000, Leave("c-0")),))
    path = lines(tmp_path / "fleet.jsonl", document(with_event), "", document(shared()))
    fleet = of_files(path)
    assert (fleet.scenarios, fleet.problems, fleet.cluster) == ((orders(), shared()), (), "fleet.jsonl")


def test_wrong_lines_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    nameless = {**document(orders()), "name": "other", "membrs": []}
    path = lines(tmp_path / "fleet.jsonl", document(orders()), "{]", nameless, document(orders()), document(shared()))
    fleet = of_files(path)
    assert [its.name for its in fleet.scenarios] == ["orders", "shared"]
    assert [(its.where, its.path) for its in fleet.problems] == [
        (f"{path}:2", ""),
        (f"{path}:3", "membrs"),
        (f"{path}:4", "name"),
    ]
    assert fleet.problems[1].message == "The key 'membrs' is unknown. Did you mean 'members'?"


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(dump(orders()))
    (tmp_path / "b.yml").write_text("schema_version: 1\nname: b\nassignor: 7\n")
    (tmp_path / "c.json").write_text(json.dumps(document(shared())))
    (tmp_path / "readme.txt").write_text("no scenario")
    fleet = of_files(tmp_path)
    assert fleet.scenarios == (orders(), shared())
    assert {its.where.partition(":")[0] for its in fleet.problems} == {str(tmp_path / "b.yml")}
    assert of_files(tmp_path / "a.yaml").scenarios == (orders(),)


def test_a_link_to_nowhere_is_named_and_the_rest_of_the_folder_goes_on(tmp_path: Path) -> None:
    """Emacs leaves one beside a file that is being edited."""
    (tmp_path / "a.yaml").write_text(dump(orders()))
    (tmp_path / ".#a.yaml").symlink_to("user@host.123")
    fleet = of_files(tmp_path)
    assert fleet.scenarios == (orders(),)
    (problem,) = fleet.problems
    assert problem.where == str(tmp_path / ".#a.yaml")
    assert "cannot be read: No such file or directory" in problem.message


@pytest.mark.parametrize("name", ["absent.jsonl", "absent.yaml", "absent"])
def test_a_file_that_is_not_there_is_reported(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        of_files(tmp_path / name)


ENDS = {f"orders-{at}": end(100) for at in range(4)} | {"gone-0": end(5)}
GROUPS = {
    "billing": group({f"orders-{at}": 90 for at in range(4)}, members=2),
    "tasks": group({"orders-0": 1}, type=GroupType.STREAMS),
}


def test_groups_of_a_cluster_are_as_they_are_and_those_without_a_plan_are_skipped() -> None:
    fleet = of_cluster(judged([cluster(GROUPS, ENDS)]))
    (billing,) = fleet.scenarios
    assert [[tp.partition for tp in member.owned] for member in billing.members] == [[0, 2], [1, 3]]
    assert set(billing.loads.lag_records.values()) == {10}
    (streams,) = fleet.skipped
    assert (fleet.cluster, streams.where) == ("id-test", "tasks")
    assert str(streams) == streams.message == "tasks is a streams group: its broker assigns tasks, not partitions"


def test_a_problem_names_its_place_once() -> None:
    assert str(InputProblem("broker 2", "", "broker 2 has not answered")) == "broker 2 has not answered"
    assert str(InputProblem("a.yaml:3", "topics", "A list is expected.")) == "a.yaml:3: topics: A list is expected."


def test_what_we_may_not_see_is_no_problem_of_a_sweep_and_a_broker_that_is_silent_is() -> None:
    problems = (
        Problem("timeout", Scope.BROKER, "2", "broker 2 has not answered for 5 s"),
        Problem("unauthorized", Scope.GROUP, "a, b", "not authorised to describe it", affected=2),
        Problem("unauthorized", Scope.TOPIC, "shut", "not authorised to describe it", affected=1),
        Problem("unauthorized", Scope.BROKER, "3", "broker 3 does not list its groups"),
    )
    fleet = of_cluster(judged([cluster(GROUPS, ENDS, problems=problems)]))
    assert [problem.message for problem in fleet.problems] == [problems[0].cause, problems[3].cause]


@pytest.mark.parametrize(("text", "names"), [("BILL", ["billing"]), ("ill", ["billing"]), ("x", []), ("", ["billing"])])
def test_groups_of_a_cluster_are_found_by_a_part_of_their_id(text: str, names: list[str]) -> None:
    assert [its.name for its in of_cluster(judged([cluster(GROUPS, ENDS)]), text).scenarios] == names


def written(path: Path) -> Path:
    snapshot = cluster(GROUPS, ENDS)
    shown = list(zip(snapshot.groups, totals(snapshot), strict=True))
    return lines(path, snapshot_document(judged([snapshot]), shown))


def test_a_snapshots_document_gives_the_same_group_with_all_its_topics_as_subscription(tmp_path: Path) -> None:
    (live,) = of_cluster(judged([cluster(GROUPS, ENDS)])).scenarios
    fleet = read_document(written(tmp_path / "snapshot.json"))
    (billing,) = fleet.scenarios
    assert [member.topics for member in billing.members] == [("orders",), ("orders",)]
    assert [(m.member_id, m.owned) for m in billing.members] == [(m.member_id, m.owned) for m in live.members]
    assert (billing.topics["orders"].partitions, billing.loads) == (4, live.loads)
    assert [its.where for its in fleet.skipped] == ["tasks"]


def test_a_damaged_group_of_a_document_is_named_by_its_path(tmp_path: Path) -> None:
    path = written(tmp_path / "snapshot.json")
    reported = json.loads(path.read_text())
    reported["groups"].append(
        {**reported["groups"][0], "group_id": "odd", "members": [{"member_id": 7, "assigned": []}]}
    )
    lines(path, reported)
    fleet = read_document(path)
    assert [its.name for its in fleet.scenarios] == ["billing"]
    place = "groups[2].members[0].member_id"
    assert fleet.problems == (InputProblem(str(path), place, "Input should be a valid string."),)


def test_a_group_that_is_there_twice_counts_once_and_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "snapshot.json")
    reported = json.loads(path.read_text())
    reported["groups"].append(reported["groups"][0])
    lines(path, reported)
    fleet = read_document(path)
    assert [its.name for its in fleet.scenarios] == ["billing"]
    assert fleet.problems == (InputProblem(str(path), "groups[2].group_id", "Another group has the id 'billing'."),)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("{", "is not a JSON document"),
        ("[" * 100_000, "is not a JSON document"),
        ("[]", "is not a snapshot of schema 1"),
        ('{"schema": 2, "groups": []}', "of schema 1"),
    ],
)
def test_what_is_no_snapshot_is_refused(tmp_path: Path, text: str, reported: str) -> None:
    path = lines(tmp_path / "snapshot.json", text)
    with pytest.raises(ConfigError, match=reported):
        read_document(path)
