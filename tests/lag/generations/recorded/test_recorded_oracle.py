"""What Kafka's own coordinators write in random sequences, recorded: it ends where Java's group ends."""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from lag.generations.recorded import GenerationRecorder, TimedEvent
from lag.generations.recorded.causes import DELETED
from lag.generations.recorded.model import RecordedState
from lag.records import BytesColumn, decode
from tests.oracle import classic_coordinator, consumer_coordinator
from tests.oracle.coordinator_shard import silence
from tests.oracle.java_coordinator import GROUP
from tests.oracle.tally import generator

SEQUENCES = 40
Blob = tuple[bytes, bytes | None]


@pytest.fixture(scope="module", autouse=True)
def jvm(java_classes: Callable[[str], Any]) -> None:
    silence()


def kafkas(topic_id: UUID) -> str:
    """An id as Kafka prints it; it stands for the topic's name."""
    return urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def recorded(log: Sequence[Blob]) -> list[RecordedState]:
    """The states in the log, its n-th record written at n ms."""
    decoded = decode(BytesColumn.of(key for key, _ in log), BytesColumn.of(value for _, value in log))
    recorder = GenerationRecorder(kafkas, most_generations=1000)
    recorder.take((TimedEvent(event.row, event) for event in decoded.events), whole=True)
    return recorder.states(GROUP)


def played(oracle: Any) -> Iterator[tuple[Any, list[RecordedState], tuple[Any, ...]]]:
    """Java's coordinator after random sequences, its recorded states, and what it says.

    Left out are groups of the other type, and those with appends that nobody has replicated: they are not in the log.
    """
    for number in range(SEQUENCES):
        with closing(oracle.Sequence(generator(11, number))) as sequence:
            assert sequence.run() == ""
            java = sequence.pair.java
            states, look = recorded(java.shard.log), java.look()
            if look is not None and states and not java.shard.held:
                yield java, states, look


def test_kip_848_groups_end_with_the_members_and_the_target_that_java_has() -> None:
    compared = 0
    for java, states, (_, epoch, target_epoch, *_, members) in played(consumer_coordinator):
        last = states[-1]
        assert all(old.number <= new.number or new.cause == DELETED for old, new in pairwise(states))
        if not last.group.members:
            assert last.cause == DELETED or target_epoch < last.number <= epoch  # nothing was planned since then
            continue
        assert last.number == target_epoch
        there = {name for name, *_ in members}
        has = {m.member_id: {(tp.topic, tp.partition) for tp in m.owned} for m in last.group.members}
        targets, _, _ = java.look_closer()
        assert {name: tps for name, tps in has.items() if tps and name in there} == {
            name: set(tps) for name, tps in targets.items() if tps
        }
        compared += 1
    assert compared


def test_classic_groups_end_with_the_generation_and_the_members_that_java_has() -> None:
    compared = 0
    for _, states, (state, generation, _, _, _, members, *_) in played(classic_coordinator):
        if state in ("Stable", "Empty"):
            assert (states[-1].number, {m.member_id for m in states[-1].group.members}) == (generation, set(members))
            compared += 1
    assert compared
