"""Random clients of a KIP-848 group and random topics: mostly sensible, now and then late, lost or lying."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from assignors.model import Topic, TopicPartition
from assignors.simulation.classic.messages import Commit
from assignors.simulation.consumer import Settings, TopicIdPartition, Topics
from assignors.simulation.consumer.messages import (
    JOINING,
    LEAVING,
    LEAVING_FOR_A_WHILE,
    Heartbeat,
    HeartbeatReply,
    Reply,
    Request,
)
from assignors.simulation.errors import KafkaError

CLIENTS = 6
NAMES = ("t", "u", "v", "w-1", "w-2")
REGEXES = ("t", "w-.*", "[tu]|w-1", "nothing", "w.+|v")
_BAD_REGEX = "(t"
_LOST = (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_MEMBER_EPOCH, KafkaError.GROUP_ID_NOT_FOUND)


def settings(r: random.Random) -> Settings:
    """A broker's settings; some of the time the defaults."""
    if r.random() < 0.2:
        return Settings()
    return Settings(
        session_timeout_ms=r.choice((45_000, 60_000)),
        heartbeat_interval_ms=r.choice((5_000, 15_000)),
        assignment_interval_ms=r.choice((0, 0, 0, 1_000, 15_000)),
        max_size=r.choice((1, 3, *[2**31 - 1] * 8)),
        assignors=r.choice((("uniform", "range"), ("range", "uniform"))) if r.random() < 0.95 else ("uniform",),
        regex_refresh_interval_ms=r.choice((10_000, 600_000)),
        offsets_retention_ms=r.choice((60_000, 604_800_000)),
        offsets_retention_check_interval_ms=r.choice((30_000, 600_000)),
    )


def topic(r: random.Random, name: str) -> Topic:
    """A new topic."""
    return Topic(name, r.choice((1, 2, 3, 3, 6, 6, 9)), topic_id=str(UUID(int=r.getrandbits(128))))


def topics(r: random.Random) -> Topics:
    """A cluster's topics."""
    return Topics.of(topic(r, name) for name in NAMES if name in "tu" or r.random() < 0.5)


def changed(r: random.Random, before: Topics) -> Topics:
    """A topic is created, grows, is deleted, or is deleted and made again."""
    by_name = dict(before.by_name)
    name = r.choice(NAMES)
    if name not in by_name or r.random() < 0.15:
        by_name[name] = topic(r, name)
    elif r.random() < 0.6:
        by_name[name] = replace(by_name[name], partitions=by_name[name].partitions + r.randrange(1, 4))
    else:
        del by_name[name]
    return before.changed(by_name.values())


@dataclass
class Client:
    """A client and what it knows from the replies it got."""

    name: str
    instance_id: str | None
    rebalance_timeout_ms: int
    topics: tuple[str, ...] | None
    regex: str | None
    assignor: str | None
    member_id: str
    epoch: int = JOINING
    owned: frozenset[TopicIdPartition] = frozenset()
    given: frozenset[TopicIdPartition] = frozenset()
    has_answer: bool = False
    former_ids: list[str] = field(default_factory=list)

    def learn(self, reply: Reply) -> None:
        """Do as a consumer does with that reply."""
        if not isinstance(reply, HeartbeatReply):
            return
        if reply.error is KafkaError.NONE and reply.epoch >= JOINING:
            self.member_id, self.epoch = reply.member_id, reply.epoch
            if reply.assignment is not None:
                self.given, self.has_answer = reply.assignment, True
        elif reply.error in _LOST or reply.error is KafkaError.NONE:
            self.lose()

    def lose(self) -> None:
        """Give everything up, and join again."""
        self.epoch, self.owned, self.given, self.has_answer = JOINING, frozenset(), frozenset(), False


