"""Heartbeats of members to the coordinator of a KIP-848 group, one by one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assignors.labs.calls.group_calls import Caller, GroupCalls
from assignors.labs.calls.script import Call
from assignors.labs.calls.script_machine import Refusal, Verb, clock, listed
from assignors.model import Topic
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


@dataclass(slots=True)
class ConsumerCaller(Caller):
    """A member of a KIP-848 group."""

    assigned: frozenset[TopicIdPartition] = frozenset()


class ConsumerGroupCalls(GroupCalls[ConsumerCaller]):
    """A member's id is its name."""

    def __init__(self) -> None:
        super().__init__(lambda name: ConsumerCaller(name, JOINING, member_id=name))
        self._topics = Topics.of([])
        self._coordinator = ConsumerCoordinator(
            self._kernel, lambda: self._new_id("member"), InstantLog(), self._topics
        )

    def verbs(self) -> Iterable[Verb]:
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
        group = self._coordinator.group
        columns = dict.fromkeys(("group", "epoch", "target epoch", "members"), "")
        columns["group"] = "no group"
        if group is not None:
            members = (f"{m.member_id} {m.state.value}@{m.epoch}" for m in group.members.values())
            columns = {
                "group": group.state.value,
                "epoch": str(group.epoch),
                "target epoch": str(group.target_epoch),
                "members": listed(members),
            }
        committed = listed(f"{partition} {at}" for partition, at in self._coordinator.committed.items())
        return {"time": clock(self._kernel.now_ms), **columns, "committed": committed}

    # The cluster

    def add_topic(self, topic: Topic) -> None:
        """The coordinator sees it at once."""
        known = {topic.name: topic for topic in self._topics.by_name.values()}
        self._topics = self._topics.changed([*(known | {topic.name: topic}).values()])
        self._coordinator.see(self._topics)

    def _wait(self, call: Call) -> str:
        self._kernel.run_until(self._kernel.now_ms + call.ms(call.words[0]))
        return "time passes"

    # Heartbeats

    def _join(self, call: Call) -> str:
        caller = self._caller(call)
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
        return self._ask(caller, Heartbeat(caller.name, call.count("epoch", caller.generation), caller.instance_id))

    def _acknowledge(self, call: Call) -> str:
        """It owns exactly its assignment: revoked partitions are released."""
        caller = self._caller(call)
        return self._ask(caller, Heartbeat(caller.name, caller.generation, caller.instance_id, owned=caller.assigned))

    def _commit(self, call: Call) -> str:
        caller = self._caller(call)
        return self._ask(caller, self._commit_of(call, caller, "epoch"))

    def _go(self, call: Call, epoch: int) -> str:
        caller = self._caller(call)
        return self._ask(caller, Heartbeat(caller.name, epoch, caller.instance_id))

    def _ask(self, caller: ConsumerCaller, request: Request) -> str:
        replies = list[Reply]()
        self._coordinator.handle(request, replies.append)
        (reply,) = replies
        if reply.error is not KafkaError.NONE:
            raise Refusal(reply.error.name)
        return self._learn(caller, reply) if isinstance(reply, HeartbeatReply) else "accepted"

    def _learn(self, caller: ConsumerCaller, reply: HeartbeatReply) -> str:
        caller.generation = reply.epoch
        if reply.epoch < 0:
            return "accepted"
        if reply.assignment is None:
            return f"epoch {reply.epoch}, no new assignment"
        caller.assigned = reply.assignment
        return f"epoch {reply.epoch}, assigned {listed(sorted(self._topics.named(reply.assignment))) or 'nothing'}"
