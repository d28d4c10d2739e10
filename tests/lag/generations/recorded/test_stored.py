"""KIP-848 and share groups of a real broker: the history has the same rebalances as all their records, read live."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import confluent_kafka
import pyarrow as pa
import pytest
from deltalake import Transaction

from lag.cluster.connection.settings import load_settings
from lag.cluster.offsets_log import open_offsets_log
from lag.embedded.broker import EmbeddedKafka
from lag.generations import stored_rebalances as module
from lag.generations.recent import RecentRebalances, recent_rebalances
from lag.generations.recorded import RecordedGeneration
from lag.generations.recorded.history import stored_generations
from lag.generations.recorded.model import RecordedState
from lag.generations.stored_rebalances import stored_rebalances
from lag.generations.tail import Tail
from lag.history.maintenance import maintain
from lag.history.schemas import TABLES, TIME
from lag.history.store import History
from lag.pipeline.ingest import Job, ingest
from lag.pipeline.worker_results import files_of
from tests.lag.pipeline import broker_side
from tests.support.consumers import TICK_S, Running
from tests.support.member import Member
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker

TOPICS = {"orders": 6, "refunds": 3}
CLUSTER = "c1"
QUICK = {
    f"group.{kind}.{name}": value
    for kind in ("consumer", "share")
    for name, value in (
        ("heartbeat.interval.ms", "300"),
        ("min.heartbeat.interval.ms", "300"),
        ("assignment.interval.ms", "0"),
    )
}
COURSE = ("a", "b", "-a", "-b", "c", "d", "e", "-d")
"""Who joins and leaves, one after the other: in between the group is empty."""


class World(NamedTuple):
    """What the broker has in `__consumer_offsets`, what a tail made of it, and the names of the topics."""

    records: Sequence[broker_side.TimedRecord]
    generations: Mapping[str, Sequence[RecordedGeneration]]
    states: Mapping[str, Sequence[RecordedState]]
    names: Mapping[UUID, str]


def consumer(bootstrap: str, group: str, name: str) -> Member:
    return Member(bootstrap, group, list(TOPICS), {"client.id": name, "group.protocol": "consumer"})


def share_consumer(bootstrap: str, group: str, name: str) -> Running:
    def make() -> Any:
        made = confluent_kafka.ShareConsumer({"bootstrap.servers": bootstrap, "group.id": group, "client.id": name})
        made.subscribe(list(TOPICS))
        return made

    return Running(make, lambda its: its.poll(TICK_S), name)


KINDS: Mapping[str, Callable[[str, str, str], Member | Running]] = {"consumer": consumer, "share": share_consumer}
"""How a member joins a group; groups are named after their protocol."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with EmbeddedKafka(properties=QUICK) as kafka:
        for name, partitions in TOPICS.items():
            broker_side.create_topic(kafka.bootstrap_servers, name, partitions)
        tail = Tail("test", lambda: open_offsets_log(load_settings(kafka.bootstrap_servers, None, {})))
        tail.start()
        try:
            live_through(kafka.bootstrap_servers, tail)
            records = broker_side.timed_records(kafka.bootstrap_servers)
            generations = {group: tail.recorded(group) for group in KINDS}
            states = {group: its for group, its in tail.all_states().items() if group in KINDS}
            yield World(records, generations, states, broker_side.topic_names(kafka.bootstrap_servers, *TOPICS))
        finally:
            tail.stop()


def live_through(bootstrap: str, tail: Tail) -> None:
    """Both groups, side by side; every change is recorded before the next one."""
    there: dict[tuple[str, str], Member | Running] = {}
    for change in COURSE:
        for group, join in KINDS.items():
            if change.startswith("-"):
                there.pop((group, change[1:])).leave()
            else:
                there[group, change] = join(bootstrap, group, change)
        for group in KINDS:
            names = {name for of, name in there if of == group}
            wait_until(partial(is_recorded, tail, group, names), within_s=120)
    for member in there.values():
        member.leave()
    for group in KINDS:
        wait_until(partial(is_recorded, tail, group, set()), within_s=120)


def is_recorded(tail: Tail, group: str, names: set[str]) -> bool:
    """Whether these are the members of the last generation, each with what it shall own."""
    known = tail.recorded(group)
    members = {member.client_id for member in known[-1].generation.members} if known else set()
    return members == names and (not names or known[-1].settled_ms is not None)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path)


