"""Our KIP-848 coordinator and Kafka's, in lock step: the same requests and the same time, equal after every step.

Compared are the replies and their order, the group with its epochs, state, members (in Java's order, with epochs,
states, what is assigned and what is to be revoked), its target, every timer's deadline and the committed offsets.
"""

import random
from collections.abc import Hashable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from assignors.simulation.consumer import ConsumerCoordinator, Member, Settings, Topics
from assignors.simulation.consumer.coordinator import EXPIRY, REGEX
from tests.oracle import consumer_cases
from tests.oracle.coordinator_shard import MemberIds, silence
from tests.oracle.held_log import HeldLog
from tests.oracle.java_consumer_coordinator import JavaConsumerCoordinator
from tests.oracle.java_coordinator import GROUP
from tests.oracle.lock_step import Difference, LockStep
from tests.oracle.server_assignors import jdk
from tests.oracle.tally import Checked, generator

NAME = "consumer coordinator"
STEPS = 30


class Pair(LockStep):
    """Both coordinators, each on its own clock, and their replies since the last look."""

    def __init__(self, settings: Settings, topics: Topics, seed: int) -> None:
        super().__init__()
        self.settings, self.topics = settings, topics
        self._ids = MemberIds(seed)
        self.ours = self._made()
        self.java = JavaConsumerCoordinator(self.java_kernel, settings, topics)

    def _made(self) -> ConsumerCoordinator:
        return ConsumerCoordinator(
            self.ours_kernel, self._ids.kafka_id, self.log, self.topics, self.settings, list(self.log.records)
        )

    def see(self, topics: Topics) -> None:
        """The cluster's topics change."""
        self.topics = topics
        self.java.see(topics)
        self.ours.see(topics)

    def fail_over(self, max_size: int) -> None:
        """The coordinators die; others, whose group.consumer.max.size may differ, load what was replicated."""
        self.settings = replace(self.settings, max_size=max_size)
        blobs = list(self.java.shard.log)
        self.java.shard.close()
        self.ours.timers.disarm_all()
        self.log = HeldLog(list(self.log.records))
        self.java = JavaConsumerCoordinator(self.java_kernel, self.settings, self.topics, blobs)
        self.ours = self._made()

    def compared(self, thorough: bool) -> list[Difference]:
        """Group and timers; more where it is `thorough`."""
        found: list[Difference] = [
            ("group", look(self.ours), self.java.look()),
            ("timers", _named(self.ours), dict(self.java.shard.timers.deadlines_ms)),
        ]
        if thorough:
            found.append(("target, expressions, offsets", look_closer(self.ours), self.java.look_closer()))
        return found


def look(coordinator: ConsumerCoordinator) -> tuple[Any, ...] | None:
    """Our group in the words of `JavaConsumerCoordinator.look`."""
    group = coordinator.group
    if group is None:
        return None
    return (
        str(group.state),
        group.epoch,
        group.target_epoch,
        group.target_at_ms,
        group.homogeneous,
        tuple(map(_described, group.members.values())),
    )


def look_closer(coordinator: ConsumerCoordinator) -> tuple[Any, ...]:
    """Our group in the words of `JavaConsumerCoordinator.look_closer`."""
    group, committed = coordinator.group, dict(coordinator.committed)
    if group is None:
        return {}, frozenset(), committed
    resolved = [(frozenset(record.topics), record.version, record.at_ms) for record in group.resolved.values()]
    return {id_: frozenset(partitions) for id_, partitions in group.target.items()}, frozenset(resolved), committed


def _described(member: Member) -> tuple[Any, ...]:
    return (
        member.member_id,
        member.instance_id,
        member.client_id,
        member.rebalance_timeout_ms,
        member.topics,
        member.regex,
        member.assignor,
        member.epoch,
        member.previous_epoch,
        str(member.state),
        member.assigned,
        member.pending,
    )


def _named(coordinator: ConsumerCoordinator) -> dict[str, int]:
    return {_java_key(key): at_ms for key, at_ms in coordinator.timers.deadlines_ms.items()}


def _java_key(key: Hashable) -> str:
    if isinstance(key, tuple):
        return f"{key[0]}-{GROUP}-{key[1]}"
    return EXPIRY if key == EXPIRY else f"{GROUP}-{REGEX}"


class Sequence:
    """One random sequence of steps; `steps` says what was done."""

    def __init__(self, r: random.Random) -> None:
        self._r = r
        self.clients = consumer_cases.Clients(r)
        settings = replace(consumer_cases.settings(r), jdk=jdk())
        self.pair = Pair(settings, consumer_cases.topics(r), r.randrange(2**31))
        self.steps: list[object] = [settings, self.pair.topics]
        self._holds = r.random() < 0.2
        self._fails = r.random() < 0.3

    def run(self) -> str:
        """ "" or the first difference, after the steps that led to it."""
        for number in range(STEPS):
            self._step()
            difference = self.pair.difference(thorough=number % 5 == 4 or number == STEPS - 1)
            if difference:
                return "\n".join((*map(str, self.steps), difference))
        return ""

    def close(self) -> None:
        """Let go of Java's coordinator."""
        self.pair.java.shard.close()

    def _step(self) -> None:
        doing = self._r.random()
        if doing < 0.72:
            client, request = self.clients.next()
            self.steps.append(request)
            self.pair.ask(request, client.learn)
        elif doing < 0.78:
            topics = consumer_cases.changed(self._r, self.pair.topics)
            self.steps.append(topics)
            self.pair.see(topics)
        elif doing < 0.96 or not (self._holds or self._fails):
            self._wait()
        elif self._holds:
            held = not self.pair.log.held
            self.steps.append("hold appends" if held else "replicate")
            self.pair.hold(held)
        else:
            max_size = self._r.choice((1, 2, self.pair.settings.max_size, 2**31 - 1))
            self.steps.append(f"fail over, group.consumer.max.size {max_size}")
            self.pair.fail_over(max_size)

    def _wait(self) -> None:
        now_ms = self.pair.ours_kernel.now_ms
        deadlines = sorted(self.pair.ours.timers.deadlines_ms.values())
        near = [at_ms + self._r.choice((-1, 0, 0, 1)) for at_ms in (deadlines[:1] if self.clients.calm else deadlines)]
        shortly = [now_ms + self._r.choice((0, 1, 999, 1000, self._r.randrange(20_000))) for _ in range(2)]
        until = max(now_ms, self._r.choice((*shortly, *near)))
        self.steps.append(f"wait until {until}")
        self.pair.run_until(until)


class ConsumerOracle:
    """Random sequences. The JVM must run."""

    def __init__(self) -> None:
        silence()

    def __call__(self, seed: int, number: int) -> Iterator[Checked]:
        """One sequence."""
        with closing(Sequence(generator(seed, number))) as sequence:
            yield Checked(NAME, sequence.run())