class Clients:
    """Some clients, and their next requests. Half of the time they are calm: they mostly follow the broker."""

    def __init__(self, r: random.Random) -> None:
        self._r = r
        self.calm = r.random() < 0.5
        self._ids = self._new_ids()
        self._plain = self._subscription(plain=True)
        self._mixed = r.random() < 0.4
        self.all = [self._new(number) for number in range(r.randrange(1, CLIENTS + 1))]

    def _new_ids(self) -> Iterator[str]:
        number, kind = 0, self._r.random()
        while True:
            number += 1
            yield f"m{number}" if kind < 0.5 else str(UUID(int=self._r.getrandbits(128)))

    def _new(self, number: int) -> Client:
        r = self._r
        # Some share an instance id, which only a mistake brings about.
        instance_id = r.choice(("i0", f"i{number}")) if r.random() < 0.4 else None
        named, regex = self._subscription() if self._mixed else self._plain
        assignor = r.choice((None, None, "uniform", "range"))
        timeout_ms = r.choice((5_000, 20_000, 60_000, 300_000))
        return Client(f"c{number}", instance_id, timeout_ms, named, regex, assignor, next(self._ids))

    def _subscription(self, plain: bool = False) -> tuple[tuple[str, ...] | None, str | None]:
        r = self._r
        if r.random() < 0.25:
            regex = r.choice(REGEXES) if r.random() < 0.97 else _BAD_REGEX
            return (tuple(r.sample(NAMES, 1)) if r.random() < 0.3 else None), regex
        count = r.choice((1, 1, 2, 2, 3)) if plain or r.random() < 0.9 else 0
        return tuple(r.sample((*NAMES, "missing"), count)), r.choice((None, None, ""))

    def next(self) -> tuple[Client, Request]:
        """Who asks what."""
        client = self._r.choice(self.all)
        if self._r.random() < (0.03 if self.calm else 0.15):
            return client, self._odd(client)
        if client.epoch == JOINING:
            return client, self._join(client)
        return client, self._live(client)

    def _join(self, client: Client) -> Heartbeat:
        named = client.topics if client.topics is not None or client.regex is not None else ()
        request = self._say(client, JOINING)
        return replace(
            request,
            rebalance_timeout_ms=client.rebalance_timeout_ms,
            topics=named,
            regex=client.regex,
            assignor=client.assignor,
            owned=frozenset(),
        )

    def _say(self, client: Client, epoch: int) -> Heartbeat:
        return Heartbeat(client.member_id, epoch, client.instance_id, client_id=client.name)

    def _live(self, client: Client) -> Request:
        doing = self._r.random()
        if doing < (0.85 if self.calm else 0.6):
            return self._beat(client)
        if doing < 0.9:
            return self._commit(client)
        if doing < 0.94:
            client.topics, client.regex = self._subscription()
            return replace(self._beat(client), topics=client.topics, regex=client.regex)
        if doing < 0.95:
            client.assignor = self._r.choice(("uniform", "range"))
            return replace(self._beat(client), assignor=client.assignor)
        return self._leave(client)

    def _beat(self, client: Client) -> Heartbeat:
        r, owned = self._r, None
        if client.has_answer and r.random() < (0.8 if self.calm else 0.5):
            client.owned, client.has_answer = client.given, False
            owned = client.owned
        elif r.random() < 0.2:
            owned = client.owned
        request = replace(self._say(client, client.epoch), owned=owned)
        if r.random() < 0.05:
            return replace(self._join(client), epoch=client.epoch, owned=client.owned)
        return request

    def _leave(self, client: Client) -> Heartbeat:
        for_a_while = client.instance_id is not None and self._r.random() < 0.7
        leave = self._say(client, LEAVING_FOR_A_WHILE if for_a_while else LEAVING)
        client.former_ids.append(client.member_id)
        client.member_id = next(self._ids) if self._r.random() < 0.8 else client.member_id
        client.lose()
        return leave

    def _commit(self, client: Client) -> Commit:
        partitions = [TopicPartition(self._r.choice(NAMES), self._r.randrange(4)) for _ in range(2)]
        epoch = max(client.epoch - self._r.choice((0, 0, 0, 1, 1, 2)), -1)
        return Commit(tuple((tp, self._r.randrange(100)) for tp in dict.fromkeys(partitions)), client.member_id, epoch)

    def _odd(self, client: Client) -> Request:
        r = self._r
        member_id = r.choice(("", "stranger", client.member_id, r.choice(self.all).member_id, *client.former_ids[-1:]))
        epoch = r.choice((-3, -2, -1, 0, client.epoch, client.epoch - 1, client.epoch - 1, client.epoch + 1))
        if r.random() < 0.15:
            offsets = ((TopicPartition("t", 0), 7),)
            return Commit(offsets, r.choice(("", member_id)), r.choice((-1, epoch)), version=r.choice((8, 9)))
        owned = r.choice((None, client.owned, client.given, frozenset(sorted(client.given)[:1]), frozenset()))
        if r.random() < 0.4:
            return replace(self._say(client, epoch), owned=owned)
        request = replace(
            self._join(client),
            member_id=member_id,
            epoch=epoch,
            instance_id=r.choice((None, client.instance_id, "i0", "i9", "")),
            owned=frozenset() if epoch == JOINING else owned,
            version=r.choice((0, 1)),
        )
        changes: dict[str, Any] = r.choice(({}, {}, {"topics": None}, {"regex": None}, *_ODD_PARTS))
        return replace(request, **changes)


_ODD_PARTS: tuple[dict[str, str | None], ...] = (
    {"assignor": "sticky"},
    {"rebalance_timeout_ms": None},
    {"owned": None},
    {"regex": _BAD_REGEX},
    {"topics": None, "regex": None},
)