def store(history: History, records: Sequence[broker_side.TimedRecord]) -> None:
    """As the stream does: every worker has the records of some partitions."""
    job = Job(history.root, CLUSTER, (), ("group_events",))
    made = pa.Table.from_batches(ingest(job, iter([batch(records)])))
    history.commit("group_events", files_of(made, "group_events"), Transaction("run", len(records)))


def batch(records: Sequence[broker_side.TimedRecord]) -> pa.RecordBatch:
    columns = {
        "key": pa.array([one.key for one in records], pa.binary()),
        "value": pa.array([one.value for one in records], pa.binary()),
        "partition": pa.array([one.partition for one in records], pa.int32()),
        "offset": pa.array([one.offset for one in records], pa.int64()),
        "timestamp": pa.array([one.at_ms * 1000 for one in records], TIME),
    }
    return pa.RecordBatch.from_pydict(columns)


def span(world: World) -> tuple[datetime, datetime]:
    times = [one.at_ms for one in world.records]
    return at(min(times)), at(max(times) + 1)


def at(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def stored(world: World, history: History) -> RecentRebalances:
    return stored_rebalances(history, CLUSTER, world.names, *span(world))


def live(world: World) -> RecentRebalances:
    return recent_rebalances(world.states, {})


def longest_rebalance(world: World) -> timedelta:
    """From the bump of the epoch to the new target assignment."""
    every = [one for its in world.generations.values() for one in its]
    longest_ms = max(one.generation.at_ms - one.began_ms for one in every if one.began_ms is not None)
    return timedelta(milliseconds=longest_ms + 1)


def test_the_groups_lived_through_every_change(world: World) -> None:
    for group in KINDS:
        events = [one.generation.event for one in world.generations[group]]
        assert len(events) > len(COURSE), events
        assert any(not one.generation.members for one in world.generations[group][1:-1])


def test_the_history_has_every_rebalance_with_its_members_moves_cause_and_times(world: World, history: History) -> None:
    store(history, world.records)
    found = stored(world, history)
    assert found.rebalances == live(world).rebalances
    assert {one.group_id for one in found.rebalances} == set(KINDS)
    assert not found.has_older


@pytest.mark.parametrize("group", KINDS)
def test_the_history_has_every_generation(world: World, history: History, group: str) -> None:
    store(history, world.records)
    recorded = world.generations[group]
    for begin in (0, 1, len(recorded) // 2):
        since = at(recorded[begin].generation.at_ms)
        found = stored_generations(history, CLUSTER, group, world.names, since, span(world)[1])
        assert found == [one for one in recorded if one.generation.at_ms >= since.timestamp() * 1000]


@pytest.mark.parametrize("most", range(2, 24, 3))
def test_the_newest_rebalances_are_the_same_when_older_records_are_not_read(
    world: World, history: History, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_RECORDS", most)
    monkeypatch.setattr(module, "LEAD", longest_rebalance(world))
    store(history, world.records)
    found = stored(world, history)
    assert found.rebalances == live(world).rebalances[: len(found.rebalances)]
    assert found.has_older
    assert len(found.rebalances) >= most // 2 - 1


@pytest.mark.parametrize("change", range(1, 7))
def test_what_retention_keeps_of_old_records_leads_to_the_same_rebalances(
    world: World, history: History, change: int
) -> None:
    """The records up to a change of the group are older than the table keeps them."""
    begin_ms = world.generations["consumer"][change].generation.at_ms + 1
    old = timedelta(days=TABLES["group_events"].keep_days + 9) // timedelta(milliseconds=1)
    store(history, [one._replace(at_ms=one.at_ms - old) for one in world.records if one.at_ms < begin_ms])
    store(history, [one for one in world.records if one.at_ms >= begin_ms])
    since, until = at(begin_ms), span(world)[1]
    before = stored_rebalances(history, CLUSTER, world.names, since, until)
    maintain(history, "group_events", until)
    assert stored_rebalances(history, CLUSTER, world.names, since, until).rebalances == before.rebalances
    numbers = [(one.group_id, one.number) for one in live(world).rebalances if one.at_ms >= begin_ms]
    assert [(one.group_id, one.number) for one in before.rebalances] == numbers
