"""A scenario played second by second: clients, a network, a coordinator that may fail, and what happens to them.

Pure and repeatable: the same scenario, protocol and seed give the same timeline. The seed decides what is chance in
Kafka: member ids, and how far each member of a group that exists already is from its next heartbeat.
"""

import random
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter

from assignors import registry
from assignors.memory import collector_at_rest
from assignors.model import AssignorError, Member, Topic
from assignors.patterns import matching
from assignors.simulation.assignor_choice import assignor_for
from assignors.simulation.clients import ClassicClient, ConsumerClient, Process, Surroundings
from assignors.simulation.coordinators import ClassicServer, ConsumerServer
from assignors.simulation.kernel import EndlessStoryError, Kernel
from assignors.simulation.network import Network
from assignors.simulation.quiescence import LOOK_EVERY_MS, patience_ms, under_way
from assignors.simulation.settings import Frozen, Settings
from assignors.simulation.timeline import Records, Timeline
from assignors.simulation.timeline_recorder import Recorder
from assignors.whatif.events import Event, Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

Client = ClassicClient | ConsumerClient


def play(
    scenario: Scenario, settings: Settings, protocol: RebalanceProtocol, *, seed: int = 0, until_ms: int | None = None
) -> Timeline:
    """The timeline of a scenario under that protocol, until everything has come to rest, or until `until_ms`.

    Members own what they own when the scenario begins: the group is Stable then; otherwise all of them start at 0. A
    story that does not come to rest ends after `patience_ms`, or after as many events as the kernel runs, and says so.
    Raises AssignorError when an event cannot happen, or when the protocol cannot be simulated.
    """
    with collector_at_rest():
        world = World(scenario, settings, protocol, random.Random(seed))
        world.run(until_ms)
        return world.timeline()


