"""Each specification gives the offsets that `kafka-consumer-groups --reset-offsets` gives, on a real broker."""

from collections.abc import Iterator
from pathlib import Path

import jpype
import pytest

from lag.cluster.group_client import GroupClient
from lag.embedded.broker import EmbeddedKafka
from lag.errors import ConfigError
from lag.reset.applying.apply import apply_plan
from lag.reset.applying.undo import undo_plan
from lag.reset.asked.specification_text import Asked, specification
from lag.reset.files.offsets_csv import offsets_csv
from lag.reset.model import Plan
from lag.reset.planning.make_plan import Request, plan_offsets
from tests.oracle import offset_resets as tool
from tests.support.known import known
from tests.support.reset_cluster import (
    KeptUndo,
    commits,
    delete_records,
    group_client,
    make_topic,
    now_ms,
    produce,
    targets,
    unique,
)

pytestmark = pytest.mark.usefixtures("java_classes")


@pytest.fixture(scope="module")
def client(kafka: EmbeddedKafka) -> Iterator[GroupClient]:
    with group_client(kafka.bootstrap_servers) as made:
        yield made


@pytest.fixture(scope="module")
def topic(kafka: EmbeddedKafka) -> str:
    """Partitions 0: records 10 to 39, 1: 0 to 19, 2: empty."""
    name = unique("reset")
    make_topic(kafka.bootstrap_servers, name, 3)
    produce(kafka.bootstrap_servers, name, {0: 40, 1: 20})
    delete_records(kafka.bootstrap_servers, name, 0, 10)
    return name


@pytest.fixture
def group(client: GroupClient, topic: str) -> str:
    """Committed in partitions 0 and 1, not in 2."""
    name = unique("billing")
    assert client.commit(name, commits(topic, {0: 25, 1: 3})) == {}
    return name


def planned(client: GroupClient, group: str, asked: Asked, topics: tuple[str, ...] = ()) -> Plan:
    request = Request(group, specification(asked, group, now_ms()), topics, all_topics=not topics)
    return plan_offsets(client, request)


CASES = {
    "earliest": (Asked(to_earliest=True), ("--to-earliest",)),
    "latest": (Asked(to_latest=True), ("--to-latest",)),
    "current": (Asked(to_current=True), ("--to-current",)),
    "offset": (Asked(to_offset=15), ("--to-offset", "15")),
    "offset 0": (Asked(to_offset=0), ("--to-offset", "0")),
    "offset beyond the end": (Asked(to_offset=1000), ("--to-offset", "1000")),
    "time": (Asked(to_datetime="2023-11-14T22:13:31.500Z"), ("--to-datetime", "2023-11-14T22:13:31.500Z")),
    "time with an offset": (
        Asked(to_datetime="2023-11-14T23:13:31+01:00"),
        ("--to-datetime", "2023-11-14T22:13:31.000Z"),
    ),
    "time before the first record": (Asked(to_datetime="0"), ("--to-datetime", "1970-01-01T00:00:00.000Z")),
    "time after the last record": (
        Asked(to_datetime="2025-01-01T00:00:00Z"),
        ("--to-datetime", "2025-01-01T00:00:00.000Z"),
    ),
    "duration": (Asked(by_duration="100d"), ("--by-duration", "P100D")),
    "long duration": (Asked(by_duration="P20000D"), ("--by-duration", "P20000D")),
}


@pytest.mark.parametrize("name", CASES)
def test_new_offsets_of_a_topic(kafka: EmbeddedKafka, client: GroupClient, topic: str, group: str, name: str) -> None:
    asked, flags = CASES[name]
    theirs = tool.reset(kafka.bootstrap_servers, group, "--topic", topic, *flags)
    assert len(theirs) == 3
    assert targets(planned(client, group, asked, (topic,))) == theirs


@pytest.mark.parametrize("digits", ["1700000000", "1700000000000000", "1700000000000000000", "20231114", "1500"])
def test_a_number_without_a_unit_is_no_time_to_the_tool_either(
    kafka: EmbeddedKafka, topic: str, group: str, digits: str
) -> None:
    with pytest.raises(jpype.JException):
        tool.reset(kafka.bootstrap_servers, group, "--topic", topic, "--to-datetime", digits)
    with pytest.raises(ConfigError):
        specification(Asked(to_datetime=digits), group, now_ms())


SHIFTS = (-1, 1, -5, -16, -1000, 0, 15, 16, 1000)


@pytest.mark.parametrize("by", SHIFTS)
def test_shifts_inside_and_outside_of_the_log(kafka: EmbeddedKafka, client: GroupClient, group: str, by: int) -> None:
    theirs = tool.reset(kafka.bootstrap_servers, group, "--all-topics", "--shift-by", str(by))
    assert len(theirs) == 2
    assert targets(planned(client, group, Asked(shift_by=by))) == theirs


def test_single_partitions(kafka: EmbeddedKafka, client: GroupClient, topic: str, group: str) -> None:
    theirs = tool.reset(kafka.bootstrap_servers, group, "--topic", f"{topic}:2,0", "--to-earliest")
    assert targets(planned(client, group, Asked(to_earliest=True), (f"{topic}:2,0",))) == theirs


def test_a_new_group(kafka: EmbeddedKafka, client: GroupClient, topic: str) -> None:
    name = unique("new")
    theirs = tool.reset(kafka.bootstrap_servers, name, "--topic", topic, "--to-earliest")
    assert targets(planned(client, name, Asked(to_earliest=True), (topic,))) == theirs


def test_a_file_of_the_tool(kafka: EmbeddedKafka, client: GroupClient, topic: str, group: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    file.write_text(f"{topic},0,5\n{topic},1,7\n{topic},2,9\n")
    theirs = tool.reset(kafka.bootstrap_servers, group, "--from-file", str(file))
    assert theirs == {(topic, 0): 10, (topic, 1): 7, (topic, 2): 0}
    ours = plan_offsets(client, Request(group, specification(Asked(from_file=file), group, 0)))
    assert targets(ours) == theirs


def test_the_tool_exports_what_we_write(kafka: EmbeddedKafka, client: GroupClient, topic: str, group: str) -> None:
    exported = tool.export(kafka.bootstrap_servers, group, "--topic", topic, "--to-latest")
    ours = offsets_csv(planned(client, group, Asked(to_latest=True), (topic,)).partitions)
    assert sorted(exported.split()) == sorted(ours.split())


def test_the_tool_undoes_what_we_applied(
    kafka: EmbeddedKafka, client: GroupClient, topic: str, group: str, tmp_path: Path
) -> None:
    before = client.commits(group)
    plan = planned(client, group, Asked(to_latest=True))
    undos = KeptUndo()
    assert apply_plan(plan, client, undos, now_ms).is_done
    assert client.commits(group) != before
    file = tmp_path / "undo.csv"
    file.write_text(offsets_csv(known(undo_plan(plan, 0)).partitions))
    tool.reset(kafka.bootstrap_servers, group, "--from-file", str(file), "--execute")
    assert client.commits(group) == before
    assert [row.to_offset for row in undos.plans[0].partitions] == [25, 3]


def test_deleted_offsets(kafka: EmbeddedKafka, client: GroupClient, topic: str, group: str) -> None:
    other = unique("billing")
    client.commit(other, client.commits(group))
    tool.delete_offsets(kafka.bootstrap_servers, other, topic)
    plan = planned(client, group, Asked(delete_offsets=True), (topic,))
    assert apply_plan(plan, client, KeptUndo(), now_ms).is_done
    assert client.commits(group) == client.commits(other) == {}
