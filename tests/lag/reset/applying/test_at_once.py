"""Opposite plans applied at once: what each reports is what the group had committed when it was read back."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assignors.model import TopicPartition
from lag.audit.event import Outcome as AuditOutcome
from lag.audit.reset_events import Change
from lag.cluster.group_client import GroupClient
from lag.embedded.broker import EmbeddedKafka
from lag.errors import ConfigError, ResetRefused
from lag.reset.access import Errors
from lag.reset.applying.apply import Applied, ChangeEvent, apply_plan
from lag.reset.applying.verify import Outcome
from lag.reset.asked.specification import Delete, Earliest, Latest, Specification
from lag.reset.files.plan_document import plan_text
from lag.reset.files.plan_file import write_new
from lag.reset.files.undo_files import UndoFiles
from lag.reset.model import Commit, Plan
from lag.reset.planning.make_plan import Request, plan_group_deletion, plan_offsets
from tests.support.forge import COMMAND
from tests.support.full_disk import full_disk
from tests.support.member import Member
from tests.support.reset_cluster import KeptUndo, commits, group_client, make_topic, now_ms, produce, unique
from tests.support.waiting import wait_until

PARTITIONS = 4
MIDDLE, START, END = (dict.fromkeys(range(PARTITIONS), offset) for offset in (5, 0, 10))
"""Offsets of all partitions: where each round begins, and where the two plans go."""


@pytest.fixture(scope="module")
def client(kafka: EmbeddedKafka) -> Iterator[GroupClient]:
    with group_client(kafka.bootstrap_servers) as made:
        yield made


@pytest.fixture(scope="module")
def other(kafka: EmbeddedKafka) -> Iterator[GroupClient]:
    """The connections of another process."""
    with group_client(kafka.bootstrap_servers) as made:
        yield made


@pytest.fixture(scope="module")
def topic(kafka: EmbeddedKafka) -> str:
    name = unique("orders")
    make_topic(kafka.bootstrap_servers, name, PARTITIONS)
    produce(kafka.bootstrap_servers, name, dict.fromkeys(range(PARTITIONS), 10))
    return name


@pytest.fixture(scope="module", params=["classic", "consumer"])
def group(kafka: EmbeddedKafka, client: GroupClient, topic: str, request: pytest.FixtureRequest) -> str:
    """A group that its last member has left."""
    name = unique(f"billing-{request.param}")
    member = Member(kafka.bootstrap_servers, name, [topic], {"group.protocol": request.param})
    try:
        wait_until(lambda: len(member.held) == PARTITIONS, 120)
    finally:
        member.leave()
    wait_until(lambda: not client.read(name, ()).is_active, 60)
    return name


def planned(client: GroupClient, group: str, topic: str, asked: Specification) -> Plan:
    return plan_offsets(client, Request(group, asked, (topic,)))


def opposite_plans(client: GroupClient, group: str, topic: str) -> tuple[Plan, Plan]:
    assert client.commit(group, commits(topic, MIDDLE)) == {}
    return planned(client, group, topic, Earliest()), planned(client, group, topic, Latest())


def at_once(*works: Callable[[], Applied]) -> list[Applied | ResetRefused]:
    """The result of each, or its refusal."""
    together = threading.Barrier(len(works))

    def run(work: Callable[[], Applied]) -> Applied | ResetRefused:
        together.wait(60)
        try:
            return work()
        except ResetRefused as refusal:
            return refusal

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


@pytest.mark.parametrize("attempt", range(10))
def test_of_two_opposite_plans_one_is_done_and_the_other_refused(
    client: GroupClient, other: GroupClient, topic: str, group: str, tmp_path: Path, attempt: int
) -> None:
    back, on = opposite_plans(client, group, topic)

    def applied(plan: Plan, its: GroupClient) -> Applied:
        file = tmp_path / f"{plan.specification}.json"
        return apply_plan(plan, its, UndoFiles(file, tmp_path / "undo"), now_ms, batch=1)

    found = at_once(lambda: applied(back, client), lambda: applied(on, other))
    (done,) = (each for each in found if isinstance(each, Applied))
    (refusal,) = (each for each in found if isinstance(each, ResetRefused))
    assert done.is_done
    assert client.commits(group) == commits(topic, START if done.plan is back else END)
    assert f"{topic}-0 was at 5 and is now at {0 if done.plan is back else 10}" in refusal.cause
    assert list((tmp_path / "undo").iterdir()) == []


@pytest.mark.process
@pytest.mark.parametrize("attempt", range(3))
def test_of_two_commands_with_opposite_plans_one_is_done_and_the_other_refused(
    kafka: EmbeddedKafka, client: GroupClient, topic: str, group: str, tmp_path: Path, attempt: int
) -> None:
    plans = opposite_plans(client, group, topic)
    processes = []
    for number, plan in enumerate(plans):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_new(folder / "plan.json", plan_text(plan))
        command = [COMMAND, "reset", "apply", str(folder / "plan.json"), "--allow-writes", "--yes"]
        command += ["--bootstrap-server", kafka.bootstrap_servers, "--deadline", "60"]
        processes.append(
            subprocess.Popen(
                command,
                env=os.environ | {"GROUPSCOPE_UNDO_FOLDER": str(tmp_path)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    ended = [(*process.communicate(timeout=120), process.returncode) for process in processes]
    assert sorted(code for _, _, code in ended) == [0, 1], ended
    back_is_done = ended[0][2] == 0
    assert client.commits(group) == commits(topic, START if back_is_done else END)
    out, err, _ = ended[0 if back_is_done else 1]
    assert (out.count("at the new offset"), err.strip()) == (PARTITIONS, f"{PARTITIONS} at the new offset")
    _, refusal, _ = ended[1 if back_is_done else 0]
    assert f"was at 5 and is now at {0 if back_is_done else 10}" in refusal


class Meeting:
    """A client of another machine: its writes and its reading back wait for those of the others that it meets."""

    def __init__(self, client: GroupClient, written: threading.Barrier) -> None:
        self._client, self._written = client, written

    def commit(self, group_id: str, offsets: Mapping[TopicPartition, Commit]) -> Errors:
        self._written.wait(60)
        return self._client.commit(group_id, offsets)

    def commits(self, group_id: str) -> Mapping[TopicPartition, Commit]:
        self._written.wait(60)
        return self._client.commits(group_id)

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)


@pytest.mark.parametrize("attempt", range(5))
def test_of_two_machines_that_write_before_either_reads_back_the_first_says_that_it_is_overwritten(
    client: GroupClient, other: GroupClient, topic: str, group: str, attempt: int
) -> None:
    back, on = opposite_plans(client, group, topic)
    written = threading.Barrier(2)

    def applied(plan: Plan, its: GroupClient) -> Applied:
        meeting: GroupClient = Meeting(its, written)  # type: ignore[assignment]
        return apply_plan(plan, meeting, KeptUndo(), now_ms)

    found = at_once(lambda: applied(back, client), lambda: applied(on, other))
    final = client.commits(group)
    for each in found:
        assert isinstance(each, Applied)
        wanted = {row.tp: row.to_offset for row in each.plan.partitions}
        for result in each.results:
            assert result.now == final[result.tp].offset
            is_there = result.now == wanted[result.tp]
            assert result.outcome is (Outcome.DONE if is_there else Outcome.OVERWRITTEN)
    assert sorted(each.is_done for each in found if isinstance(each, Applied)) == [False, True]


class Interrupted:
    """A client after whose writes something else commits."""

    def __init__(self, client: GroupClient, then: Callable[[], object]) -> None:
        self._client, self._then = client, then

    def commits(self, group_id: str) -> Mapping[TopicPartition, Commit]:
        self._then()
        return self._client.commits(group_id)

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)


def interrupted(client: GroupClient, plan: Plan, then: Callable[[], object]) -> tuple[Applied, list[str]]:
    """The result, and the details in the audit log."""
    events: list[ChangeEvent] = []
    its: GroupClient = Interrupted(client, then)  # type: ignore[assignment]
    applied = apply_plan(plan, its, KeptUndo(), now_ms, events.append)
    audited = [Change(plan, "ann", "", "prod").step(event) for event in events]
    assert [event.outcome for event in audited] == [AuditOutcome.STARTED, AuditOutcome.FAILED]
    return applied, [event.detail for event in audited]


def test_one_partition_that_something_else_committed_is_named_and_the_others_are_done(
    client: GroupClient, topic: str, group: str
) -> None:
    back, _ = opposite_plans(client, group, topic)
    applied, details = interrupted(client, back, lambda: client.commit(group, commits(topic, {2: 7})))
    assert [(each.outcome, each.now) for each in applied.results] == [
        (Outcome.DONE, 0),
        (Outcome.DONE, 0),
        (Outcome.OVERWRITTEN, 7),
        (Outcome.DONE, 0),
    ]
    assert (applied.is_done, applied.error) == (
        False,
        f"{topic}-2: written, but now at 7: something else committed it",
    )
    assert details[1] == applied.error


def test_the_old_offset_that_something_else_committed_again_was_written_all_the_same(
    client: GroupClient, topic: str, group: str
) -> None:
    back, _ = opposite_plans(client, group, topic)
    applied, _ = interrupted(client, back, lambda: client.commit(group, commits(topic, MIDDLE)))
    assert {each.outcome for each in applied.results} == {Outcome.OVERWRITTEN}
    assert applied.error == f"{topic}-0: written, but now at 5: something else committed it; and 3 more"


def test_an_offset_that_something_else_deleted_is_named(client: GroupClient, topic: str, group: str) -> None:
    back, _ = opposite_plans(client, group, topic)
    gone = [TopicPartition(topic, 0)]
    applied, _ = interrupted(client, back, lambda: client.delete_offsets(group, gone))
    assert applied.error == f"{topic}-0: written, but nothing is committed now: something else deleted it"


def test_a_deleted_offset_that_something_else_committed_is_named(client: GroupClient, topic: str, group: str) -> None:
    opposite_plans(client, group, topic)
    plan = planned(client, group, topic, Delete())
    applied, _ = interrupted(client, plan, lambda: client.commit(group, commits(topic, {3: 1})))
    assert applied.error == f"{topic}-3: deleted, but now at 1: something else committed it"


def test_a_deleted_group_that_something_else_made_again_is_not_gone(client: GroupClient, topic: str) -> None:
    name = unique("idle")
    client.commit(name, commits(topic, {0: 5}))
    plan = plan_group_deletion(client, name)

    class MadeAgain(Interrupted):
        def delete_group(self, group_id: str) -> str | None:
            refused = self._client.delete_group(group_id)
            self._then()
            return refused

    its: GroupClient = MadeAgain(client, lambda: client.commit(name, commits(topic, {1: 2})))  # type: ignore[assignment]
    applied = apply_plan(plan, its, KeptUndo(), now_ms)
    assert (applied.is_done, applied.error) == (
        False,
        f"Group {name} still exists, though it was removed: something else uses the group",
    )


def test_a_full_disk_refuses_the_plan_before_anything_is_written(
    client: GroupClient, topic: str, group: str, tmp_path: Path
) -> None:
    back, _ = opposite_plans(client, group, topic)
    file = tmp_path / "plan.json"
    write_new(file, plan_text(back))
    with full_disk(after_bytes=500), pytest.raises(ConfigError, match=r"plan\.undo\.json cannot be written"):
        apply_plan(back, client, UndoFiles(file, tmp_path), now_ms)
    assert client.commits(group) == commits(topic, MIDDLE)
    assert list(tmp_path.iterdir()) == [file]
    assert apply_plan(back, client, UndoFiles(file, tmp_path), now_ms).is_done
    assert (tmp_path / "plan.undo.json").exists()
