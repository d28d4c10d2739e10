"""`groupscope snapshot` on a real broker: the document to the letter, the table, the filters, odd names and ends."""

import json
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from kafka import KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import NoError, RetriableError

from lag.embedded.broker import EmbeddedKafka
from tests.app.cli.commandline import Done, run
from tests.lag.cluster.connection import strangers
from tests.support.forge import COMMAND
from tests.support.member import Member
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker

ODD = "cli 東京 größe 🚚"
HOSTILE = "cli-\x1b[31mred\x1b[0m\nline\ttab"
OURS = "groupscope-internal-cli"


@dataclass(frozen=True)
class Shop:
    """What was prepared: two partitions of 100 records, and groups whose names begin with `cli`."""

    servers: str
    topic: str

    def snapshot(self, *args: str, env: Mapping[str, str] | None = None) -> Done:
        return run("snapshot", "--bootstrap-server", self.servers, *args, env=env)

    def document(self, *args: str) -> dict[str, Any]:
        done = self.snapshot("--json", *args)
        assert done.code == 0, done.err
        found: dict[str, Any] = done.document
        return found


@pytest.fixture(scope="module")
def shop(kafka: EmbeddedKafka) -> Iterator[Shop]:
    topic = f"cli-{uuid.uuid4().hex[:8]}"
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(topic, 2, 1)], wait_for_metadata=True)
        fill(kafka, topic)
        commit(admin, "cli-behind", {(topic, 0): 40, (topic, 1): 100})
        commit(admin, "cli-beyond", {(topic, 0): 250})
        for name in (ODD, HOSTILE, OURS):
            commit(admin, name, {(topic, 0): 100})
        classic = member(kafka, "cli-classic", topic, {"group.instance.id": "pod-1", "client.id": "till"})
        modern = member(kafka, "cli-modern", topic, {"group.protocol": "consumer", "client.id": "scanner"})
        classic.commit(topic, 0, 70)
        yield Shop(kafka.bootstrap_servers, topic)
        classic.leave()
        modern.leave()


