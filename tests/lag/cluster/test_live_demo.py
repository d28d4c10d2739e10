"""Every group of the demo, as it runs: it is explained, and its exported scenario starts where the group is."""

import pytest

import assignors
from assignors.scenario import dump
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import open_reader
from lag.embedded.workload.plan import GROUPS, Protocol
from lag.generations.changes import changes
from lag.generations.explanation import Comparison, explain
from lag.generations.live_group import scenario_of, unreconciled
from lag.model import ClusterSnapshot
from lag.verdict.health import Health
from tests.conftest import Demo
from tests.lag.make import judged
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker

WITH_MEMBERS = sorted(group.group_id for group in GROUPS if group.members and group.protocol is not Protocol.ASSIGN)


@pytest.fixture(scope="module")
def health(demo: Demo) -> Health:
    """Two polls of the demo, once each of its groups has settled."""
    reader = open_reader(load_settings(demo.kafka.bootstrap_servers, None, {}), "demo")

    def settled() -> ClusterSnapshot | None:
        seen: ClusterSnapshot = reader.read(1, 0)
        groups = [seen.group(group_id) for group_id in WITH_MEMBERS]
        ready = [group for group in groups if group is not None and group.state == "Stable" and not unreconciled(group)]
        whole = len(ready) == len(groups) and all(any(m.assigned for m in group.members) for group in ready)
        return seen if whole else None

    try:
        first = wait_until(settled, within_s=60, every_s=0.5)
        assert first is not None
        return judged([first, reader.read(2, 1000)])
    finally:
        reader.close()


@pytest.mark.parametrize("group_id", WITH_MEMBERS)
def test_group_is_explained_and_its_exported_scenario_starts_as_it_is(health: Health, group_id: str) -> None:
    group = health.snapshot.group(group_id)
    assert group is not None
    assert explain(group, health.snapshot.topics).verdict is Comparison.SAME
    live = scenario_of(group, health)
    text = dump(live.scenario)
    start = assignors.fold(assignors.load_scenario(text))[0]
    assert start.event == "initial state"
    assert {name: set(partitions) for name, partitions in start.after.by_member.items()} == {
        member.member_id: set(member.assigned) for member in group.members
    }
    assert changes(live.scenario, group, health.snapshot.topics) == []
