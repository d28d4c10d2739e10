"""Our snapshot equals what Kafka's own tools say, field by field, on every group of the demo.

The members and producers of the demo stand still meanwhile. What is under way at the broker may still change something,
so an answer of theirs is compared where ours from just before and just after it agree.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from app.documents.snapshot import snapshot_document
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import ClusterReader, open_reader
from lag.model import ClusterSnapshot, GroupSnapshot, GroupType
from lag.offsets import PartitionLag, PartitionProblem
from lag.partition_lag import totals
from lag.verdict.judge import judge
from lag.verdict.window.sample_window import SampleRing
from tests.conftest import Demo
from tests.oracle import consumer_groups as oracle
from tests.support.demo_groups import PROBLEMS, STATES, TYPES
from tests.support.known import known
from tests.support.suspended import suspended
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.usefixtures("java_classes")]

DELETED = {group_id for group_id, problem in PROBLEMS.items() if problem is PartitionProblem.TOPIC_DELETED}
SHARED = {group_id for group_id, kind in TYPES.items() if kind is GroupType.SHARE}
PLAIN = sorted(TYPES.keys() - DELETED - SHARED)


@pytest.fixture
def reader(demo: Demo) -> Iterator[ClusterReader]:
    made = open_reader(load_settings(demo.kafka.bootstrap_servers, None, {}), "demo")
    yield made
    made.close()


Rows = dict[tuple[str, str, int], Any]


def agreed(demo: Demo, reader: ClusterReader, ask: Callable[[], Rows], ours: Callable[[ClusterSnapshot], Rows]) -> Rows:
    """Theirs for every key of ours, each taken while ours did not change; fails on the first that differs."""
    seen: Rows = {}

    def round_of_questions() -> bool:
        with suspended(known(demo.workload.pid)):  # shorter than a session: no member is removed
            before, theirs, after = ours(reader.read(1, 0)), ask(), ours(reader.read(2, 0))
        still = {key for key, value in before.items() if after.get(key) == value}
        assert {key: theirs.get(key) for key in still} == {key: before[key] for key in still}
        assert not set(theirs) - set(before) - set(after)
        seen.update({key: theirs[key] for key in still})
        return set(before) <= set(seen)

    wait_until(round_of_questions, within_s=120, every_s=0)
    return seen


def plain_rows(snapshot: ClusterSnapshot) -> Iterator[tuple[GroupSnapshot, PartitionLag]]:
    """Rows that the tool prints: it leaves out partitions that are neither committed nor owned."""
    for group_id in PLAIN:
        group = snapshot.group(group_id)
        assert group is not None, f"{group_id} is missing: {snapshot.problems}"
        for row in group.partitions:
            if row.committed is not None or row.member_id is not None:
                yield group, row


def test_offsets_lag_and_owner_of_every_partition(demo: Demo, reader: ClusterReader) -> None:
    def ours(snapshot: ClusterSnapshot) -> Rows:
        return {
            (group.group_id, row.tp.topic, row.tp.partition): (
                row.committed,
                row.log_end,
                plain_lag(row),
                *owner(group, row),
            )
            for group, row in plain_rows(snapshot)
        }

    compared = agreed(demo, reader, lambda: tool_rows(demo), ours)
    assert {group for group, _, _ in compared} == set(PLAIN)


def tool_rows(demo: Demo) -> Rows:
    return {
        (r.group, r.topic, r.partition): (r.committed, r.log_end, r.lag, r.member_id, r.host, r.client_id)
        for r in oracle.offsets(demo.kafka.bootstrap_servers, PLAIN)
    }


def plain_lag(row: PartitionLag) -> int | None:
    """The tool's lag is log end - committed whatever they are: lost records count, and it may be negative."""
    return None if row.committed is None or row.log_end is None else row.log_end - row.committed


def owner(group: GroupSnapshot, row: PartitionLag) -> tuple[str | None, str | None, str | None]:
    by_id = {member.member_id: member for member in group.members}
    member = by_id.get(row.member_id or "")
    return (member.member_id, member.host, member.client_id) if member else (None, None, None)


def test_lag_is_the_tools_lag_unless_records_are_lost_or_the_log_was_cut(reader: ClusterReader) -> None:
    differing = set()
    for group, row in plain_rows(reader.read(1, 0)):
        if row.lag_records == plain_lag(row):
            continue
        differing.add(group.group_id)
        if row.problem is PartitionProblem.BELOW_LOG_START:
            assert row.lag_records is not None
            assert row.lost_records is not None
            assert row.lag_records + row.lost_records == plain_lag(row)
        else:
            assert (row.problem, row.lag_records) == (PartitionProblem.BEYOND_END, None)
            assert (plain_lag(row) or 0) < 0
    cases = (PartitionProblem.BELOW_LOG_START, PartitionProblem.BEYOND_END)
    assert differing == {group_id for group_id, problem in PROBLEMS.items() if problem in cases}


def test_state_assignor_coordinator_and_number_of_members(demo: Demo, reader: ClusterReader) -> None:
    def ours(snapshot: ClusterSnapshot) -> Rows:
        found = [group for group in snapshot.groups if group.group_id in PLAIN]
        return {(g.group_id, "", 0): (g.coordinator, g.assignor, g.state, len(g.members)) for g in found}

    def theirs() -> Rows:
        states = oracle.states(demo.kafka.bootstrap_servers, PLAIN)
        return {(s.group, "", 0): (s.coordinator, s.assignor, s.state, s.members) for s in states}

    assert {group for group, _, _ in agreed(demo, reader, theirs, ours)} == set(PLAIN)


def described(groups: Sequence[GroupSnapshot]) -> Rows:
    """As `oracle.JavaGroup`, in its own words."""
    return {(group.group_id, "", 0): java_group(group) for group in groups}