def fill(kafka: EmbeddedKafka, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for number in range(200):
        producer.send(topic, b"x", partition=number % 2)
    producer.close()


def commit(admin: KafkaAdminClient, group: str, offsets: dict[tuple[str, int], int]) -> None:
    plan = {TopicPartition(*tp): OffsetAndMetadata(offset, "", -1) for tp, offset in offsets.items()}

    def committed() -> bool:
        try:
            return set(admin.alter_group_offsets(group, plan).values()) == {NoError}
        except RetriableError:
            return False

    wait_until(committed)


def member(kafka: EmbeddedKafka, group: str, topic: str, settings: dict[str, str]) -> Member:
    """A member that owns both partitions and reads nothing more."""
    made = Member(kafka.bootstrap_servers, group, [topic], {"enable.auto.commit": False, **settings})
    wait_until(lambda: len(made.held) == 2)
    return made


# -- the document ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def document(shop: Shop) -> dict[str, Any]:
    """All of it, read once."""
    return shop.document()


def group_of(document: dict[str, Any], group_id: str) -> dict[str, Any]:
    (found,) = [group for group in document["groups"] if group["group_id"] == group_id]
    return found  # type: ignore[no-any-return]


def test_document_has_every_key_of_the_interface_and_no_group_is_missing(document: dict[str, Any]) -> None:
    found = document
    assert list(found) == ["schema", "cluster_id", "at_ms", "complete", "problems", "groups"]
    assert (found["schema"], found["complete"], found["problems"]) == (1, True, [])
    assert (type(found["cluster_id"]), type(found["at_ms"])) == (str, int)
    names = [group["group_id"] for group in found["groups"]]
    assert {"cli-behind", "cli-beyond", "cli-classic", "cli-modern", ODD, HOSTILE} <= set(names)
    assert names == sorted(names)


def test_empty_group_with_lag(shop: Shop, document: dict[str, Any]) -> None:
    row = {"topic": shop.topic, "log_start": 0, "log_end": 100, "last_stable": 100, "lost": 0, "member_id": None}
    assert group_of(document, "cli-behind") == {
        "group_id": "cli-behind",
        "type": "classic",
        "state": "Empty",
        "coordinator": 1,
        "assignor": None,
        "epoch": None,
        "assignment_epoch": None,
        "complete": True,
        "problems": [],
        "lag": 60,
        "lag_known": 2,
        "lag_partitions": 2,
        "lost": 0,
        "members": [],
        "partitions": [
            {**row, "partition": 0, "committed": 40, "lag": 60, "problem": None},
            {**row, "partition": 1, "committed": 100, "lag": 0, "problem": None},
        ],
        "verdict": "no_members",
        "onset": {"at_ms": document["at_ms"], "is_exact": False, "source": "window"},
    }


def test_what_is_not_known_is_null_and_never_0(document: dict[str, Any]) -> None:
    beyond = group_of(document, "cli-beyond")
    assert (beyond["lag"], beyond["lag_known"], beyond["lag_partitions"]) == (None, 0, 1)
    (row,) = beyond["partitions"]
    assert (row["committed"], row["lag"], row["problem"]) == (250, None, "beyond_end")


def test_classic_member_that_committed_one_of_two_partitions(shop: Shop, document: dict[str, Any]) -> None:
    group = group_of(document, "cli-classic")
    assert (group["type"], group["state"], group["assignor"]) == ("classic", "Stable", "range")
    assert (group["lag"], group["lag_known"], group["lag_partitions"]) == (30, 1, 2)
    (one,) = group["members"]
    name = one.pop("member_id")
    assert one == {
        "instance_id": "pod-1",
        "client_id": "till",
        "host": "127.0.0.1",
        "rack": None,
        "epoch": None,
        "assigned": [[shop.topic, 0], [shop.topic, 1]],
        "target": None,
    }
    rows = [(r["partition"], r["committed"], r["lag"], r["problem"], r["member_id"]) for r in group["partitions"]]
    assert rows == [(0, 70, 30, None, name), (1, None, None, "no_commit", name)]


def test_kip_848_member_has_epoch_and_target(shop: Shop, document: dict[str, Any]) -> None:
    group = group_of(document, "cli-modern")
    assert (group["type"], group["state"], group["assignor"], group["lag"]) == ("consumer", "Stable", "uniform", None)
    (one,) = group["members"]
    assert one["epoch"] == group["epoch"] == group["assignment_epoch"]
    assert one["epoch"] > 0
    assert one["assigned"] == one["target"] == [[shop.topic, 0], [shop.topic, 1]]
    assert (one["client_id"], one["instance_id"]) == ("scanner", None)


# -- filters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--group", ODD, "--group", "cli-modern"], [ODD, "cli-modern"]),
        (["--group", "cli-behind", "--group", "cli-modern", "--state", "empty"], ["cli-behind"]),
        (["--state", "Stable", "--state", "Empty", "--group", "cli-modern"], ["cli-modern"]),
        (["--group", "cli-behind", "--group", "cli-beyond", "--lag-at-least", "60"], ["cli-behind"]),
        (["--group", "cli-behind", "--group", "cli-beyond", "--lag-at-least", "61"], []),
        (["--state", "NoSuchState"], []),
    ],
)
def test_filters_name_the_groups_that_pass_them_all(shop: Shop, args: list[str], expected: list[str]) -> None:
    assert [group["group_id"] for group in shop.document(*args)["groups"]] == expected


def test_group_that_is_not_there_is_named(shop: Shop) -> None:
    done = shop.snapshot("--group", "cli-behind", "--group", "cli-behin")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: No group named cli-behin among the ")
    assert done.err.endswith("Did you mean cli-behind?\n")


