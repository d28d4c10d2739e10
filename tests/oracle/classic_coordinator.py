"""Our classic coordinator and Kafka's, in lock step: the same requests and the same time, equal after every step.

Compared are the replies and their order, the group with its members in Java's order, every timer's deadline, the
assignments and the committed offsets.
"""

import random
from collections.abc import Hashable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from assignors.simulation.classic import ClassicCoordinator, Settings
from tests.oracle import classic_cases
from tests.oracle.coordinator_shard import MemberIds, silence
from tests.oracle.held_log import HeldLog
from tests.oracle.java_coordinator import GROUP, JavaCoordinator
from tests.oracle.lock_step import Difference, LockStep
from tests.oracle.tally import Checked, generator

NAME = "classic coordinator"
STEPS = 30


class Pair(LockStep):
    """Both coordinators, each on its own clock, and their replies since the last look."""

    def __init__(self, settings: Settings, seed: int) -> None:
        super().__init__()
        self.settings = settings
        self.ids = MemberIds(seed)
        self.ours = ClassicCoordinator(self.ours_kernel, self.ids, self.log, settings)
        self.java = JavaCoordinator(self.java_kernel, settings)

    def unload(self) -> None:
        """Both give up the group."""
        self.java.shard.unload()
        self.ours.unload()

    def fail_over(self, max_size: int) -> None:
        """The coordinators die; others, whose group.max.size may differ, load what was replicated."""
        self.settings = replace(self.settings, max_size=max_size)
        blobs = list(self.java.shard.log)
        self.java.shard.close()
        self.ours.timers.disarm_all()
        self.log = HeldLog(list(self.log.records))
        self.java = JavaCoordinator(self.java_kernel, self.settings, blobs)
        self.ours = ClassicCoordinator(self.ours_kernel, self.ids, self.log, self.settings, list(self.log.records))

    def compared(self, thorough: bool) -> list[Difference]:
        """Group and timers; more where it is `thorough`."""
        found: list[Difference] = [
            ("group", look(self.ours), self.java.look()),
            ("timers", _named(self.ours), dict(self.java.shard.timers.deadlines_ms)),
        ]
        if thorough:
            found += [
                ("assignments", _assignments(self.ours), self.java.assignments()),
                ("committed", dict(self.ours.committed), self.java.committed()),
            ]
        return found


def look(coordinator: ClassicCoordinator) -> tuple[Any, ...] | None:
    """Our group in the words of `JavaCoordinator.look`."""
    group = coordinator.group
    if group is None:
        return None
    return (
        str(group.state),
        group.generation,
        group.protocol_type,
        group.protocol,
        group.leader,
        tuple(group.members),
        group.parked_joins,
        len(group.pending_ids),
        frozenset(group.pending_syncs),
        group.new_member_added,
    )


def _named(coordinator: ClassicCoordinator) -> dict[str, int]:
    return {_java_key(key): at_ms for key, at_ms in coordinator.timers.deadlines_ms.items()}


def _java_key(key: Hashable) -> str:
    if isinstance(key, tuple):
        return f"heartbeat-{GROUP}-{key[1]}"
    return f"{key}-{GROUP}" if key in ("join", "sync") else str(key)


def _assignments(coordinator: ClassicCoordinator) -> dict[str, bytes]:
    group = coordinator.group
    return {} if group is None else {member.member_id: member.assignment for member in group.members.values()}


class Sequence:
    """One random sequence of steps; `steps` says what was done."""

    def __init__(self, r: random.Random) -> None:
        self._r = r
        self.clients = classic_cases.Clients(r)
        self.pair = Pair(classic_cases.settings(r), r.randrange(2**31))
        self.steps: list[str] = [str(self.pair.settings)]
        self._holds = r.random() < 0.2
        self._fails = r.random() < 0.3

    def run(self) -> str:
        """ "" or the first difference, after the steps that led to it."""
        for number in range(STEPS):
            self._step()
            difference = self.pair.difference(thorough=number % 5 == 4 or number == STEPS - 1)
            if difference:
                return "\n".join((*self.steps, difference))
        return ""

    def close(self) -> None:
        """Let go of Java's coordinator."""
        self.pair.java.shard.close()

    def _step(self) -> None:
        doing = self._r.random()
        if doing < 0.7:
            client, request = self.clients.next()
            self.steps.append(f"{self.pair.ours_kernel.now_ms} {request}")
            self.pair.ask(request, client.learn)
        elif doing < 0.95 or not (self._holds or self._fails):
            self._wait()
        elif self._holds:
            held = not self.pair.log.held
            self.steps.append("hold appends" if held else "replicate")
            self.pair.hold(held)
        elif self._r.random() < 0.8:
            max_size = self._r.choice((1, 2, self.pair.settings.max_size, 2**31 - 1))
            self.steps.append(f"fail over, group.max.size {max_size}")
            self.pair.fail_over(max_size)
        else:
            self.steps.append("unload")
            self.pair.unload()

    def _wait(self) -> None:
        now_ms = self.pair.ours_kernel.now_ms
        deadlines = sorted(self.pair.ours.timers.deadlines_ms.values())
        if self.clients.calm:
            deadlines = deadlines[:1]
        until = self._r.choice((now_ms + self._r.randrange(5000), *(self._near(at_ms) for at_ms in deadlines)))
        until = max(now_ms, until)
        self.steps.append(f"wait until {until}")
        self.pair.run_until(until)

    def _near(self, at_ms: int) -> int:
        return at_ms + self._r.choice((-1, 0, 0, 1))


class ClassicOracle:
    """Random sequences. The JVM must run."""

    def __init__(self) -> None:
        silence()

    def __call__(self, seed: int, number: int) -> Iterator[Checked]:
        """One sequence."""
        with closing(Sequence(generator(seed, number))) as sequence:
            yield Checked(NAME, sequence.run())
