"""Requests of members to the coordinator of a classic group, one by one, with a broker that may die."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assignors import registry
from assignors.advice.config_table import COORDINATOR
from assignors.labs.calls.group_calls import Caller, GroupCalls
from assignors.labs.calls.script import Call
from assignors.labs.calls.script_machine import Refusal, Verb, clock, listed
from assignors.model import Group, Member, Topic
from assignors.planning import plan
from assignors.simulation.classic import ClassicCoordinator, InstantLog, Settings
from assignors.simulation.classic.messages import (
    Heartbeat,
    Join,
    JoinedMember,
    JoinReply,
    Leave,
    Leaver,
    LeaveReply,
    Reply,
    Request,
    Sync,
    SyncReply,
    while_loading,
)
from assignors.simulation.consumer_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Kernel

BEAT_MS = 3_000
"""`heartbeat.interval.ms` of the members that are `alive`."""
MOST_BEATS = 5_000
"""The most heartbeats in a script: those of one member for four hours."""
SETTINGS = {
    "group.initial.rebalance.delay.ms": "initial_rebalance_delay_ms",
    "group.min.session.timeout.ms": "min_session_timeout_ms",
    "group.max.session.timeout.ms": "max_session_timeout_ms",
    "group.max.size": "max_size",
}


@dataclass(slots=True)
class ClassicCaller(Caller):
    """A member of a classic group."""

    protocol: str | None = None
    to_plan: tuple[JoinedMember, ...] = ()
    """The members, if this one is the leader and must assign."""

    def learn(self, reply: Reply) -> None:
        if isinstance(reply, JoinReply) and reply.error in (KafkaError.NONE, KafkaError.MEMBER_ID_REQUIRED):
            self.member_id = reply.member_id
            if reply.error is KafkaError.NONE:
                self.generation, self.protocol = reply.generation, reply.protocol
                self.to_plan = () if reply.skip_assignment else reply.members


@dataclass(slots=True)
class _Broker:
    """The broker of the coordinator, which may be down or loading."""

    kernel: Kernel
    log: InstantLog = field(default_factory=InstantLog)
    settings: dict[str, int] = field(default_factory=dict)
    coordinator: ClassicCoordinator | None = None
    loads: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether there was a coordinator and there is none now."""
        return self.coordinator is None and bool(self.log.records)

    def load(self, ids: Callable[[str], str]) -> ClassicCoordinator:
        records = list(self.log.records)
        self.coordinator = ClassicCoordinator(self.kernel, ids, self.log, Settings(**self.settings), records)
        return self.coordinator


