"""`groupscope reset` by an account that lacks an ACL: nothing is written, and the message says what to grant."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from kafka.admin import ACLOperation, KafkaAdminClient, ResourceType

from lag.cluster.group_client import GroupClient
from tests.app.cli.commandline import Done, run
from tests.app.cli.test_bad_input import login
from tests.conftest import USERS
from tests.support.acls import allowed, denied
from tests.support.member import Member
from tests.support.reset_cluster import commits, group_client, make_topic, produce, unique
from tests.support.secure_kafka import SecureKafka
from tests.support.waiting import wait_until

READ, DELETE, DESCRIBE = ACLOperation.READ, ACLOperation.DELETE, ACLOperation.DESCRIBE
GROUP, TOPIC = ResourceType.GROUP, ResourceType.TOPIC


class Account:
    """The account bob with what a plan needs: READ on the topic, DESCRIBE on the group."""

    def __init__(self, kafka: SecureKafka, client: GroupClient, config: str) -> None:
        self.kafka, self.client, self.config = kafka, client, config
        self.topic, self.group = unique("acl-orders"), unique("acl-billing")
        make_topic(kafka.bootstrap_servers, self.topic)
        produce(kafka.bootstrap_servers, self.topic, {0: 10})
        assert client.commit(self.group, commits(self.topic, {0: 5})) == {}

    def __call__(self, *args: str, env: Mapping[str, str] | None = None) -> Done:
        return run("reset", *args, "--config", self.config, "--deadline", "60", env=env)

    def planned(self, folder: Path, *arguments: str) -> Path:
        plan = folder / "plan.json"
        named = [each.format(group=self.group, topic=self.topic) for each in arguments]
        made = self(*named, "--out", str(plan))
        assert made.code == 0, made
        return plan

    def apply(self, plan: Path) -> Done:
        return self("apply", str(plan), "--allow-writes", "--yes", env={"GROUPSCOPE_UNDO_FOLDER": str(plan.parent)})

    @contextmanager
    def granted(self, operation: ACLOperation, kind: ResourceType, name: str) -> Iterator[None]:
        servers = self.kafka.bootstrap_servers
        with KafkaAdminClient(bootstrap_servers=servers) as admin, allowed(admin, "bob", operation, (kind, name)):
            yield

    @contextmanager
    def denied(self, operation: ACLOperation, kind: ResourceType, name: str) -> Iterator[None]:
        servers = self.kafka.bootstrap_servers
        with KafkaAdminClient(bootstrap_servers=servers) as admin, denied(admin, "bob", operation, (kind, name)):
            yield


@pytest.fixture
def account(secure_kafka: SecureKafka, tmp_path: Path) -> Iterator[Account]:
    with group_client(secure_kafka.bootstrap_servers) as client:
        made = Account(secure_kafka, client, login(secure_kafka, tmp_path, "bob", USERS["bob"]))
        with made.granted(READ, TOPIC, made.topic), made.granted(DESCRIBE, GROUP, made.group):
            yield made


Change = tuple[tuple[str, ...], ACLOperation]
COMMIT: Change = (("plan", "{group}", "--to-earliest", "--all-topics"), READ)
DELETE_OFFSETS: Change = (("plan", "{group}", "--delete-offsets", "--topic", "{topic}"), DELETE)
DELETE_GROUP: Change = (("delete-group", "{group}"), DELETE)


@pytest.mark.parametrize("change", [COMMIT, DELETE_OFFSETS, DELETE_GROUP], ids=["commit", "delete offsets", "delete"])
def test_a_change_needs_its_operation_on_the_group(account: Account, tmp_path: Path, change: Change) -> None:
    arguments, operation = change
    before = account.client.commits(account.group)
    plan = account.planned(tmp_path, *arguments)
    refused = account.apply(plan)
    assert refused.code == 3, refused
    assert f"not authorised: grant {operation.name} on group {account.group}" in refused.out + refused.err
    assert account.client.commits(account.group) == before
    with account.granted(operation, GROUP, account.group):
        done = account.apply(plan)
        assert done.code == 0, done
    assert account.client.commits(account.group) != before


def test_a_change_of_offsets_needs_read_on_the_topic(account: Account, tmp_path: Path) -> None:
    plan = account.planned(tmp_path, *COMMIT[0])
    with account.granted(READ, GROUP, account.group), account.denied(READ, TOPIC, account.topic):
        refused = account.apply(plan)
    assert refused.code == 3, refused
    assert f"not authorised: grant READ on topic {account.topic}" in refused.out + refused.err


def test_the_removal_of_a_static_member_needs_read_on_the_group(account: Account, tmp_path: Path) -> None:
    settings = {"group.instance.id": "worker-1", "group.protocol": "classic"}
    member = Member(account.kafka.bootstrap_servers, account.group, [account.topic], settings)
    try:
        wait_until(lambda: len(member.held) == 1, 120)
        plan = account.planned(tmp_path, "remove-member", "{group}", "--instance-id", "worker-1")
        refused = account.apply(plan)
        assert refused.code == 3, refused
        assert f"not authorised: grant READ on group {account.group}" in refused.out + refused.err
        with account.granted(READ, GROUP, account.group):
            assert account.apply(plan).code == 0
    finally:
        member.leave()
