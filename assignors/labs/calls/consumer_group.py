"""Heartbeats of members to the coordinator of a KIP-848 group, one by one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count

from assignors.labs.calls.script import Call
from assignors.labs.calls.script_machine import Machine, Refusal, Verb, clock, listed
from assignors.model import Topic
from assignors.simulation.classic.messages import Commit
from assignors.simulation.consumer import ConsumerCoordinator, InstantLog, TopicIdPartition, Topics
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
from assignors.simulation.kernel import Kernel


@dataclass(slots=True)
class Caller:
    """What a member knows."""

    name: str
    instance_id: str | None = None
    epoch: int = JOINING
    assigned: frozenset[TopicIdPartition] = frozenset()


class ConsumerGroupCalls(Machine):
    """The caller is written before the verb: `A: join`. A member's id is its name."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._kernel = Kernel()
        self._topics = Topics.of([])
        self._callers: dict[str, Caller] = {}
        self._coordinator = ConsumerCoordinator(
            self._kernel, lambda: f"member-{next(self._numbers)}", InstantLog(), self._topics
        )

    def verbs(self) -> Iterable[Verb]:
        """Calls about the cluster, then those of the members."""
        return (
            Verb("topic NAME PARTITIONS", self._topic),
            Verb("wait TIME", self._wait),
            Verb("join [topics=LIST] [regex=RE2] [static=ID] [assignor=NAME] [rebalance=TIME]", self._join),
            Verb("beat [epoch=N]", self._beat),
            Verb("acknowledge", self._acknowledge),
            Verb("commit PARTITION OFFSET [epoch=N]", self._commit),
            Verb("leave", lambda call: self._go(call, LEAVING)),
            Verb("leave-for-a-while", lambda call: self._go(call, LEAVING_FOR_A_WHILE)),
        )

    def state(self) -> Mapping[str, str]:
        """The group as its coordinator has it."""
        group = self._coordinator.group
        said = dict.fromkeys(("group", "epoch", "target epoch", "members"), "")
        said["group"] = "no group"
        if group is not None:
            members = (f"{m.member_id} {m.state.value}@{m.epoch}" for m in group.members.values())
            said = {
                "group": group.state.value,
                "epoch": str(group.epoch),
                "target epoch": str(group.target_epoch),
                "members": listed(members),
            }
        committed = listed(f"{partition} {at}" for partition, at in self._coordinator.committed.items())
        return {"time": clock(self._kernel.now_ms), **said, "committed": committed}

    # The cluster

    def _topic(self, call: Call) -> str:
        name, size = call.words[0], call.number(1)
        if not 1 <= size <= 100:
            raise call.wrong("a topic has 1 to 100 partitions.")
        known = {topic.name: topic for topic in self._topics.by_name.values()}
        self._topics = self._topics.changed([*(known | {name: Topic(name, size)}).values()])
        self._coordinator.see(self._topics)
        return f"{name} has {size} partitions"

    def _wait(self, call: Call) -> str:
        self._kernel.run_until(self._kernel.now_ms + call.ms(call.words[0]))
        return "time passes"

    # Heartbeats

    def _caller(self, call: Call) -> Caller:
        if not call.who:
            raise call.wrong(f"name the member: `A: {call.text}`.")
        return self._callers.setdefault(call.who, Caller(call.who))

    def _join(self, call: Call) -> str:
        caller = self._caller(call)
        caller.instance_id = call.options.get("static", caller.instance_id)
        regex = call.options.get("regex")
        names = call.options.get("topics", "" if regex else ",".join(self._topics.by_name))
        topics = tuple(name for name in names.split(",") if name)
        request = Heartbeat(
            caller.name,
            JOINING,
            caller.instance_id,
            call.time("rebalance", 300_000),
            topics,
            regex,
            call.options.get("assignor"),
            frozenset(),
            caller.name,
        )
        return self._ask(caller, request)

    def _beat(self, call: Call) -> str:
        caller = self._caller(call)
        return self._ask(caller, Heartbeat(caller.name, call.count("epoch", caller.epoch), caller.instance_id))

    def _acknowledge(self, call: Call) -> str:
        """It owns exactly its assignment: revoked partitions are released."""
        caller = self._caller(call)
        return self._ask(caller, Heartbeat(caller.name, caller.epoch, caller.instance_id, owned=caller.assigned))

    def _commit(self, call: Call) -> str:
        caller = self._caller(call)
        offsets = ((call.partition(0), call.number(1)),)
        epoch = call.count("epoch", caller.epoch)
        return self._ask(caller, Commit(offsets, caller.name, epoch, caller.instance_id))

    def _go(self, call: Call, epoch: int) -> str:
        caller = self._caller(call)
        return self._ask(caller, Heartbeat(caller.name, epoch, caller.instance_id))

    def _ask(self, caller: Caller, request: Request) -> str:
        replies = list[Reply]()
        self._coordinator.handle(request, replies.append)
        (reply,) = replies
        if reply.error is not KafkaError.NONE:
            raise Refusal(reply.error.name)
        return self._learn(caller, reply) if isinstance(reply, HeartbeatReply) else "accepted"

    def _learn(self, caller: Caller, reply: HeartbeatReply) -> str:
        caller.epoch = reply.epoch
        if reply.epoch < 0:
            return "accepted"
        if reply.assignment is None:
            return f"epoch {reply.epoch}, no new assignment"
        caller.assigned = reply.assignment
        return f"epoch {reply.epoch}, assigned {listed(sorted(self._topics.named(reply.assignment))) or 'nothing'}"
