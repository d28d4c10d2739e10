"""Real consumers on a real broker play stories, all at the same time."""

import heapq
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import count, pairwise, product

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType

from assignors.model import TopicPartition
from assignors.whatif.events import (
    Action,
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    Freeze,
    Join,
    Leave,
    Restart,
    Resume,
)
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from lag.embedded.broker import EmbeddedKafka
from tests.fidelity import broker_side
from tests.fidelity.cast import FROZEN, KILLED, LATE, Cast
from tests.fidelity.host import DIED
from tests.fidelity.hosts import Heard, Host
from tests.fidelity.stories import HEARTBEAT_MS, NAMES, PARTITIONS, Story
from tests.support.waiting import wait_until

SETTLE_S = 180
"""For 72 consumers to start and to share out what there is, on a machine that does something else, too."""

_TOLD: dict[type[Action], str] = {Leave: "close", Freeze: "stall", Resume: "resume", Restart: "restart"}


class Stage:
    """A broker, the hosts, and the casts on it."""

    def __init__(self, kafka: EmbeddedKafka, casts: Sequence[Cast]) -> None:
        self.casts = casts
        self._kafka = kafka
        self._hosts = {where: Host() for where in {cast.host_of(name) for cast in casts for name in NAMES}}
        self._rehearsals = [
            (where, Cast(Story(f"rehearsal-{where}", (), 0, {}, False), protocol))
            for where, protocol in product(self._hosts, (RebalanceProtocol.EAGER, RebalanceProtocol.CONSUMER))
        ]
        self.topic_ids: dict[str, str] = {}
        self._once: dict[tuple[str, Action], float] = {}

    def play(self) -> None:
        """Everything: all stories at once, but the broker restarts for the last act alone."""
        self._set()
        last = [cast for cast in self.casts if cast.host_of(NAMES[0]) == LATE]
        first = [cast for cast in self.casts if cast not in last]
        self._act(first)
        for where, host in self._hosts.items():
            if where != LATE:
                host.end()
        self._act(last)

    @property
    def bootstrap_servers(self) -> str:
        """The broker's address."""
        return self._kafka.bootstrap_servers

    def close(self) -> None:
        """Nothing is left running."""
        for host in self._hosts.values():
            host.end()

    # Before it begins

    def _set(self) -> None:
        """Topics, and Stable groups."""
        casts = (*self.casts, *(cast for _, cast in self._rehearsals))
        topics = {cast.story.topic: {"num_partitions": PARTITIONS, "replication_factor": 1} for cast in casts}
        with closing(self._admin()) as admin:
            admin.create_topics(topics, wait_for_metadata=True)
            for topic in admin.describe_topics(list(topics)):
                self.topic_ids[topic["name"]] = str(topic["topic_id"])
        self._rehearse()
        for cast in self.casts:
            for name in NAMES:
                self._open(cast, name)
        wait_until(lambda: not self._unsettled(), within_s=SETTLE_S, reported=self._what_is_wrong)
        self._log_level(broker_side.GROUP_LOGGER, "INFO")

    def _rehearse(self) -> None:
        """Each host has had a consumer of either kind before it counts."""
        for where, cast in self._rehearsals:
            self._report_all("rehearse", where, cast, NAMES[0])
        wait_until(lambda: all(self._is_rehearsed(where, cast) for where, cast in self._rehearsals), within_s=60)

    def _is_rehearsed(self, where: str, cast: Cast) -> bool:
        key = cast.key(NAMES[0])
        return any((heard.key, heard.what) == (key, "rehearsed") for heard in list(self._hosts[where].heard))

    def _open(self, cast: Cast, name: str) -> None:
        self._report_all("open", cast.host_of(name), cast, name)

    def _report_all(self, do: str, where: str, cast: Cast, name: str) -> None:
        properties = cast.properties(name, self.bootstrap_servers)
        self._hosts[where].report(do, cast.key(name), properties=properties, topic=cast.story.topic)

    def _unsettled(self) -> dict[str, int]:
        """Whose part of the partitions is not as large as everybody's, and how large it is."""
        held = {cast.key(name): len(self._held(cast, name)) for cast in self.casts for name in NAMES}
        return {key: number for key, number in held.items() if number != PARTITIONS / len(NAMES)}

    def _what_is_wrong(self) -> tuple[dict[str, int], list[str]]:
        """Who has not got a part, and what has died of what."""
        died = [
            f"host {where}: exit code {host.ended}" for where, host in self._hosts.items() if host.ended is not None
        ]
        heard = (heard for host in self._hosts.values() for heard in list(host.heard))
        return self._unsettled(), [*died, *(f"{each.key}: {each.what}" for each in heard if each.what.startswith(DIED))]

    def _held(self, cast: Cast, name: str) -> set[TopicPartition]:
        held: set[TopicPartition] = set()
        for heard in self.heard(cast, name):
            held = (
                held | set(heard.partitions) if heard.what == "onPartitionsAssigned" else held - set(heard.partitions)
            )
        return held

    def heard(self, cast: Cast, name: str) -> Iterator[Heard]:
        """What that consumer has reported."""
        key = cast.key(name)
        return (heard for heard in list(self._hosts[cast.host_of(name)].heard) if heard.key == key)

    def log(self) -> str:
        """What the broker has written."""
        return (self._kafka.folder / "broker-1.log").read_text()

    def _log_level(self, logger: str, level: str) -> None:
        with closing(self._admin()) as admin:
            admin.alter_configs([ConfigResource(ConfigResourceType.BROKER_LOGGER, "1", {logger: level})])

    def _admin(self) -> KafkaAdminClient:
        """A new one: an old one does not find back to a broker that was away."""
        return KafkaAdminClient(bootstrap_servers=self.bootstrap_servers)

    # While it happens

    def _act(self, casts: Sequence[Cast]) -> None:
        """Let their stories happen."""
        self._log_level(broker_side.REQUEST_LOGGER, "DEBUG")
        time.sleep(2.5 * HEARTBEAT_MS / 1000)  # the last acknowledgements, and then a heartbeat of each
        self._log_level(broker_side.REQUEST_LOGGER, "WARN")
        began_ms, log, order = _now_ms(), self.log(), count()
        due: list[tuple[float, int, Cast, int]] = []
        for cast in casts:
            cast.began_ms = began_ms
            pause_ms = longest_pause_ms(_beats_ms(log, cast, casts))
            heapq.heappush(due, (began_ms + (pause_ms - began_ms) % HEARTBEAT_MS, next(order), cast, 0))
        while due:
            at_ms, _, cast, step = heapq.heappop(due)
            time.sleep(max(0.0, at_ms - _now_ms()) / 1000)
            if step == len(cast.story.course):
                cast.ended_ms = _now_ms()
                continue
            self._do(cast, cast.story.course[step][1])
            wait_ms = cast.story.rest_ms if step + 1 == len(cast.story.course) else cast.story.course[step + 1][0]
            heapq.heappush(due, (_now_ms() + wait_ms, next(order), cast, step + 1))

    def _do(self, cast: Cast, action: Action) -> None:
        at_ms = None
        match action:
            case Join(member=member):
                self._open(cast, member.member_id)
            case Leave(member_id=name) | Restart(member_id=name):
                self._report(cast, name, action)
            case Freeze(member_id=name) | Resume(member_id=name) if not cast.story.freezes_process:
                self._report(cast, name, action)
            case _:
                once = (cast.story.name, action)
                if once not in self._once:
                    self._once[once] = self._happen(action)
                at_ms = self._once[once]
        cast.done.append((at_ms, action))

    def _report(self, cast: Cast, name: str, action: Action) -> None:
        self._hosts[cast.host_of(name)].report(_TOLD[type(action)], cast.key(name))

    def _happen(self, action: Action) -> float:
        """What happens to all groups of the story at once; when."""
        at_ms = _now_ms()
        match action:
            case Crash():
                self._hosts[KILLED].signal(signal.SIGKILL)
            case Freeze():
                self._hosts[FROZEN].signal(signal.SIGSTOP)
            case Resume():
                self._hosts[FROZEN].signal(signal.SIGCONT)
            case AddPartitions(topic=topic, partitions=partitions):
                with closing(self._admin()) as admin:
                    admin.create_partitions({topic: partitions})
                at_ms = _now_ms()
            case CoordinatorDown():
                self._kafka.broker(1).kill()
            case CoordinatorUp():
                self._kafka.broker(1).restart()
                broker_side.wait_for_coordinator(self.bootstrap_servers)
                at_ms = _now_ms()
                self._log_level(broker_side.GROUP_LOGGER, "INFO")
        return at_ms


def _beats_ms(log: str, cast: Cast, casts: Iterable[Cast]) -> list[float]:
    """The heartbeats of all to whom something happens when it happens to that cast."""
    together = [each for each in casts if each.story is cast.story] if cast.story.is_for_all else [cast]
    found = (broker_side.heartbeats(log, each.group_id, _now_ms()) for each in together)
    return [beat_ms for beats in found for beat_ms in beats.values()]


def longest_pause_ms(beats_ms: Iterable[float]) -> float:
    """A time well within the longest pause between heartbeats, which come again and again."""
    beats = sorted(beat_ms % HEARTBEAT_MS for beat_ms in beats_ms)
    pauses = [(later - beat, beat) for beat, later in pairwise((*beats, beats[0] + HEARTBEAT_MS))]
    longest, beat = max(pauses)
    return beat + longest / 3


def _now_ms() -> float:
    return time.time() * 1000
