"""`groupscope reset` on a real broker: the whole story by command, exit codes, and a cluster that is read-only."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import typer

from app.cli import reset as reset_command
from assignors.model import TopicPartition
from lag.cluster.connection.connect import open_manager
from lag.cluster.group_client import GroupClient
from lag.embedded.broker import EmbeddedKafka
from lag.reset.model import Commit
from tests.app.cli.commandline import Done, run
from tests.support.member import Member
from tests.support.reset_cluster import commits, group_client, make_topic, produce, unique
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module")
def client(kafka: EmbeddedKafka) -> Iterator[GroupClient]:
    with group_client(kafka.bootstrap_servers) as made:
        yield made


@pytest.fixture(scope="module")
def topic(kafka: EmbeddedKafka) -> str:
    name = unique("orders")
    make_topic(kafka.bootstrap_servers, name, 2)
    produce(kafka.bootstrap_servers, name, {0: 10, 1: 10})
    return name


@pytest.fixture
def group(client: GroupClient, topic: str) -> str:
    name = unique("billing")
    client.commit(name, commits(topic, {0: 5, 1: 6}))
    return name


@pytest.fixture
def reset(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> "Reset":
    return Reset(kafka.bootstrap_servers, tmp_path_factory.mktemp("undo"))


class Reset:
    """`groupscope reset` with the broker's address, and a folder for its locks."""

    def __init__(self, servers: str, undo_folder: Path) -> None:
        self._servers, self._env = servers, {"GROUPSCOPE_UNDO_FOLDER": str(undo_folder)}

    def __call__(self, *args: str) -> Done:
        return run("reset", *args, "--bootstrap-server", self._servers, "--deadline", "60", env=self._env)


def test_planned_applied_verified_undone(
    reset: Reset, client: GroupClient, topic: str, group: str, tmp_path: Path
) -> None:
    before, file = client.commits(group), tmp_path / "plan.json"
    planned = reset("plan", group, "--to-earliest", "--topic", topic, "--out", str(file))
    assert planned.code == 0, planned.err
    assert planned.out.startswith(f"Changes 2 of 2 partitions of group {group}: 11 records read again, 0 skipped.")
    assert f"--group {group} --reset-offsets --topic {topic} --to-earliest --execute" in planned.out
    assert client.commits(group) == before

    assert reset("verify", str(file)).code == 3
    audit = tmp_path / "audit.jsonl"
    applied = reset("apply", str(file), "--allow-writes", "--yes", "--json", "--audit", str(audit))
    assert (applied.code, applied.document["done"]) == (0, True)
    events = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [(event["action"], event["outcome"], event["group"], event["plan_id"]) for event in events] == [
        ("reset", "started", group, str(file)),
        ("reset", "ok", group, str(file)),
    ]
    assert events[0]["detail"] == planned.out.splitlines()[0]
    assert client.commits(group) == commits(topic, {0: 0, 1: 0})
    assert reset("verify", str(file)).code == 0

    undo = Path(applied.document["undo"])
    assert undo == tmp_path / "plan.undo.json"
    assert sorted((tmp_path / "plan.undo.csv").read_text().split()) == [f"{topic},0,5", f"{topic},1,6"]
    undone = reset("undo", str(undo), "--allow-writes", "--yes")
    assert undone.code == 0, undone.err
    assert client.commits(group) == before


def test_nothing_is_written_without_permission(reset: Reset, client: GroupClient, group: str, tmp_path: Path) -> None:
    before, file = client.commits(group), tmp_path / "plan.yaml"
    assert reset("plan", group, "--to-latest", "--all-topics", "--out", str(file)).code == 0
    refused = reset("apply", str(file), "--yes")
    assert (refused.code, refused.out) == (4, "")
    assert "Add --allow-writes" in refused.err
    unconfirmed = reset("apply", str(file), "--allow-writes")
    assert unconfirmed.code == 1
    assert "Add --yes" in unconfirmed.err
    config = tmp_path / "client.properties"
    config.write_text("groupscope.read.only=true\n")
    read_only = reset("apply", str(file), "--allow-writes", "--yes", "--config", str(config))
    assert read_only.code == 4
    assert "marked read-only" in read_only.err
    assert client.commits(group) == before
    assert [each.name for each in tmp_path.glob("*undo*")] == []


def test_refused_while_active(
    kafka: EmbeddedKafka, reset: Reset, client: GroupClient, topic: str, tmp_path: Path
) -> None:
    group, file = unique("active"), tmp_path / "plan.json"
    member = Member(kafka.bootstrap_servers, group, [topic], {"client.id": "worker-7"})
    try:
        wait_until(lambda: len(member.held) == 2, 120)
        member.commit(topic, 0, 4)
        planned = reset("plan", group, "--shift-by", "-2", "--all-topics", "--out", str(file))
        assert "worker-7 at" in planned.out
        refused = reset("apply", str(file), "--allow-writes", "--yes")
        assert refused.code == 1
        assert "worker-7" in refused.err
        assert "Stop these processes" in refused.err
    finally:
        member.leave()