class World:
    """The group on its way through the events; what `play` is made of."""

    def __init__(
        self, scenario: Scenario, settings: Settings, protocol: RebalanceProtocol, chance: random.Random
    ) -> None:
        self.kernel = Kernel()
        self.recorder = Recorder(self.kernel)
        self.network = Network(self.kernel, settings.assumed.latency_ms, self.recorder)
        self.topics: Mapping[str, Topic] = {}
        self.clients: dict[str, Client] = {}
        self._scenario, self._settings, self._protocol, self._chance = scenario, settings, protocol, chance
        is_new = protocol is RebalanceProtocol.CONSUMER
        self._client: type[ClassicClient] | type[ConsumerClient] = ConsumerClient if is_new else ClassicClient
        self._serve = ConsumerServer if is_new else ClassicServer
        self._around = self._surroundings(scenario.assignor)
        self._wanted = {member.member_id: member for member in scenario.members}
        self._subscribed: set[str] = set()
        self._frozen: set[str] = set()
        self._paused: set[str] = set()
        self._restarting: set[str] = set()
        self._processing_ms: dict[str, int] = {}
        self._deleted: set[str] = set()
        self._endless: str | None = None
        self._server = self._serve(self._around, self.clients)
        self.change_topics(scenario.topics)
        self._begin()

    def _surroundings(self, assignor: str) -> Surroundings:
        plans = registry.get(assignor_for(assignor, self._protocol))
        return Surroundings(
            self.kernel,
            self.network,
            self.recorder,
            self._settings,
            lambda: self.topics,
            plans,
            self._new_id,
            lambda process: self._server.refusal(process),
            lambda process: self._server.has_forgotten(process),
        )

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}-{self._uuid()}"

    def _uuid(self) -> uuid.UUID:
        return uuid.UUID(int=self._chance.getrandbits(128), version=4)

    # The beginning and the end

    def _begin(self) -> None:
        members = [member for member in self._scenario.members if member.topics or member.pattern is not None]
        if any(member.owned for member in members):
            self._adopt(members)
        else:
            self._server.start()
            self._server.cause("first assignment")
            for member in self._scenario.members:
                self._start(member)
        for number, event in enumerate(self._scenario.events, 1):
            self.kernel.after(event.at_ms, partial(self._take, number, event))

    def _adopt(self, members: list[Member]) -> None:
        for member in self._scenario.members:
            self._note_topics(member)
            self.clients[member.member_id] = self._client(self._around, member)
        generation = max(1, *(member.generation or 0 for member in members))
        adopted = [self.clients[member.member_id] for member in members]
        for client in adopted:
            first_beat_ms = self._chance.randrange(client.heartbeat_interval_ms)
            # One draw for both phases: another one would make other stories of all seeds.
            client.begin(first_beat_ms * self._settings.client.auto_commit_interval_ms // client.heartbeat_interval_ms)
            client.adopt(generation, first_beat_ms)
        self._server.adopt(adopted, generation)

    def run(self, until_ms: int | None) -> None:
        """Go on until everything has come to rest, or until that time; no further than the kernel does."""
        if self._endless is not None:
            return
        try:
            self._run_to_rest() if until_ms is None else self.kernel.run_until(until_ms)
        except EndlessStoryError as error:
            self._endless = str(error)

    def _run_to_rest(self) -> None:
        last_ms = max((event.at_ms for event in self._scenario.events), default=0)
        self.kernel.run_until(last_ms)
        while self.kernel.now_ms < last_ms + patience_ms(self._scenario, self._settings):
            self.kernel.run_until(self.kernel.now_ms + LOOK_EVERY_MS)
            if self.unsettled() is None:
                self.kernel.run_until(self.kernel.now_ms + LOOK_EVERY_MS)  # so that the rest is seen, too
                if self.unsettled() is None:
                    return

    def unsettled(self) -> str | None:
        """What is still going on; None: everything has come to rest."""
        return self._endless or next(under_way(self._server, self.clients, self._restarting, self._paused), None)

    def timeline(self) -> Timeline:
        """All that has been, as tables."""
        end_ms, notes = self.kernel.now_ms, self.recorder
        return Timeline(
            scenario=self._scenario.name,
            protocol=self._protocol,
            assignor=assignor_for(self._scenario.assignor, self._protocol),
            end_ms=end_ms,
            unsettled=self.unsettled(),
            spans=notes.spans(end_ms),
            group=notes.group_lane(end_ms),
            messages=tuple(sorted(notes.messages, key=attrgetter("sent_ms"))),
            ownership=notes.ownership(self._subscribed, end_ms),
            callbacks=tuple(notes.callbacks),
            failures=tuple(notes.failures),
            plans=tuple(notes.plans),
            loops=tuple(notes.loops),
            commits=tuple(notes.commits),
            records=self._records(),
        )

    def _records(self) -> Records:
        """Rates count to a thousandth of a record."""
        rates = {tp: round(rate * 1_000) for tp, rate in self._scenario.loads.produced_per_s.items()}
        client = self._settings.client
        interval_ms = client.auto_commit_interval_ms if client.enable_auto_commit else None
        return Records(rates, 1_000 * self._settings.assumed.records_per_s, interval_ms, client.auto_offset_reset)

    # Processes

    def _start(self, member: Member) -> None:
        self._note_topics(member)
        client = self.clients[member.member_id] = self._client(self._around, member)
        client.processing_ms = self._processing_ms.get(client.name, client.processing_ms)
        client.begin(self.kernel.now_ms + self._settings.client.auto_commit_interval_ms)
        client.start()

    def _note_topics(self, member: Member) -> None:
        self._subscribed.update(member.topics if member.pattern is None else matching(member.pattern, self.topics))

    def _restart(self, name: str) -> None:
        """It closes, if it lives, and comes back a while later, with nothing in its memory."""
        client = self.clients[name]
        if client.alive:
            client.close()
        self._frozen.discard(name)
        self._restarting.add(name)
        self.kernel.after(self._settings.assumed.restart_ms, partial(self._come_back, name, client))

    def _come_back(self, name: str, before: Client) -> None:
        if name in self._wanted and self.clients[name] is before:
            self._restarting.remove(name)
            self._start(replace(self._wanted[name], owned=(), generation=None, user_data=None))

    # Events

    def _take(self, number: int, event: Event) -> None:
        self._server.cause(event.action.title)
        try:
            event.action.simulate(self)
        except AssignorError as error:
            raise event.failed(number, error) from error

    def stop_coordinator(self) -> None:
        """The broker of the coordinator dies."""
        self._server.stop()

    def start_coordinator(self) -> None:
        """Another broker takes over."""
        self._server.come_back()

    def _member(self, name: str) -> Member:
        if name not in self._wanted:
            raise AssignorError(f"there is no member {name!r} at this time.")
        if name in self._paused:
            raise AssignorError(f"member {name!r} stands still at this time. Let it happen when its pause is over.")
        return self._wanted[name]

    def _up(self, name: str) -> Client:
        """Its process, which is there or has died of an error."""
        self._member(name)
        if name in self._restarting:
            raise AssignorError(f"member {name!r} is down at this time. Let it happen when it is back.")
        return self.clients[name]

    def _going(self, name: str) -> Client:
        """Its process, which can be made to stand still."""
        client = self._up(name)
        if name in self._frozen:
            raise AssignorError(f"member {name!r} is frozen already. Resume it before, or leave this event out.")
        return client

    def join(self, member: Member) -> None:
        """Start the process of a new member."""
        name = member.member_id
        if name in self._wanted:
            raise AssignorError(f"member {name!r} is there already. Give the new one another id.")
        self._wanted[name] = member
        self._start(replace(member, owned=(), generation=None))

    def leave(self, member_id: str) -> None:
        """Close the consumer."""
        self._end(member_id, Process.close)

    def crash(self, member_id: str) -> None:
        """Kill the process."""
        self._end(member_id, Process.crash)

    def _end(self, name: str, how: Callable[[Process], None]) -> None:
        del self._wanted[self._member(name).member_id]
        for those in (self.network.split, self._frozen, self._restarting):
            those.discard(name)
        if self.clients[name].alive:
            how(self.clients[name])

    def freeze(self, member_id: str) -> None:
        """Stop polling, or stop the process (`simulated.freeze`)."""
        client = self._going(member_id)
        self._frozen.add(member_id)
        if client.alive:
            client.freeze() if self._settings.assumed.freeze is Frozen.PROCESS else client.stall()

    def resume(self, member_id: str) -> None:
        """Let a frozen member continue."""
        self._member(member_id)
        if member_id not in self._frozen:
            raise AssignorError(f"member {member_id!r} is not frozen. Freeze it before, or leave this event out.")
        self._frozen.remove(member_id)
        client = self.clients[member_id]
        if client.is_frozen or client.is_stalled:
            client.resume()

    def pause(self, member_id: str, lasts_ms: int) -> None:
        """Stop the process for that time."""
        client = self._going(member_id)
        if client.alive:
            client.freeze()
            self._paused.add(member_id)
            self.kernel.after(lasts_ms, partial(self._go_on, client))

    def _go_on(self, client: Client) -> None:
        self._paused.remove(client.name)
        if client.is_frozen:
            client.resume()

    def set_processing_ms(self, member_id: str, processing_ms: int) -> None:
        """Change the time between two polls."""
        self._member(member_id)
        self._processing_ms[member_id] = processing_ms
        client = self.clients[member_id]
        client.run(partial(client.work_for, processing_ms))

    def split(self, member_id: str) -> None:
        """Lose all messages between the member and the coordinator."""
        self._member(member_id)
        self.network.split.add(member_id)
        self.clients[member_id].note()

    def heal(self, member_id: str) -> None:
        """End the split. The connection breaks now if it has lost a message: the client sends lost requests again."""
        self._member(member_id)
        if member_id not in self.network.split:
            raise AssignorError(f"member {member_id!r} is not split off. Split it off before, or leave this event out.")
        self.network.split.remove(member_id)
        client = self.clients[member_id]
        client.note()
        client.run(client.lost_coordinator)

    def restart(self, member_id: str) -> None:
        """Close the consumer and start its process again."""
        self._up(member_id)
        self._restart(member_id)

    def change_rack(self, member_id: str, rack: str | None) -> None:
        """Restart the process with another `client.rack`."""
        self._wanted[member_id] = replace(self._member(member_id), rack=rack)
        self._restart(member_id)

    def subscribe(self, member_id: str, topics: tuple[str, ...], pattern: str | None) -> None:
        """Change the subscription."""
        before = self._member(member_id)
        self._wanted[member_id] = replace(before, topics=topics, pattern=pattern)
        self._note_topics(self._wanted[member_id])
        client = self.clients[member_id]
        if client.alive and (before.topics, before.pattern) != (topics, pattern):
            client.run(partial(client.subscribe, topics, pattern))

    def change_topics(self, topics: Mapping[str, Topic]) -> None:
        """From now on these topics exist."""
        changed = [name for name in {**self.topics, **topics} if self.topics.get(name) != topics.get(name)]
        self.recorder.topics(self.topics, topics)
        self._deleted |= self.topics.keys() - topics.keys()
        self.topics = {name: self._with_id(topic) for name, topic in topics.items()}
        for member in self._wanted.values():
            self._note_topics(member)
        self._server.topics_changed()
        for client in self.clients.values():
            for name in changed:
                client.run(partial(client.topics_changed, name))

    def _with_id(self, topic: Topic) -> Topic:
        """A topic that was deleted and is made again has another id."""
        is_new = topic.name in self._deleted and topic.name not in self.topics and topic.topic_id is None
        return replace(topic, topic_id=str(self._uuid())) if is_new else topic

    def use_assignor(self, assignor: str) -> None:
        """Restart all processes with another assignor."""
        self._around = self._surroundings(assignor)
        for name in self._wanted:
            self._restart(name)
