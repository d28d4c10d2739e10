"""Sets up the faults that the demo shows: each function leaves one lasting state.

The numbers are in `plan`, the expected verdicts in `expected_verdicts`.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from kafka import TopicPartition

from lag.embedded.workload import plan
from lag.embedded.workload.admin import Admin, wait_for
from lag.embedded.workload.plan import GroupPlan, Protocol, TopicPlan
from lag.embedded.workload.records import burst, send_in_transaction, transaction
from lag.errors import EmbeddedError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
DOOMED = (plan.DELETED_TOPIC, plan.RECREATED_TOPIC)
MUZZLE = "max.message.bytes"
OFFSETS_SEGMENT_BYTES = 4_194_304
"""Compaction spares the active segment; with the default of 100 MiB it would not begin for days."""


def break_things(admin: Admin, bootstrap_servers: str) -> None:
    """Create topics and first records, and the faults that need a coordinator without members."""
    refuse_foreign_cluster(admin)
    admin.create(plan.TOPICS)
    burst(bootstrap_servers, "demo-seed", [(topic.name, p, topic.seed) for topic in plan.TOPICS for p in _all(topic)])
    for group in _groups_of(DOOMED):
        admin.commit(group.group_id, group.committed)
    delete_with_commits_left(admin)
    for group in plan.GROUPS:
        if group.protocol is Protocol.SHARE:
            admin.set_group_config(group.group_id, {"share.auto.offset.reset": "earliest"})
    admin.set_topic_config(plan.OFFSETS_TOPIC, {"segment.bytes": str(OFFSETS_SEGMENT_BYTES)})


def set_scene(admin: Admin, bootstrap_servers: str) -> None:
    """The other commits, and the faults that need no running client."""
    recreated = plan.RECREATED_TOPIC
    admin.create([recreated])
    again = [(recreated.name, p, plan.RECREATED_RECORDS) for p in _all(recreated)]
    burst(bootstrap_servers, "demo-seed", again)
    for group in _groups_of(topic for topic in plan.TOPICS if topic not in DOOMED):
        if group.committed:
            admin.commit(group.group_id, group.committed)
    truncate(admin)
    leave_only_the_marker(bootstrap_servers)


def refuse_foreign_cluster(admin: Admin) -> None:
    """Raises EmbeddedError unless the cluster is on this machine and empty: the workload deletes topics and records."""
    hosts = set(admin.brokers())
    if not hosts <= LOOPBACK:
        raise EmbeddedError(
            f"The demo workload runs on an embedded Kafka only, and {sorted(hosts - LOOPBACK)[0]} is not this machine",
            "Use `groupscope up`.",
        )
    if topics := admin.topics():
        raise EmbeddedError(
            f"The demo workload needs an empty Kafka, and this one has the topic {sorted(topics)[0]}",
            "Use `groupscope up`.",
        )


def delete_with_commits_left(admin: Admin) -> None:
    """Delete topics so that the group coordinator cannot delete their commits.

    On deletion the coordinator writes tombstones for the commits. While the offsets topic refuses records of that size,
    these writes fail, as without in-sync replicas, and the commits stay.
    """
    groups = _groups_of(DOOMED)
    with _no_writes_to_offsets(admin, groups):
        admin.delete([topic.name for topic in DOOMED])
    for group in groups:
        admin.forget(group.group_id, plan.MARKER_TOPIC, 0)


def truncate(admin: Admin) -> None:
    """Delete records that the group of that topic has not read."""
    before = dict(enumerate(plan.TRUNCATED_BEFORE))
    admin.truncate({TopicPartition(plan.TRUNCATED_TOPIC, p): offset for p, offset in before.items()})


def trim(admin: Admin) -> None:
    """Delete records that some groups have read, in topics without retention, to limit disk use to their lag."""
    for group_id, topic in plan.TRIMMED.items():
        committed = admin.committed(group_id)
        admin.truncate({tp: offset for tp, offset in committed.items() if tp.topic == topic})


def leave_only_the_marker(bootstrap_servers: str) -> None:
    """One committed transaction per partition: its marker is the last entry of the log, which no consumer receives."""
    producer = transaction(bootstrap_servers, "settlement-batch")
    producer.begin_transaction()
    for partition in range(2):
        send_in_transaction(producer, plan.MARKER_TOPIC, partition, plan.BATCH_RECORDS)
    producer.commit_transaction()


@contextmanager
def _no_writes_to_offsets(admin: Admin, groups: Iterable[GroupPlan]) -> Iterator[None]:
    """Inside the block, the coordinators of these groups cannot write; after it, each has written a commit.

    Brokers apply a config some time after they accept it, so commits are retried until they fail, and later until they
    succeed. The last commit is needed: until its next write, a coordinator answers with offsets doubled by the failed
    write.
    """
    admin.set_topic_config(plan.OFFSETS_TOPIC, {MUZZLE: "40"})
    try:
        for group in groups:
            wait_for("commits to fail", partial(_fails, admin, group))
        yield
    finally:
        admin.reset_topic_config(plan.OFFSETS_TOPIC, [MUZZLE])
    for group in groups:
        wait_for("commits to succeed", partial(_writes, admin, group))


def _writes(admin: Admin, group: GroupPlan) -> bool:
    return admin.writes_commit(group.group_id, {plan.MARKER_TOPIC: (0,)})


def _fails(admin: Admin, group: GroupPlan) -> bool:
    return not _writes(admin, group)


def _all(topic: TopicPlan) -> range:
    return range(topic.partitions)


def _groups_of(topics: Iterable[TopicPlan]) -> list[GroupPlan]:
    names = {topic.name for topic in topics}
    return [group for group in plan.GROUPS if names.issuperset(group.topics)]
