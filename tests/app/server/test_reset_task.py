"""The steps of the page Reset offsets, each in a process of its own, on a real broker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.server.reset_task import ResetRun, ResetTask, Step
from app.server.settings import ClusterSettings
from lag.cluster.group_client import GroupClient
from lag.embedded.broker import EmbeddedKafka
from lag.reset.model import Plan
from lag.reset.plan_file import load_plan, plan_from_document
from lag.reset.planning import Request
from lag.reset.specification import Earliest
from tests.support.known import known
from tests.support.reset_cluster import commits, group_client, make_topic, produce, unique

pytestmark = [pytest.mark.broker, pytest.mark.process]


@pytest.fixture
def client(kafka: EmbeddedKafka) -> Iterator[GroupClient]:
    with group_client(kafka.bootstrap_servers) as made:
        yield made


def ended(task: ResetTask) -> ResetRun:
    run = ResetRun(task)
    run.wait(120)
    assert not run.is_running
    return run


def test_planned_refused_without_permission_applied_and_verified(
    kafka: EmbeddedKafka, client: GroupClient, tmp_path: Path
) -> None:
    topic, group = unique("orders"), unique("billing")
    make_topic(kafka.bootstrap_servers, topic)
    produce(kafka.bootstrap_servers, topic, {0: 10})
    client.commit(group, commits(topic, {0: 7}))
    cluster = ClusterSettings(name="test", bootstrap_servers=kafka.bootstrap_servers)
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
