"""Random clients of a classic group: mostly sensible, now and then late, lost or lying."""

import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from assignors.model import TopicPartition
from assignors.simulation.classic.messages import (
    CONSUMER,
    Commit,
    CommitReply,
    Heartbeat,
    HeartbeatReply,
    Join,
    JoinReply,
    Leave,
    Leaver,
    LeaveReply,
    Protocols,
    Reply,
    Request,
    Sync,
    SyncReply,
)
from assignors.simulation.classic.settings import Settings
from assignors.simulation.errors import KafkaError

CLIENTS = 6
TOPICS = ("t", "u")
_PARTITIONS = [TopicPartition(topic, number) for topic in TOPICS for number in range(2)]


def settings(r: random.Random) -> Settings:
    """A broker's settings; half of the time the defaults."""
    if r.random() < 0.5:
        return Settings()
    return Settings(
        initial_rebalance_delay_ms=r.choice((0, 500, 3000, 3000, 20_000)),
        max_size=r.choice((1, 2, 3, 4, 2**31 - 1)),
        offsets_retention_ms=r.choice((60_000, 120_000, 604_800_000)),
        offsets_retention_check_interval_ms=r.choice((30_000, 600_000, 600_000)),
    )


def subscription(topics: Sequence[str]) -> bytes:
    """Bytes of a consumer's subscription, version 0."""
    names = b"".join(struct.pack(">h", len(name)) + name.encode() for name in topics)
    return struct.pack(">hi", 0, len(topics)) + names + struct.pack(">i", -1)


def protocols(r: random.Random) -> Protocols:
    """One to three assignors, with a subscription each; rarely none, or bytes that are no subscription."""
    if r.random() < 0.02:
        return ()
    names: tuple[str, ...] = r.choice(
        (("range",), ("range", "cooperative-sticky"), ("cooperative-sticky", "range"), ("sticky", "range"))
    )
    if r.random() < 0.1:
        names = tuple(r.sample(("range", "roundrobin", "sticky"), r.randrange(1, 4)))
    data = subscription(r.choice((("t",), ("t",), ("t", "u"), ("u",), ())))
    return tuple((name, b"" if r.random() < 0.02 else data) for name in names)


@dataclass
class Client:
    """A client and what it knows from the replies it got."""

    name: str
    instance_id: str | None
    version: int
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols
    member_id: str = ""
    generation: int = -1
    protocol: str | None = None
    wants: str = "join"
    plan_for: tuple[str, ...] = ()
    former_ids: list[str] = field(default_factory=list)

    def learn(self, reply: Reply) -> None:
        """Do as a consumer does with that reply."""
        match reply:
            case JoinReply(error=KafkaError.NONE):
                self.become(reply.member_id)
                self.generation, self.protocol, self.wants = reply.generation, reply.protocol, "sync"
                self.plan_for = tuple(member.member_id for member in reply.members)
            case JoinReply(error=KafkaError.MEMBER_ID_REQUIRED):
                self.become(reply.member_id)
                self.wants = "join"
            case SyncReply(error=KafkaError.NONE):
                self.wants = "live"
            case HeartbeatReply(error=KafkaError.NONE) | CommitReply() | LeaveReply():
                pass
            case _:
                self.wants = "join"
                if reply.error in (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_INSTANCE_ID):
                    self.become("")

    def become(self, member_id: str) -> None:
        """Take that id."""
        if self.member_id and self.member_id != member_id:
            self.former_ids.append(self.member_id)
        self.member_id = member_id


