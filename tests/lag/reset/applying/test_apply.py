"""Plans applied to a real broker: refused while active or changed, killed in between, partial, undone."""

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from assignors.model import TopicPartition
from lag.cluster.group_client import GroupClient
from lag.embedded.broker import EmbeddedKafka
from lag.errors import ResetRefused
from lag.model import GroupType
from lag.reset.applying.apply import Applied, ChangeEvent, Step, apply_plan, verify_plan
from lag.reset.applying.verify import Outcome
from lag.reset.asked.specification import Delete, Earliest, FromGroup, Latest, parse_skip
from lag.reset.files.plan_document import plan_text
from lag.reset.files.plan_file import load_plan, write_new
from lag.reset.files.undo_files import UndoFiles
from lag.reset.model import Action, Commit, Kind, Plan
from lag.reset.planning.make_plan import Request, plan_group_deletion, plan_member_removal, plan_offsets
from lag.reset.summary import headline
from tests.support.known import known
from tests.support.member import Member
from tests.support.reset_cluster import (
    KeptUndo,
    commits,
    drop_topic,
    group_client,
    make_topic,
    now_ms,
    produce,
    unique,
)
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def client(kafka: EmbeddedKafka) -> Iterator[GroupClient]:
    with group_client(kafka.bootstrap_servers) as made:
        yield made


@pytest.fixture(scope="module")
def topic(kafka: EmbeddedKafka) -> str:
    """Four partitions of ten records."""
    name = unique("orders")
    make_topic(kafka.bootstrap_servers, name, 4)
    produce(kafka.bootstrap_servers, name, dict.fromkeys(range(4), 10))
    return name


@pytest.fixture
def group(client: GroupClient, topic: str) -> str:
    name = unique("billing")
    assert client.commit(name, commits(topic, {0: 5, 1: 6, 2: 7, 3: 8})) == {}
    return name


def to_earliest(client: GroupClient, group: str) -> Plan:
    return plan_offsets(client, Request(group, Earliest(), all_topics=True))


def applied(client: GroupClient, plan: Plan) -> Applied:
    return apply_plan(plan, client, KeptUndo(), now_ms)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_refused_while_active_then_done_and_undone(
    kafka: EmbeddedKafka, client: GroupClient, topic: str, protocol: str
) -> None:
    group = unique(f"active-{protocol}")
    settings = {"client.id": "worker-1", "group.protocol": protocol}
    member = Member(kafka.bootstrap_servers, group, [topic], settings)
    try:
        wait_until(lambda: len(member.held) == 4, 120)
        for partition in range(4):
            member.commit(topic, partition, 9)
        plan = to_earliest(client, group)
        assert [one.client_id for one in plan.members] == ["worker-1"]
        with pytest.raises(ResetRefused, match="worker-1 at"):
            applied(client, plan)
        assert client.commits(group) == commits(topic, dict.fromkeys(range(4), 9))
    finally:
        member.leave()
    wait_until(lambda: not client.read(group, ()).is_active, 60)
    assert plan.group_type is (GroupType.CLASSIC if protocol == "classic" else GroupType.CONSUMER)
    undos = KeptUndo()
    done = apply_plan(plan, client, undos, now_ms)
    assert done.is_done
    assert client.commits(group) == commits(topic, dict.fromkeys(range(4), 0))
    assert verify_plan(plan, client).is_done
    assert applied(client, undos.plans[0]).is_done
    assert client.commits(group) == commits(topic, dict.fromkeys(range(4), 9))
    assert {each.outcome for each in verify_plan(plan, client).results} == {Outcome.NOT_DONE}


def test_a_commit_between_plan_and_apply_refuses_all_of_it(client: GroupClient, topic: str, group: str) -> None:
    plan = to_earliest(client, group)
    client.commit(group, commits(topic, {2: 9}))
    with pytest.raises(ResetRefused, match=f"{topic}-2 was at 7 and is now at 9"):
        applied(client, plan)
    assert client.commits(group)[TopicPartition(topic, 0)] == Commit(5)