class ClassicGroupCalls(GroupCalls[ClassicCaller]):
    """A later reply is part of that time's outcome."""

    def __init__(self) -> None:
        super().__init__(lambda name: ClassicCaller(name, generation=-1))
        self._topics: dict[str, Topic] = {}
        self._broker = _Broker(self._kernel)
        self._alive: tuple[str, ...] = ()
        self._beats = 0
        self._beat_ms = 0  # when those who are alive send their next heartbeat
        self._last_errors: dict[str, KafkaError] = {}  # of their heartbeats
        self._news: list[str] = []

    def verbs(self) -> Iterable[Verb]:
        return (
            Verb("topic NAME PARTITIONS", self._topic),
            Verb("broker SETTING VALUE", self._set),
            Verb("wait TIME", self._wait),
            Verb("alive [MEMBER…]", self._keep_alive),
            Verb("coordinator-dies", self._dies),
            Verb("coordinator-loads", self._loads),
            Verb("coordinator-ready", self._ready),
            Verb(
                "join [id=none] [static=ID] [topics=LIST] [assignors=LIST] [session=TIME] [rebalance=TIME] [lost=yes]",
                self._join,
            ),
            Verb("sync [generation=N] [lost=yes]", self._sync),
            Verb("beat [generation=N]", self._beat),
            Verb("commit PARTITION OFFSET [generation=N]", self._commit),
            Verb("leave", self._leave),
        )

    def state(self) -> Mapping[str, str]:
        coordinator = self._broker.coordinator
        group = None if coordinator is None else coordinator.group
        columns = dict.fromkeys(("group", "generation", "members", "waiting", "committed"), "")
        columns["group"] = "loading" if self._broker.loads else "no coordinator" if self._broker.is_lost else "no group"
        if coordinator is not None and group is not None and not self._broker.loads:
            parked = [m.member_id for m in group.members.values() if m.parked_join or m.parked_sync]
            columns |= {
                "group": group.state.value,
                "generation": str(group.generation),
                "members": listed(
                    f"{m.member_id} leads" if m.member_id == group.leader else m.member_id
                    for m in group.members.values()
                ),
                "waiting": listed([*parked, *(f"{its} (id given)" for its in sorted(group.pending_ids))]),
                "committed": listed(f"{partition} {at}" for partition, at in coordinator.committed.items()),
            }
        return {"time": clock(self._kernel.now_ms), **columns}

    # The cluster

    def add_topic(self, topic: Topic) -> None:
        """The leader's metadata has it at once."""
        self._topics[topic.name] = topic

    def _set(self, call: Call) -> str:
        name, value = call.words
        if name not in SETTINGS:
            raise call.wrong(f"{name[:40]!r} is not used here. Use one of {listed(SETTINGS)}.")
        if self._broker.coordinator is not None:
            raise call.wrong("broker settings must come before the first request.")
        number = call.number(1)
        if not COORDINATOR[name].takes(value):
            raise call.wrong(f"{name} is {value}: Kafka throws ConfigException, expecting {COORDINATOR[name].asked}.")
        self._broker.settings[SETTINGS[name]] = number
        return f"{name} is {value}"

    def _keep_alive(self, call: Call) -> str:
        for name in call.words:
            if name not in self._callers:
                raise call.wrong(f"{name} has not joined.")
        self._alive, self._beat_ms = call.words, self._kernel.now_ms + BEAT_MS
        self._last_errors.clear()
        return f"{listed(call.words)}: a heartbeat every 3 s while time passes" if call.words else "no heartbeats"

    def _wait(self, call: Call) -> str:
        end_ms = self._kernel.now_ms + call.ms(call.words[0])
        self._beats += len(self._alive) * ((end_ms - self._kernel.now_ms) // BEAT_MS)
        if self._beats > MOST_BEATS:
            raise call.wrong(f"a script has at most {MOST_BEATS:,} heartbeats. Write `alive` without names before it.")
        while self._alive and self._beat_ms <= end_ms:
            self._kernel.run_until(self._beat_ms)
            self._beat_ms += BEAT_MS
            for name in self._alive:
                self._beat_of(self._callers[name])
        self._kernel.run_until(end_ms)
        return self._with_news("time passes")

    def _beat_of(self, caller: ClassicCaller) -> None:
        def answer(reply: Reply) -> None:
            error: KafkaError = _error(reply)
            if error is not self._last_errors.get(caller.name, KafkaError.NONE):
                self._news.append(f"{caller.name}'s heartbeat at {clock(self._kernel.now_ms)}: {error.name}")
            self._last_errors[caller.name] = error

        if self._broker.coordinator is not None:
            self._handle(Heartbeat(caller.member_id, caller.generation, caller.instance_id), answer)

    def _dies(self, call: Call) -> str:
        if self._broker.coordinator is None:
            raise call.wrong("there is no coordinator.")
        self._broker.coordinator.unload()
        self._broker.coordinator = None
        return self._with_news("waiting requests fail")

    def _loads(self, call: Call) -> str:
        if not self._broker.is_lost:
            raise call.wrong("the coordinator has not failed.")
        self._broker.load(self._new_id)
        self._broker.loads = True
        return f"a new coordinator loads {len(self._broker.log.records)} records of the group"

    def _ready(self, call: Call) -> str:
        if not self._broker.loads:
            raise call.wrong("no coordinator is loading.")
        self._broker.loads = False
        return "all sessions start again"

    # Requests

    def _join(self, call: Call) -> str:
        caller = self._caller(call)
        if call.options.get("id") == "none":
            caller.member_id, caller.generation = "", -1
        topics = tuple(call.options.get("topics", ",".join(self._topics)).split(","))
        subscribed = Member(caller.member_id, topics=topics, generation=caller.generation)
        offered = tuple((name, encode_subscription(subscribed)) for name in self._offered(call))
        session_ms, rebalance_ms = call.time("session", 45_000), call.time("rebalance", 300_000)
        join = Join(caller.name, offered, caller.member_id, caller.instance_id, session_ms, rebalance_ms)
        return self._ask(call, caller, join)

    def _offered(self, call: Call) -> list[str]:
        names = call.options.get("assignors", "range").split(",")
        for name in names:
            if name not in registry.BUILT_IN:  # others run as code of yours, which a script must not start
                raise call.wrong(f"there is no assignor {name[:40]!r}. Choose from {listed(registry.BUILT_IN)}.")
        return names

    def _sync(self, call: Call) -> str:
        caller = self._caller(call)
        generation = call.count("generation", caller.generation)
        sync = Sync(caller.member_id, generation, self._plan(caller), caller.instance_id, "consumer", caller.protocol)
        return self._ask(call, caller, sync)

    def _plan(self, caller: ClassicCaller) -> tuple[tuple[str, bytes], ...]:
        if not caller.to_plan or caller.protocol is None:
            return ()
        members = tuple(decode_subscription(m.metadata, m.member_id, m.instance_id) for m in caller.to_plan)
        made = plan(registry.get(caller.protocol), Group("", members, self._topics, caller.protocol))
        return tuple((member_id, encode_assignment(tuple(part))) for member_id, part in made.by_member.items())

    def _beat(self, call: Call) -> str:
        caller = self._caller(call)
        generation = call.count("generation", caller.generation)
        return self._ask(call, caller, Heartbeat(caller.member_id, generation, caller.instance_id))

    def _commit(self, call: Call) -> str:
        caller = self._caller(call)
        return self._ask(call, caller, self._commit_of(call, caller, "generation"))

    def _leave(self, call: Call) -> str:
        caller = self._caller(call)
        return self._ask(call, caller, Leave((Leaver(caller.member_id, caller.instance_id),)))

    def _ask(self, call: Call, caller: ClassicCaller, request: Request) -> str:
        replies, asking, is_lost = list[Reply](), True, call.options.get("lost") == "yes"

        def answer(reply: Reply) -> None:
            if not is_lost:
                caller.learn(reply)
            if asking:
                replies.append(reply)
            else:
                self._news.append(f"{caller.name}: {'its response is lost' if is_lost else _words(reply)}")

        self._handle(request, answer)
        asking = False
        if not replies:
            return self._with_news("waits for its response")
        if is_lost:
            return self._with_news("done, but the response is lost")
        if (error := _error(replies[0])) is not KafkaError.NONE:
            raise Refusal(error.name, self._with_news(_hint(replies[0])))
        return self._with_news(_words(replies[0]))

    def _handle(self, request: Request, answer: Callable[[Reply], None]) -> None:
        if self._broker.loads:
            answer(while_loading(request))
            return
        if self._broker.is_lost:
            raise Refusal(KafkaError.COORDINATOR_NOT_AVAILABLE.name, "the client looks for the coordinator")
        coordinator = self._broker.coordinator or self._broker.load(self._new_id)
        coordinator.handle(request, answer)

    def _with_news(self, outcome: str) -> str:
        news, self._news = self._news, []
        return "; ".join([part for part in (outcome, *news) if part])


def _error(reply: Any) -> KafkaError:
    if isinstance(reply, LeaveReply) and reply.members:
        return reply.members[0][1]
    error: KafkaError = reply.error
    return error


def _hint(reply: Reply) -> str:
    if isinstance(reply, JoinReply) and reply.error is KafkaError.MEMBER_ID_REQUIRED:
        return f"join again as {reply.member_id}"
    return ""


def _words(reply: Reply) -> str:
    if _error(reply) is not KafkaError.NONE:
        return _error(reply).name
    match reply:
        case JoinReply():
            return f"generation {reply.generation}, {reply.protocol}, {_part(reply)}"
        case SyncReply():
            return f"assigned {listed(decode_assignment(reply.assignment)) or 'nothing'}"
        case _:
            return "accepted"


def _part(reply: JoinReply) -> str:
    if reply.leader != reply.member_id:
        return f"follows {reply.leader}"
    if reply.skip_assignment:
        return "leads, but must not assign"
    return f"leads, and assigns for {listed(member.member_id for member in reply.members)}"