class Clients:
    """Some clients, and their next requests. Half of the time they are calm: their group gets Stable, and stays so."""

    def __init__(self, r: random.Random) -> None:
        self._r = r
        self.calm = r.random() < 0.5
        self.all = [self._new(number) for number in range(r.randrange(1, CLIENTS + 1))]

    def _new(self, number: int) -> Client:
        r = self._r
        # Some share an instance id, which only a mistake brings about.
        instance_id = r.choice(("i0", f"i{number}")) if r.random() < 0.4 else None
        return Client(
            f"c{number}",
            instance_id,
            r.choice((3, 5, 9, 9, 9)),
            r.choice((6000, 10_000, 45_000, 45_000, 300_000)),
            r.choice((5000, 20_000, 60_000, 300_000, 300_000)),
            protocols(r) if r.random() < 0.2 else (("range", subscription(("t",))),),
        )

    def next(self) -> tuple[Client, Request]:
        """Who asks what."""
        client = self._r.choice(self.all)
        if self._r.random() < (0.05 if self.calm else 0.2):
            return client, self._odd(client)
        if self.calm:  # first those who keep others waiting, and nobody asks twice
            client = self._r.choice([other for other in self.all if other.wants in ("join", "sync")] or [client])
        request = self._sensible(client)
        if self.calm and isinstance(request, Join | Sync):
            client.wants = "live"  # until it hears otherwise
        return client, request

    def _sensible(self, client: Client) -> Request:
        if client.wants == "join":
            return self._join(client)
        if client.wants == "sync":
            return self._sync(client)
        return self._live(client)

    def _live(self, client: Client) -> Request:
        doing = self._r.random()
        if doing < (0.7 if self.calm else 0.45):
            return Heartbeat(client.member_id, client.generation, client.instance_id)
        if doing < (0.8 if self.calm else 0.65):
            return self._commit(client)
        if doing < (0.88 if self.calm else 0.85):
            return self._join(client)
        if doing < 0.95 and client.instance_id is not None:
            client.become("")  # a restart
            return self._join(client)
        client.wants = "join"
        leave = self._leave(client)
        client.become("")
        return leave

    def _join(self, client: Client) -> Join:
        if self._r.random() < 0.1:
            client.protocols = protocols(self._r)
        kind = "connect" if self._r.random() < 0.01 else CONSUMER
        return Join(
            client.name,
            client.protocols,
            client.member_id,
            client.instance_id,
            client.session_timeout_ms,
            client.rebalance_timeout_ms,
            kind,
            client.version,
        )

    def _sync(self, client: Client) -> Sync:
        plan = tuple((member_id, f"{member_id[:2]}@{client.generation}".encode()) for member_id in client.plan_for)
        if plan and self._r.random() < 0.1:
            plan = plan[1:]  # a plan that forgets somebody
        protocol = client.protocol if self._r.random() < 0.8 else self._r.choice((None, "sticky"))
        kind = self._r.choice((CONSUMER, CONSUMER, CONSUMER, None))
        return Sync(client.member_id, client.generation, plan, client.instance_id, kind, protocol)

    def _commit(self, client: Client) -> Commit:
        partitions = self._r.sample(_PARTITIONS, self._r.randrange(1, 3))
        offsets = tuple((partition, self._r.randrange(100)) for partition in partitions)
        version = self._r.choice((8, 9))
        return Commit(offsets, client.member_id, client.generation, client.instance_id, version)

    def _leave(self, client: Client) -> Leave:
        leavers = (Leaver(client.member_id, client.instance_id),)
        return Leave(leavers, self._r.choice((2, 3, 5)))

    def _odd(self, client: Client) -> Request:
        r = self._r
        member_id, instance_id = self._some_id(client), r.choice((None, client.instance_id, "i0", "i9"))
        generation = r.choice((-1, 0, client.generation, client.generation, client.generation + 1))
        match r.choice(("join", "sync", "heartbeat", "commit", "standalone", "leave", "batch")):
            case "join":
                odd = self._join(client)
                return Join(
                    odd.client_id, odd.protocols, member_id, instance_id, odd.session_timeout_ms, version=odd.version
                )
            case "sync":
                return Sync(member_id, generation, (), instance_id)
            case "heartbeat":
                return Heartbeat(member_id, generation, instance_id)
            case "commit":
                return Commit(((_PARTITIONS[0], 1),), member_id, generation, instance_id, r.choice((8, 9)))
            case "standalone":
                return Commit(((_PARTITIONS[1], 2),))
            case "leave":
                return Leave((Leaver(member_id, instance_id),), r.choice((2, 5)))
            case _:
                return self._batch()

    def _some_id(self, client: Client) -> str:
        other = self._r.choice(self.all)
        return self._r.choice(("", "stranger", client.member_id, other.member_id, *client.former_ids[-1:]))

    def _batch(self) -> Leave:
        chosen = self._r.sample(self.all, self._r.randrange(1, len(self.all) + 1))
        by_instance = self._r.random() < 0.5
        return Leave(
            tuple(
                Leaver("" if by_instance and client.instance_id else client.member_id, client.instance_id)
                for client in chosen
            )
        )