def java_group(group: GroupSnapshot) -> oracle.JavaGroup:
    members = tuple(
        oracle.JavaMember(
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            host=member.host,
            epoch=member.epoch,
            assigned=tuple((tp.topic, tp.partition) for tp in member.assigned),
            target=None if member.target is None else tuple((tp.topic, tp.partition) for tp in sorted(member.target)),
        )
        for member in sorted(group.members, key=lambda member: member.member_id)
    )
    assignor = None if group.type is GroupType.SHARE else group.assignor
    return oracle.JavaGroup(
        group.state, assignor, group.epoch, group.assignment_epoch, group.coordinator or -1, members
    )


def test_members_epochs_and_targets_of_classic_and_kip_848_groups(demo: Demo, reader: ClusterReader) -> None:
    ids = sorted(TYPES.keys() - SHARED)

    def ours(snapshot: ClusterSnapshot) -> Rows:
        return described([group for group in snapshot.groups if group.group_id in ids])

    with oracle.admin(demo.kafka.bootstrap_servers) as client:
        compared = agreed(demo, reader, lambda: named(oracle.consumer_groups(client, ids)), ours)
    assert {group for group, _, _ in compared} == set(ids)


def named(groups: dict[str, oracle.JavaGroup]) -> Rows:
    return {(group_id, "", 0): group for group_id, group in groups.items()}


def test_members_epochs_and_offsets_of_the_share_group(demo: Demo, reader: ClusterReader) -> None:
    ids = sorted(SHARED)

    def ours(snapshot: ClusterSnapshot) -> Rows:
        groups = [group for group in snapshot.groups if group.group_id in ids]
        offsets = {
            (group.group_id, row.tp.topic, row.tp.partition): (row.committed, row.lag_records)
            for group in groups
            for row in group.partitions
        }
        return described(groups) | offsets

    with oracle.admin(demo.kafka.bootstrap_servers) as client:

        def theirs() -> Rows:
            offsets = {
                (group_id, *tp): found
                for group_id in ids
                for tp, found in oracle.share_offsets(client, group_id).items()
            }
            return named(oracle.share_groups(client, ids)) | offsets

        compared = agreed(demo, reader, theirs, ours)
    assert len(compared) == len(ids) + 4


def test_json_of_the_snapshot_command(demo: Demo, reader: ClusterReader) -> None:
    """It is written from whole columns, not from the objects that the other tests compare."""

    def ours(snapshot: ClusterSnapshot) -> Rows:
        shown = list(zip(snapshot.groups, totals(snapshot), strict=True))
        groups = [
            g
            for g in json.loads(json.dumps(snapshot_document(judge(snapshot, SampleRing().append(snapshot)), shown)))[
                "groups"
            ]
            if g["group_id"] in PLAIN
        ]
        rows = {
            (group["group_id"], row["topic"], row["partition"]): row_fields(group, row)
            for group in groups
            for row in group["partitions"]
            if row["committed"] is not None or row["member_id"] is not None
        }
        return rows | {(group["group_id"], "", 0): group_fields(group) for group in groups}

    with oracle.admin(demo.kafka.bootstrap_servers) as client:
        compared = agreed(demo, reader, lambda: tool_rows(demo) | named(oracle.consumer_groups(client, PLAIN)), ours)
    assert {group for group, topic, _ in compared if topic} == set(PLAIN)
    assert {group for group, topic, _ in compared if not topic} == set(PLAIN)


def row_fields(group: dict[str, Any], row: dict[str, Any]) -> tuple[object, ...]:
    """A partition of the document in the tool's terms: it counts lost records as lag, and cut ones as negative lag."""
    lag = row["log_end"] - row["committed"] if row["problem"] == "beyond_end" else row["lag"]
    by_id = {member["member_id"]: member for member in group["members"]}
    member = by_id.get(row["member_id"], {"member_id": None, "host": None, "client_id": None})
    return (
        row["committed"], row["log_end"], None if lag is None else lag + (row["lost"] or 0),
        member["member_id"], member["host"], member["client_id"],
    )  # fmt: skip


def group_fields(group: dict[str, Any]) -> oracle.JavaGroup:
    members = tuple(
        oracle.JavaMember(
            **{key: member[key] for key in ("member_id", "instance_id", "client_id", "host", "epoch")},
            assigned=tuple((topic, partition) for topic, partition in member["assigned"]),
            target=None
            if member["target"] is None
            else tuple((topic, part) for topic, part in sorted(member["target"])),
        )
        for member in sorted(group["members"], key=lambda member: str(member["member_id"]))
    )
    return oracle.JavaGroup(
        **{key: group[key] for key in ("state", "assignor", "epoch", "assignment_epoch", "coordinator")},
        members=members,
    )


def test_commits_left_for_a_deleted_topic_equal_those_of_the_admin_client(demo: Demo, reader: ClusterReader) -> None:
    snapshot = reader.read(1, 0)
    for group_id in DELETED:
        group = snapshot.group(group_id)
        assert group is not None
        with oracle.admin(demo.kafka.bootstrap_servers) as client:
            theirs = oracle.committed(client, group_id)
        assert {(row.tp.topic, row.tp.partition): row.committed for row in group.partitions} == theirs
        assert {row.problem for row in group.partitions} == {PartitionProblem.TOPIC_DELETED}


def test_every_case_of_the_demo_is_a_group_of_its_type_and_state(reader: ClusterReader) -> None:
    expected = {group_id: (TYPES[group_id], STATES[group_id]) for group_id in TYPES}

    def settled() -> bool:
        groups = {g.group_id: (g.type, g.state) for g in reader.read(1, 0).groups}
        return {group_id: groups.get(group_id) for group_id in expected} == expected

    wait_until(settled, within_s=60)