def test_nothing_is_written_where_the_undo_plan_cannot_be_stored(
    client: GroupClient, topic: str, group: str, tmp_path: Path
) -> None:
    before = client.commits(group)
    files = UndoFiles(tmp_path / "missing" / "plan.json", tmp_path)
    with pytest.raises(Exception, match="cannot be written"):
        apply_plan(to_earliest(client, group), client, files, now_ms)
    assert client.commits(group) == before


def test_the_audit_is_given_start_and_result_or_the_refusal(client: GroupClient, topic: str, group: str) -> None:
    events: list[ChangeEvent] = []
    plan = to_earliest(client, group)
    apply_plan(plan, client, KeptUndo(), now_ms, events.append)
    assert [event.step for event in events] == [Step.STARTED, Step.ENDED]
    assert known(events[1].applied).is_done
    client.commit(group, commits(topic, {0: 3}))
    with pytest.raises(ResetRefused):
        apply_plan(plan, client, KeptUndo(), now_ms, events.append)
    assert events[2].step is Step.REFUSED
    assert "is now at 3" in events[2].reason


@pytest.mark.process
def test_killed_in_between_verify_says_what_is_done_and_apply_goes_on(
    kafka: EmbeddedKafka, client: GroupClient, topic: str, group: str, tmp_path: Path
) -> None:
    before = client.commits(group)
    file = tmp_path / "plan.json"
    plan = to_earliest(client, group)
    write_new(file, plan_text(plan))
    command = [sys.executable, "-m", "tests.support.reset_killed", kafka.bootstrap_servers, str(file), "2"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    found = Counter(each.outcome for each in verify_plan(plan, client).results)
    assert found == {Outcome.DONE: 2, Outcome.NOT_DONE: 2}
    assert applied(client, load_plan(file)).is_done
    undo = load_plan(tmp_path / "plan.undo.json")
    assert applied(client, undo).is_done
    assert client.commits(group) == before


def test_the_undo_restores_metadata_and_first_commits(client: GroupClient, topic: str) -> None:
    group = unique("metadata")
    before = {TopicPartition(topic, 0): Commit(5, "stream time")}
    client.commit(group, before)
    plan = plan_offsets(client, Request(group, Latest(), (topic,)))
    undos = KeptUndo()
    apply_plan(plan, client, undos, now_ms)
    assert client.commits(group) == commits(topic, dict.fromkeys(range(4), 10))
    assert {row.action for row in undos.plans[0].partitions} == {Action.SET, Action.DELETE}
    applied(client, undos.plans[0])
    assert client.commits(group) == before


def test_a_new_group_starts_where_the_plan_says(client: GroupClient, topic: str) -> None:
    group = unique("new")
    plan = plan_offsets(client, Request(group, Earliest(), (f"{topic[:-1]}.",)))
    assert (plan.state, plan.group_type) == ("Dead", None)
    assert headline(plan) == f"Commits 4 offsets of group {group} where nothing is committed."
    assert applied(client, plan).is_done
    assert client.commits(group) == commits(topic, dict.fromkeys(range(4), 0))


def test_offsets_of_another_group(client: GroupClient, topic: str, group: str) -> None:
    other = unique("copy")
    plan = plan_offsets(client, Request(other, FromGroup(group)))
    assert applied(client, plan).is_done
    assert client.commits(other) == client.commits(group)


def test_exactly_one_record_is_skipped_and_shown(client: GroupClient, topic: str, group: str) -> None:
    plan = plan_offsets(client, Request(group, parse_skip([f"{topic}:1:6"])))
    (row,) = plan.partitions
    (record,) = row.records
    assert (record.key, record.headers, record.value_bytes, record.value) == (b"k6", (("source", b"test"),), 2, None)
    assert (row.from_offset, row.to_offset, row.skipped) == (6, 7, 1)
    shown = plan_offsets(client, Request(group, parse_skip([f"{topic}:1:6"]), with_values=True))
    assert shown.partitions[0].records[0].value == b"v6"
    refused = plan_offsets(client, Request(group, parse_skip([f"{topic}:1:8"])))
    assert "the next record is at 6" in refused.partitions[0].reason


def test_a_topic_that_is_dropped_after_the_plan_is_refused(kafka: EmbeddedKafka, client: GroupClient) -> None:
    name, group = unique("dropped"), unique("billing")
    make_topic(kafka.bootstrap_servers, name)
    produce(kafka.bootstrap_servers, name, {0: 5})
    client.commit(group, commits(name, {0: 3}))
    plan = to_earliest(client, group)
    drop_topic(kafka.bootstrap_servers, name)
    with pytest.raises(ResetRefused):
        applied(client, plan)


def test_a_group_is_deleted_and_its_offsets_come_back(client: GroupClient, topic: str, group: str) -> None:
    before = client.commits(group)
    plan = plan_group_deletion(client, group)
    assert plan.kind is Kind.DELETE_GROUP
    undos = KeptUndo()
    assert apply_plan(plan, client, undos, now_ms).is_done
    assert client.read(group, ()).type is None
    assert applied(client, undos.plans[0]).is_done
    assert client.commits(group) == before


def test_a_group_without_offsets_is_deleted(kafka: EmbeddedKafka, client: GroupClient, topic: str) -> None:
    group = unique("idle")
    member = Member(kafka.bootstrap_servers, group, [topic], {"group.protocol": "consumer"})
    try:
        wait_until(lambda: len(member.held) == 4, 120)
    finally:
        member.leave()
    plan = known(wait_until(lambda: _deletion(client, group), 60))
    kept = verify_plan(plan, client)
    assert (kept.results, kept.is_done, kept.error) == ((), False, f"Group {group} still exists")
    assert applied(client, plan).is_done
    assert verify_plan(plan, client).is_done


def _deletion(client: GroupClient, group: str) -> Plan | None:
    reading = client.read(group, ())
    return None if reading.is_active or reading.type is None else plan_group_deletion(client, group)


def test_deleted_offsets_come_back(client: GroupClient, topic: str, group: str) -> None:
    before = client.commits(group)
    plan = plan_offsets(client, Request(group, Delete(), (f"{topic}:1,2",)))
    undos = KeptUndo()
    assert apply_plan(plan, client, undos, now_ms).is_done
    assert client.commits(group).keys() == {TopicPartition(topic, 0), TopicPartition(topic, 3)}
    assert applied(client, undos.plans[0]).is_done
    assert client.commits(group) == before


def test_a_static_member_is_removed(kafka: EmbeddedKafka, client: GroupClient, topic: str) -> None:
    group = unique("static")
    member = Member(kafka.bootstrap_servers, group, [topic], {"group.instance.id": "pod-1", "client.id": "worker-1"})
    try:
        wait_until(lambda: len(member.held) == 4, 120)
        plan = plan_member_removal(client, group, "pod-1")
        with pytest.raises(ResetRefused, match="pod-1"):
            plan_member_removal(client, group, "pod-2")
        unremoved = verify_plan(plan, client)
        assert (unremoved.is_done, unremoved.error) == (False, "The static member pod-1 is still in the group")
        assert applied(client, plan).is_done
        assert verify_plan(plan, client).is_done
        assert headline(plan).startswith(f"Removes the static member pod-1 (worker-1 at {plan.members[0].host}) from")
        assert headline(plan).endswith("no other member takes its partitions.")
        wait_until(lambda: all(m.member_id != plan.members[0].member_id for m in client.read(group, ()).members))
    finally:
        member.leave()


def test_groups_of_other_kinds_are_refused_with_their_tool(client: GroupClient, topic: str, group: str) -> None:
    with pytest.raises(ResetRefused, match="There is no group"):
        plan_group_deletion(client, unique("nobody"))
