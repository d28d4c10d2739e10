"""The readers of a record: one member of each group (a queue within a group, publish-subscribe between groups)."""

from collections.abc import Iterable, Mapping

from assignors import registry
from assignors.labs.calls.script import Call
from assignors.labs.calls.script_machine import Machine, Refusal, Verb, listed
from assignors.model import Group, Member, Topic, TopicPartition
from assignors.planning import plan

ASSIGNOR = "range"


class Groups(Machine):
    """One topic and the groups that read it, each assigned by the range assignor."""

    def __init__(self) -> None:
        self._topic = Topic("orders", 1)
        self._members: dict[str, tuple[str, ...]] = {}

    def verbs(self) -> Iterable[Verb]:
        return (
            Verb("partitions COUNT", self._set_partitions),
            Verb("group NAME [MEMBER…]", self._group),
            Verb("produce PARTITION", self._produce),
        )

    def state(self) -> Mapping[str, str]:
        rows = {name: self._owned(name) for name in self._members}
        assigned = (f"{name}: {_shares(owned)}" for name, owned in rows.items())
        idle = [f"{name}/{who}" for name, owned in rows.items() for who, part in owned.items() if not part]
        return {"assigned": "; ".join(assigned), "idle": listed(idle)}

    def _owned(self, group: str) -> dict[str, tuple[TopicPartition, ...]]:
        members = tuple(Member(name, topics=(self._topic.name,)) for name in self._members[group])
        made = plan(registry.get(ASSIGNOR), Group(group, members, {self._topic.name: self._topic}, ASSIGNOR))
        return {who: tuple(part) for who, part in made.by_member.items()}

    def _set_partitions(self, call: Call) -> str:
        if not 1 <= call.number(0) <= 50:
            raise call.wrong("use 1 to 50 partitions.")
        self._topic = Topic("orders", call.number(0))
        return f"orders has {call.number(0)} partitions"

    def _group(self, call: Call) -> str:
        name, members = call.words[0], call.words[1:]
        if len(set(members)) < len(members) or len(members) > 50:
            raise call.wrong("name up to 50 members, each once.")
        self._members[name] = members
        return f"{name} has {listed(members) or 'no members'}"

    def _produce(self, call: Call) -> str:
        partition = TopicPartition(self._topic.name, call.number(0))
        if not 0 <= partition.partition < self._topic.partitions:
            raise Refusal("TimeoutException", f"there is no partition {partition} in the metadata")
        readers = [
            f"{name}/{who}" for name in self._members for who, part in self._owned(name).items() if partition in part
        ]
        return f"read by {listed(readers) or 'no member'}"


def _shares(owned: Mapping[str, tuple[TopicPartition, ...]]) -> str:
    return listed(f"{who} {' '.join(str(p.partition) for p in part) or '–'}" for who, part in owned.items())
