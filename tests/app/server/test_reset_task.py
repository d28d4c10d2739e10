"""The steps of the page Reset offsets, each in a process of its own, on a real broker."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.server.access.visitor import Grant, Role, Visitor
from app.server.reset_audit import AuditedChange
from app.server.reset_task import Asked, FileRequest, GroupDeletion, MemberRemoval, ResetRun, ResetTask, Step
from app.server.settings import ClusterSettings, Settings
from app.server.source import Source
from lag.audit.event import Outcome
from lag.audit.log import AuditLog
from lag.cluster.group_client import GroupClient
from lag.embedded.broker import EmbeddedKafka
from lag.errors import WritesNotAllowed
from lag.reset.asked.specification import Earliest
from lag.reset.files.plan_file import load_plan, plan_from_document
from lag.reset.model import Plan
from lag.reset.planning.make_plan import Request
from tests.support.known import known
from tests.support.reset_cluster import commits, group_client, make_topic, produce, unique

pytestmark = [pytest.mark.broker, pytest.mark.process]


@pytest.fixture
def client(kafka: EmbeddedKafka) -> Iterator[GroupClient]:
    with group_client(kafka.bootstrap_servers) as made:
        yield made


def ended(task: ResetTask, on_end: Callable[[ResetRun], None] = lambda run: None) -> ResetRun:
    run = ResetRun(task, on_end)
    run.wait(120)
    assert not run.is_running
    return run


def committed(kafka: EmbeddedKafka, client: GroupClient) -> tuple[ClusterSettings, str, str]:
    """A topic with ten records in one partition, and a group that has committed 7."""
    topic, group = unique("orders"), unique("billing")
    make_topic(kafka.bootstrap_servers, topic)
    produce(kafka.bootstrap_servers, topic, {0: 10})
    client.commit(group, commits(topic, {0: 7}))
    cluster = ClusterSettings(name="test", bootstrap_servers=kafka.bootstrap_servers)
    return cluster, topic, group


def test_planned_refused_without_permission_applied_and_verified(
    kafka: EmbeddedKafka, client: GroupClient, tmp_path: Path
) -> None:
    cluster, topic, group = committed(kafka, client)
    request = Request(group, Earliest(), all_topics=True)
    plan: Plan = plan_from_document(known(ended(ResetTask(Step.PLAN, cluster, request)).document))
    assert [(row.from_offset, row.to_offset) for row in plan.partitions] == [(7, 0)]

    refused = ended(ResetTask(Step.APPLY, cluster, None, plan, False, tmp_path))
    assert "--allow-writes" in str(refused.error)
    assert client.commits(group) == commits(topic, {0: 7})

    applied = known(ended(ResetTask(Step.APPLY, cluster, None, plan, True, tmp_path / "undo")).document)
    assert applied["done"] is True
    assert client.commits(group) == commits(topic, {0: 0})
    assert [row.to_offset for row in load_plan(Path(applied["undo"])).partitions] == [7]
    assert known(ended(ResetTask(Step.VERIFY, cluster, None, plan)).document)["done"] is True


def test_files_are_read_and_a_group_is_deleted_in_the_process(
    kafka: EmbeddedKafka, client: GroupClient, tmp_path: Path
) -> None:
    cluster, topic, group = committed(kafka, client)

    def planned(asked: Asked) -> ResetRun:
        return ended(ResetTask(Step.PLAN, cluster, asked))

    from_csv = known(planned(FileRequest(group, "o.csv", f"{topic},0,3\n".encode())).document)
    from_plan = known(planned(FileRequest(group, "p.json", json.dumps(from_csv).encode())).document)
    assert [row["to"] for document in (from_csv, from_plan) for row in document["partitions"]] == [3, 3]
    wrong = planned(FileRequest(group, "o.csv", f"{topic},0,3\n{topic},x,3\n".encode()))
    assert known(wrong.error).cause == "o.csv, line 2: this is not topic,partition,offset"
    nobody = planned(MemberRemoval(group, "pod-1"))
    assert known(nobody.error).hint == "It has no static members"

    plan = plan_from_document(known(planned(GroupDeletion(group)).document))
    unapplied = known(ended(ResetTask(Step.VERIFY, cluster, None, plan)).document)
    assert (unapplied["done"], unapplied["error"]) == (False, f"Group {group} still exists")
    applied = known(ended(ResetTask(Step.APPLY, cluster, None, plan, True, tmp_path)).document)
    assert applied["done"] is True
    assert client.read(group, ()).type is None
    assert Path(applied["undo_csv"]).read_text() == f"{topic},0,7\n"


def test_a_change_on_the_page_is_audited_from_start_to_end_and_a_viewer_is_refused(
    kafka: EmbeddedKafka, client: GroupClient, tmp_path: Path
) -> None:
    cluster, topic, group = committed(kafka, client)
    planned = ended(ResetTask(Step.PLAN, cluster, Request(group, Earliest(), all_topics=True)))
    plan = plan_from_document(known(planned.document))
    audit = AuditLog()

    def change(role: Role) -> AuditedChange:
        visitor = Visitor("ann@example.com", "10.0.0.7", (Grant(role),))
        return AuditedChange(Source(Settings.model_construct(), {}, audit=audit, visitor=visitor), "test", plan)

    with pytest.raises(WritesNotAllowed, match="Your role does not allow changes to group"):
        change(Role.VIEWER).start()
    allowed = change(Role.OPERATOR)
    for folder in (tmp_path / "first", tmp_path / "second"):
        allowed.start()
        ended(ResetTask(Step.APPLY, cluster, None, plan, True, folder), allowed.end)
        client.commit(group, commits(topic, {0: 3}))
    found = [
        (event.outcome, event.actor, event.address, event.group, event.cluster)
        for event in reversed(list(audit.newest_first()))
    ]
    outcomes = (Outcome.REFUSED, Outcome.STARTED, Outcome.OK, Outcome.STARTED, Outcome.REFUSED)
    assert found == [(outcome, "ann@example.com", "10.0.0.7", group, "test") for outcome in outcomes]
    assert "is now at 3" in next(audit.newest_first()).detail


def test_a_read_only_cluster_is_never_written(kafka: EmbeddedKafka, client: GroupClient, tmp_path: Path) -> None:
    topic, group = unique("orders"), unique("billing")
    make_topic(kafka.bootstrap_servers, topic)
    client.commit(group, commits(topic, {0: 0}))
    config = tmp_path / "client.properties"
    config.write_text("groupscope.read.only=true\n")
    cluster = ClusterSettings(name="test", bootstrap_servers=kafka.bootstrap_servers, config=config)
    request = Request(group, Earliest(), all_topics=True)
    plan = plan_from_document(known(ended(ResetTask(Step.PLAN, cluster, request)).document))
    refused = ended(ResetTask(Step.APPLY, cluster, None, plan, True, tmp_path))
    assert "marked read-only" in str(refused.error)


def test_a_cluster_that_does_not_answer_is_an_error_with_its_hint() -> None:
    cluster = ClusterSettings(name="test", bootstrap_servers="127.0.0.1:1")
    run = ended(ResetTask(Step.PLAN, cluster, Request("billing", Earliest(), ("orders",))))
    assert run.document is None
    assert known(run.error).hint
