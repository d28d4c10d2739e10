"""The simulation of a scenario: consumers, a network, a coordinator, and the events that happen to them.

Pure and deterministic: the same scenario, protocol and seed give the same timeline. The seed decides what is random in
Kafka: member ids, and when each member sends its heartbeats.
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
from assignors.simulation.budget import MessageLimitError, check_budget, check_owners, outdated_owners
from assignors.simulation.clients import ClassicClient, ConsumerClient, Environment, Process
from assignors.simulation.kernel import EventLimitError, Kernel
from assignors.simulation.network import Network
from assignors.simulation.protocol_services import ClassicService, ConsumerService
from assignors.simulation.quiescence import SETTLE_CHECK_MS, in_progress, settle_timeout_ms
from assignors.simulation.settings import Frozen, Settings
from assignors.simulation.timeline.recorder import TimelineRecorder
from assignors.simulation.timeline.tables import RecordSettings, Timeline
from assignors.whatif.events import Action, Event, Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

Client = ClassicClient | ConsumerClient


def simulate(
    scenario: Scenario, settings: Settings, protocol: RebalanceProtocol, *, seed: int = 0, until_ms: int | None = None
) -> Timeline:
    """The timeline of a scenario under that protocol, until the group has settled, or until `until_ms`.

    If members own partitions at the start, the group is Stable then; otherwise all members start at 0. A group that
    does not settle is simulated for `settle_timeout_ms` or until the kernel's limit of events; `unsettled` gives the
    reason. Raises AssignorError when an event cannot happen, when the scenario is too large (`budget`), or when
    the protocol cannot be simulated.
    """
    with collector_at_rest():
        simulation = Simulation(scenario, settings, protocol, random.Random(seed))
        simulation.run(until_ms)
        return simulation.timeline()


class Simulation:
    """A simulated group: its processes, its coordinator, and what events do to them.

    `words` name an event as the cause of a generation; the first one has the number `first`. `stopped_by` says why the
    group was not simulated to its end.
    """

    def __init__(
        self,
        scenario: Scenario,
        settings: Settings,
        protocol: RebalanceProtocol,
        rng: random.Random,
        most_messages: int | None = None,
        words: Callable[[Action], str] = attrgetter("title"),
        first: int = 1,
    ) -> None:
        check_budget(scenario, settings, protocol)
        scenario.check_events()
        self.kernel = Kernel()
        self.recorder = TimelineRecorder(self.kernel)
        self.network = Network(self.kernel, settings.assumed.latency_ms, self.recorder)
        self.topics: Mapping[str, Topic] = {}
        self.clients: dict[str, Client] = {}
        self._scenario, self._settings, self._protocol, self._random = scenario, settings, protocol, rng
        is_classic = protocol is not RebalanceProtocol.CONSUMER
        self._client: type[ClassicClient] | type[ConsumerClient] = ClassicClient if is_classic else ConsumerClient
        self._env = self._environment(scenario.assignor)
        self._members = {member.member_id: member for member in scenario.members}
        self._subscribed: set[str] = set()
        self._paused: set[str] = set()
        self._restarting: set[str] = set()
        self._words = words
        self._processing_ms: dict[str, int] = {}
        self._deleted: set[str] = set()
        self.stopped_by: str | None = None
        self._service = (ClassicService if is_classic else ConsumerService)(self._env, self.clients)
        self.change_topics(scenario.topics)
        self._begin(first)
        if most_messages is not None:
            self._limit_messages(most_messages)

    def _environment(self, assignor: str) -> Environment:
        return Environment(
            self.kernel,
            self.network,
            self.recorder,
            self._settings,
            lambda: self.topics,
            registry.get(assignor_for(assignor, self._protocol)),
            self._new_id,
            self._first_heartbeat_ms,
            lambda process: self._service.commit_error(process),
            lambda process: self._service.has_removed(process),
        )

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}-{self._uuid()}"

    def _uuid(self) -> uuid.UUID:
        return uuid.UUID(int=self._random.getrandbits(128), version=4)

    def _first_heartbeat_ms(self, interval_ms: int) -> int:
        spread_ms = min(self._settings.assumed.heartbeat_spread_ms, interval_ms)
        return interval_ms - (self._random.randrange(spread_ms) if spread_ms else 0)

    # Start and end

    def _begin(self, first: int) -> None:
        members = [member for member in self._scenario.members if member.topics or member.pattern is not None]
        if any(member.owned for member in members):
            self._start_stable(members)
        else:
            self._service.start()
            self._service.add_cause("first assignment")
            for member in self._scenario.members:
                self._start(member)
        for number, event in enumerate(self._scenario.events, first):
            self.kernel.after(event.at_ms, partial(self._apply_event, number, event))

    def _limit_messages(self, most: int) -> None:
        """From now on raise MessageLimitError soon after that many messages."""
        if len(self.recorder.messages) > most:
            raise MessageLimitError
        self.kernel.after(SETTLE_CHECK_MS, partial(self._limit_messages, most))

    def _start_stable(self, members: list[Member]) -> None:
        for member in self._scenario.members:
            self._add_subscribed(member)
            self.clients[member.member_id] = self._client(self._env, member)
        generation = max(1, *(member.generation or 0 for member in members))
        outdated = outdated_owners(members)
        there = [member for member in members if member.member_id not in outdated]
        if self._client is ConsumerClient:
            check_owners(there)
        for member in members:
            client = self.clients[member.member_id]
            first_heartbeat_ms = self._random.randrange(client.heartbeat_interval_ms)
            # One random number for both phases: a second one would change the timelines of all seeds.
            client.record_poll_loop(
                first_heartbeat_ms * self._settings.client.auto_commit_interval_ms // client.heartbeat_interval_ms
            )
            own = max(1, member.generation or 0) if member.member_id in outdated else generation
            client.start_stable(own, first_heartbeat_ms)
        self._service.start_stable([self.clients[member.member_id] for member in there], generation)

    def run(self, until_ms: int | None) -> None:
        """Continue until the group has settled, or until that time, but not beyond the kernel's limit of events."""
        if self.stopped_by is not None:
            return
        try:
            self._run_until_settled() if until_ms is None else self.kernel.run_until(until_ms)
        except EventLimitError as error:
            self.stopped_by = str(error)

    def _run_until_settled(self) -> None:
        last_ms = max((event.at_ms for event in self._scenario.events), default=0)
        self.kernel.run_until(last_ms)
        while self.kernel.now_ms < last_ms + settle_timeout_ms(self._scenario, self._settings):
            self.kernel.run_until(self.kernel.now_ms + SETTLE_CHECK_MS)
            self.kernel.spend(1 + len(self.clients) // 4)  # the check: settings can ask for weeks of them
            if self.unsettled() is None:
                self.kernel.run_until(self.kernel.now_ms + SETTLE_CHECK_MS)  # the timeline ends with a settled second
                if self.unsettled() is None:
                    return

    def unsettled(self) -> str | None:
        """What is still in progress; None = the group has settled."""
        return self.stopped_by or next(in_progress(self._service, self.clients, self._restarting, self._paused), None)

    def timeline(self) -> Timeline:
        """What happened so far, as tables."""
        end_ms, recorder = self.kernel.now_ms, self.recorder
        return Timeline(
            scenario=self._scenario.name,
            protocol=self._protocol,
            assignor=assignor_for(self._scenario.assignor, self._protocol),
            end_ms=end_ms,
            unsettled=self.unsettled(),
            spans=recorder.spans(end_ms),
            group=recorder.group_lane(end_ms),
            messages=tuple(sorted(recorder.messages, key=attrgetter("sent_ms"))),
            ownership=recorder.ownership(self._subscribed, end_ms),
            callbacks=tuple(recorder.callbacks),
            failures=tuple(recorder.failures),
            plans=tuple(recorder.plans),
            loops=tuple(recorder.loops),
            commits=tuple(recorder.commits),
            records=self._records(),
        )

    def _records(self) -> RecordSettings:
        """Rates in thousandths of a record per second."""
        rates = {tp: round(rate * 1_000) for tp, rate in self._scenario.loads.produced_per_s.items()}
        usual, client = 1_000 * self._settings.assumed.records_per_s, self._settings.client
        interval_ms = client.auto_commit_interval_ms if client.enable_auto_commit else None
        return RecordSettings(rates, usual, interval_ms, client.auto_offset_reset)

    # Processes

    def _start(self, member: Member) -> None:
        self._add_subscribed(member)
        client = self.clients[member.member_id] = self._client(self._env, member)
        client.processing_ms = self._processing_ms.get(client.name, client.processing_ms)
        client.record_poll_loop(self.kernel.now_ms + self._settings.client.auto_commit_interval_ms)
        client.start()

    def _add_subscribed(self, member: Member) -> None:
        self._subscribed.update(member.topics if member.pattern is None else matching(member.pattern, self.topics))

    def _restart(self, name: str) -> None:
        """It closes, if it is alive, and a new process starts later, without any memory."""
        client = self.clients[name]
        if client.alive:
            client.close()
        self._restarting.add(name)
        self.kernel.after(self._settings.assumed.restart_ms, partial(self._start_again, name, client))

    def _start_again(self, name: str, before: Client) -> None:
        if name in self._members and self.clients[name] is before:
            self._restarting.remove(name)
            self._start(replace(self._members[name], owned=(), generation=None, user_data=None))

    # Events

    def _apply_event(self, number: int, event: Event) -> None:
        if self.unsettled() is None:
            self._service.forget_causes()
        self._service.add_cause(self._words(event.action))
        try:
            event.action.simulate(self)
        except AssignorError as error:
            raise event.failed(number, error) from error

    def stop_coordinator(self) -> None:
        """The broker of the coordinator dies."""
        self._service.fail()

    def start_coordinator(self) -> None:
        """Another broker takes over."""
        self._service.fail_over()

    def _member(self, name: str) -> Member:
        if name in self._paused:
            raise AssignorError(f"member {name!r} is paused at this time. Move this event to after its pause.")
        return self._members[name]

    def _running(self, name: str) -> Client:
        """Its process, which runs or has failed."""
        self._member(name)
        if name in self._restarting:
            raise AssignorError(f"member {name!r} is down at this time. Move this event to a later time.")
        return self.clients[name]

    def join(self, member: Member) -> None:
        """Start the process of a new member."""
        self._members[member.member_id] = member
        self._start(replace(member, owned=(), generation=None))

    def leave(self, member_id: str) -> None:
        """Close the consumer."""
        self._end(member_id, Process.close)

    def crash(self, member_id: str) -> None:
        """Kill the process."""
        self._end(member_id, Process.crash)

    def _end(self, name: str, how: Callable[[Process], None]) -> None:
        del self._members[self._member(name).member_id]
        self._restarting.discard(name)
        if self.clients[name].alive:
            how(self.clients[name])

    def freeze(self, member_id: str) -> None:
        """Stop polling, or stop the process (`simulated.freeze`)."""
        client = self._running(member_id)
        if client.alive:
            client.freeze() if self._settings.assumed.freeze is Frozen.PROCESS else client.stall()

    def resume(self, member_id: str) -> None:
        """Let a frozen member continue."""
        self._member(member_id)
        client = self.clients[member_id]
        if client.alive and (client.is_frozen or client.is_stalled):
            client.resume()

    def pause(self, member_id: str, lasts_ms: int) -> None:
        """Stop the process for that time."""
        client = self._running(member_id)
        if client.alive:
            client.freeze()
            self._paused.add(member_id)
            self.kernel.after(lasts_ms, partial(self._end_pause, client))

    def _end_pause(self, client: Client) -> None:
        self._paused.remove(client.name)
        if client.is_frozen:
            client.resume()

    def set_processing_ms(self, member_id: str, processing_ms: int) -> None:
        """Change the time between two polls."""
        self._member(member_id)
        self._processing_ms[member_id] = processing_ms
        client = self.clients[member_id]
        client.run(partial(client.set_processing_ms, processing_ms))

    def split(self, member_id: str) -> None:
        """Lose all messages between the member and the coordinator."""
        self._member(member_id)
        self.network.split.add(member_id)
        self.clients[member_id].record_state()

    def heal(self, member_id: str) -> None:
        """End the split. The connection breaks now if it has lost a message: the client sends lost requests again."""
        self._member(member_id)
        self.network.split.remove(member_id)
        client = self.clients[member_id]
        client.record_state()
        client.run(client.lost_coordinator)

    def restart(self, member_id: str) -> None:
        """Close the consumer and start its process again."""
        self._running(member_id)
        self._restart(member_id)

    def change_rack(self, member_id: str, rack: str | None) -> None:
        """Restart the process with another `client.rack`."""
        self._members[member_id] = replace(self._member(member_id), rack=rack)
        self._restart(member_id)

    def subscribe(self, member_id: str, topics: tuple[str, ...], pattern: str | None) -> None:
        """Change the subscription."""
        before = self._member(member_id)
        self._members[member_id] = replace(before, topics=topics, pattern=pattern)
        self._add_subscribed(self._members[member_id])
        client = self.clients[member_id]
        if client.alive and (before.topics, before.pattern) != (topics, pattern):
            client.run(partial(client.subscribe, topics, pattern))

    def change_topics(self, topics: Mapping[str, Topic]) -> None:
        """From now on these topics exist."""
        changed = [name for name in {**self.topics, **topics} if self.topics.get(name) != topics.get(name)]
        self.recorder.topics(self.topics, topics)
        self._deleted |= self.topics.keys() - topics.keys()
        self.topics = {name: self._with_id(topic) for name, topic in topics.items()}
        for member in self._members.values():
            self._add_subscribed(member)
        self._service.topics_changed()
        for client in self.clients.values():
            for name in changed:
                client.run(partial(client.topics_changed, name))

    def _with_id(self, topic: Topic) -> Topic:
        """A topic that is created again after its deletion gets a new id."""
        is_new = topic.name in self._deleted and topic.name not in self.topics and topic.topic_id is None
        return replace(topic, topic_id=str(self._uuid())) if is_new else topic

    def use_assignor(self, assignor: str) -> None:
        """Restart all processes with another assignor."""
        self._env = self._environment(assignor)
        for name in self._members:
            self._restart(name)