def test_group_that_is_not_there_as_json(shop: Shop) -> None:
    done = shop.snapshot("--group", "nobody", "--json")
    assert done.code == 1
    assert list(done.document) == ["error"]
    assert done.document["error"]["cause"].startswith("No group named nobody among the ")
    assert done.document["error"]["hint"] == "Check the spelling and the ACL DESCRIBE on the group"


# -- the table ---------------------------------------------------------------------------------------------------------


def test_table_has_a_line_per_group_and_remarks_go_to_stderr(shop: Shop) -> None:
    done = shop.snapshot("--group", "cli-behind", "--group", "cli-beyond", "--group", "cli-modern")
    groups, *details = done.out.split("\n\n")
    assert [" ".join(line.split()) for line in groups.splitlines()] == [
        "GROUP TYPE STATE MEMBERS LAG LAG KNOWN LOST ASSIGNOR COORDINATOR",
        "cli-behind classic Empty 0 60 2 of 2 - - 1",
        "cli-beyond classic Empty 0 - 0 of 1 - - 1",
        "cli-modern consumer Stable 1 - 0 of 2 - uniform 1",
    ]
    assert [" ".join(line.split()) for line in details[0].splitlines()] == [
        "cli-behind",
        "TOPIC PARTITION COMMITTED LOG START LOG END LAST STABLE LAG LOST PROBLEM MEMBER",
        f"{shop.topic} 0 40 0 100 100 60 - - -",
        f"{shop.topic} 1 100 0 100 100 0 - - -",
    ]
    assert len(details) == 3
    assert done.err.startswith("3 of ")


def test_groups_of_our_own_readers_are_counted_but_not_listed_until_asked_for(shop: Shop) -> None:
    done = shop.snapshot()
    assert OURS not in done.out
    assert done.err.endswith("groupscope's own groups are not listed; --json and --group show them\n")
    asked = shop.snapshot("--group", OURS)
    assert asked.out.splitlines()[1].split()[:3] == [OURS, "classic", "Empty"]
    assert "not listed" not in asked.err


def test_columns_stay_aligned_below_wide_letters_and_escape_sequences_are_shown_not_obeyed(shop: Shop) -> None:
    lines = shop.snapshot("--state", "Empty").out.splitlines()
    (odd,) = [line for line in lines if line.startswith("cli 東京 größe 🚚 ")]
    (hostile,) = [line for line in lines if line.startswith("cli-\\x1b[31mred\\x1b[0m\\nline\\ttab ")]
    assert odd.index("classic") + 3 == lines[0].index("TYPE") == hostile.index("classic")  # 東 京 🚚 are two wide


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1:strict"},
    ],
    ids=str,
)
def test_terminal_that_lacks_letters_gets_their_codes(shop: Shop, env: dict[str, str]) -> None:
    command = [COMMAND, "snapshot", "--bootstrap-server", shop.servers]
    table = subprocess.run(command, capture_output=True, env=os.environ | env, check=True).stdout
    assert len([line for line in table.splitlines() if line.startswith(b"cli ")]) == 1
    document = subprocess.run([*command, "--json"], capture_output=True, env=os.environ | env, check=True).stdout
    assert ODD in [group["group_id"] for group in json.loads(document)["groups"]]


# -- ends --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [[], ["--json"]])
def test_reader_that_has_gone_is_no_reason_for_a_traceback(shop: Shop, args: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [COMMAND, "snapshot", "--bootstrap-server", shop.servers, *args]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("command", ["snapshot", "doctor"])
def test_ctrl_c_while_a_broker_is_silent_ends_with_130(command: str) -> None:
    asked = threading.Event()

    def silent(client: Any) -> None:
        asked.set()
        strangers.silent(client)

    with (
        strangers.serve(silent) as address,
        subprocess.Popen(
            [COMMAND, command, "--bootstrap-server", str(address)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert asked.wait(30)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Traceback" not in err