def test_what_something_else_committed_meanwhile_has_the_exit_code_of_what_is_not_done(
    kafka: EmbeddedKafka, reset: Reset, topic: str, group: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    class Interrupted(GroupClient):
        """Something else commits after the plan has been written."""

        def commits(self, group_id: str) -> Mapping[TopicPartition, Commit]:
            super().commit(group_id, commits(topic, {0: 9}))
            return super().commits(group_id)

    file = tmp_path / "plan.json"
    assert reset("plan", group, "--to-earliest", "--all-topics", "--out", str(file)).code == 0
    monkeypatch.setenv("GROUPSCOPE_UNDO_FOLDER", str(tmp_path))
    monkeypatch.setattr(reset_command, "open_group_client", lambda its, wait_s: Interrupted(open_manager(its), wait_s))
    with pytest.raises(typer.Exit) as ended:
        reset_command.apply(file, allow_writes=True, yes=True, bootstrap_server=kafka.bootstrap_servers, deadline=60.0)
    assert ended.value.exit_code == 3
    shown = capsys.readouterr()
    assert [line.split(maxsplit=5)[1:] for line in shown.out.splitlines()[1:3]] == [
        ["0", "5", "0", "9", "written, but now at 9: something else committed it"],
        ["1", "6", "0", "0", "at the new offset"],
    ]
    assert f"error: {topic}-0: written, but now at 9: something else committed it" in shown.err


def test_what_cannot_be_planned_has_its_own_exit_code(reset: Reset, topic: str, group: str) -> None:
    planned = reset("plan", group, "--to-earliest", "--topic", f"{topic}:0,7", "--json")
    assert planned.code == 3
    rows = planned.document["partitions"]
    assert [(row["partition"], row["action"]) for row in rows] == [(0, "set"), (7, "none")]
    assert rows[1]["reason"] == "the topic or partition does not exist"


def test_a_group_is_deleted_by_its_plan(
    reset: Reset, client: GroupClient, topic: str, group: str, tmp_path: Path
) -> None:
    file = tmp_path / "plan.json"
    assert reset("delete-group", group, "--out", str(file)).code == 0
    assert reset("apply", str(file), "--allow-writes", "--yes").code == 0
    assert client.read(group, ()).type is None
    assert reset("undo", str(tmp_path / "plan.undo.json"), "--allow-writes", "--yes").code == 0
    assert client.commits(group) == commits(topic, {0: 5, 1: 6})


def test_a_skipped_record_is_shown_without_its_value(reset: Reset, topic: str, group: str) -> None:
    planned = reset("plan", group, "--skip", f"{topic}:0:5")
    assert f"Record {topic}:0:5  " in planned.out
    assert "key k5, headers source=test, value of 2 bytes\n" in planned.out
    assert "value v5" in reset("plan", group, "--skip", f"{topic}:0:5", "--show-value").out


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("--to-datetime", "2026-11-25T10:00:00"), "no time zone"),
        (("--to-datetime", "1700000000"), "Is 1700000000 in seconds? In milliseconds it is 1970-01-20T16:13:20.000Z."),
        (("--to-datetime", "1700000000"), "Write 2023-11-14T22:13:20.000Z or 1700000000000 if it is in seconds"),
        (("--by-duration", "1y"), "not a duration"),
        (("--skip", "orders"), "names no record"),
        (("--to-earliest", "--topic", "nowhere"), "No topic is named nowhere"),
        (("--to-earliest",), "No partition is chosen"),
        (("--from-file", "/nowhere.csv", "--all-topics"), "cannot be read"),
    ],
)
def test_what_is_asked_for_wrongly_is_one_sentence(reset: Reset, args: tuple[str, ...], named: str) -> None:
    done = reset("plan", "billing", *args)
    assert (done.code, done.out) == (1, "")
    assert named in done.err


@pytest.mark.parametrize("args", [(), ("--to-earliest", "--shift-by", "0")])
def test_none_or_two_targets_are_wrong_usage(reset: Reset, args: tuple[str, ...]) -> None:
    done = reset("plan", "billing", *args)
    assert (done.code, done.out) == (2, "")
    assert "Give one of --to-earliest, --to-latest" in " ".join(done.err.split())


def test_a_plan_that_is_no_undo_plan_is_not_undone(reset: Reset, group: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    reset("plan", group, "--to-latest", "--all-topics", "--out", str(file))
    assert "is not an undo plan" in reset("undo", str(file), "--allow-writes", "--yes").err
    assert json.loads(file.read_text())["undoes"] is None
