"""How many partitions a rebalance moves is the same everywhere, at every poll of a long random time.

A group lives through joins, departures and new partitions. A coordinator's records of it, and polls, reach the page of
the generations, the list of rebalances, the API and the history.
"""

import random
import re
import struct
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import assignors
from app.documents.whatif import generation_document
from app.ui.movement import sentences
from app.ui.movement.from_generations import steps_of
from app.ui.movement.tables import move_rows
from assignors.model import Member, Topic
from assignors.whatif.events import Action, AddPartitions, Event, Join, Leave, Scenario
from assignors.whatif.generations import Generation
from lag.generations.inferred import PollObserver
from lag.generations.prediction import Prediction, outcomes
from lag.generations.recent import recent_rebalances
from lag.generations.recorded import GenerationRecorder, RecordedGeneration, TimedEvent
from lag.generations.recorded.history import join, stored_generations
from lag.history.store import History
from lag.model import ClusterSnapshot
from lag.model import Member as PolledMember
from lag.records import BytesColumn, decode
from tests.lag.history.rows import NOON, rows
from tests.lag.make import cluster, end, group

EVENTS = 40
KEPT = 4
"""Generations in memory; the history has all."""
EVERY_MS = 10_000
START_MS = round(NOON.timestamp() * 1000)
TOPICS = ("orders", "refunds")
KEY = struct.pack(">hh", 2, 1) + b"g"


def life(seed: int, assignor: str) -> list[Generation]:
    """The group's generations, one or more for each event; at times it is empty."""
    chance, there, partitions, events = random.Random(seed), ["m0"], 4, list[Event]()
    for number in range(1, EVENTS):
        action: Action = Join(Member(f"m{number}", client_id=f"c{number}", topics=TOPICS))
        if there and chance.random() < 0.5:
            action = Leave(there.pop(chance.randrange(len(there))))
        elif chance.random() < 0.1:
            partitions += 2
            action = AddPartitions("orders", partitions)
        else:
            there.append(f"m{number}")
        events.append(Event(number * EVERY_MS, action))
    first = Member("m0", client_id="c0", topics=TOPICS)
    topics = {"orders": Topic("orders", 4), "refunds": Topic("refunds", 3)}
    return assignors.fold(Scenario("g", assignor, topics, (first,), tuple(events)))


def text(value: str | None) -> bytes:
    """A string of a record; None is null."""
    return struct.pack(">h", -1) if value is None else struct.pack(">h", len(value)) + value.encode()


def sized(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def member_bytes(member: Member) -> bytes:
    subscription = struct.pack(">hi", 0, len(member.topics)) + b"".join(map(text, member.topics)) + sized(b"")
    assigned = struct.pack(">hi", 0, len(member.topics))
    for topic in member.topics:
        mine = [tp.partition for tp in member.owned if tp.topic == topic]
        assigned += text(topic) + struct.pack(f">i{len(mine)}i", len(mine), *mine)
    names = text(member.member_id) + text(None) + text(member.client_id) + text("/h")
    return names + struct.pack(">ii", 300_000, 45_000) + sized(subscription) + sized(assigned + sized(b""))


def record(made: Generation) -> bytes:
    """The coordinator's record of the generation (GroupMetadataValue, version 3)."""
    head = struct.pack(">h", 3) + text("consumer") + struct.pack(">i", made.number)
    members = struct.pack(">i", len(made.members)) + b"".join(map(member_bytes, made.members))
    named = text(made.assignor if made.members else None)
    return head + named + text(None) + struct.pack(">q", START_MS + made.at_ms) + members


def moved_by_title(stated: str) -> int:
    """Partitions that an owner gave up, by the title of the page: those with a new owner and those without."""
    counts = re.findall(r"(?:^|, )(\d+)(?: of \d+ partitions?)? (moved|revoked)", stated)
    return sum(int(count) for count, _ in counts)


def shown(made: Sequence[Generation], at: int) -> set[int]:
    """How many partitions generation `at` moves: by the title of its page, the table and file there, and the API."""
    document, table = generation_document(made[at]), move_rows(made[at], {})
    lost = [move for move in document["moves"] if move["source"] is not None and move["source"] != move["target"]]
    title = sentences.moved(steps_of(made[at - 1 : at + 1]), 1)
    quality: Any = document["quality"]  # a dict in JSON
    return {moved_by_title(title), int(table["from"].notna().sum()), len(lost), quality["moved"]}


def poll(made: Generation, number: int) -> ClusterSnapshot:
    """A poll that sees the group after the generation."""
    members = [PolledMember(m.member_id, m.client_id, topics=m.topics, assigned=tuple(m.owned)) for m in made.members]
    spec = group({"orders-0": 1}, members, state="Stable" if members else "Empty")
    return cluster({"g": spec}, {"orders-0": end(9)}, number, START_MS + made.at_ms + number)


def stored(history: History) -> list[RecordedGeneration]:
    """The generations that the history has of the group."""
    return stored_generations(history, "c1", "g", {}, NOON - timedelta(days=1), NOON + timedelta(days=1))


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
@pytest.mark.parametrize("seed", [1])
def test_a_rebalance_moves_as_many_partitions_everywhere(seed: int, assignor: str, tmp_path: Path) -> None:
    predicted, history = life(seed, assignor), History(tmp_path)
    recorder, observer = GenerationRecorder(dict[UUID, str]().get, KEPT), PollObserver(KEPT)
    values, seen = list(map(record, predicted)), 0
    came_true = 0
    for number, made in enumerate(predicted):
        (event,) = decode(BytesColumn.of([KEY]), BytesColumn.of([values[number]])).events
        recorder.take([TimedEvent(START_MS + 1000 * number, event)], whole=True)
        observer.observe(poll(made, number + 1))
        if not number:
            continue
        moved = made.quality.moved
        known = recorder.recorded("g")
        compared = outcomes(known[-2:], [Prediction(0, "What if", tuple(predicted[number - 1 : number + 1]))])
        assert [(one.moves, one.deviations) for one in compared.values()] in ([], [(moved, ())])
        came_true += len(compared)
        recorded = [one.generation for one in known]
        newest, *_ = recent_rebalances({"g": recorder.states("g")}, {}).rebalances
        assert (newest.number, newest.moved) == (made.number, moved)
        assert shown(recorded, len(recorded) - 1) == {moved}
        inferred = observer.generations("g")
        if inferred and inferred[-1].at_ms == START_MS + made.at_ms + number + 1:
            newest, *_ = recent_rebalances({}, {"g": observer.all_states()["g"]}).rebalances
            assert {newest.moved, *shown(inferred, len(inferred) - 1)} == {moved}
        seen += moved > 0
    kept = ({"group_id": "g", "src_offset": at, "ts": at, "key": KEY, "value": its} for at, its in enumerate(values))
    history.append("group_events", rows("group_events", *kept))
    recorded = [one.generation for one in join(stored(history), recorder.recorded("g"))]
    assert [one.number for one in recorded[-len(predicted) + 1 :]] == [made.number for made in predicted[1:]]
    for at in range(1, len(predicted)):
        assert shown(recorded, len(recorded) - len(predicted) + at) == {predicted[at].quality.moved}
    assert seen > EVENTS // 4
    assert came_true > EVENTS // 2
