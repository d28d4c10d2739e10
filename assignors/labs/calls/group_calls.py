"""What the machines of both group protocols have in common: topics, time, and members that call by name."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from assignors.labs.calls.script import Call
from assignors.labs.calls.script_machine import Machine
from assignors.model import Topic
from assignors.simulation.classic.messages import Commit
from assignors.simulation.kernel import Kernel


@dataclass(slots=True)
class Caller:
    """What a member knows. `generation` is the member epoch under the consumer protocol."""

    name: str
    generation: int
    member_id: str = ""
    instance_id: str | None = None


C = TypeVar("C", bound=Caller)


class GroupCalls(Machine, Generic[C]):
    """The caller is written before the verb: `A: join`."""

    def __init__(self, new_caller: Callable[[str], C]) -> None:
        self._kernel, self._callers, self._numbers = Kernel(), dict[str, C](), count(1)
        self._new_caller = new_caller

    @abstractmethod
    def add_topic(self, topic: Topic) -> None:
        """From now on the topic exists like this."""

    def _topic(self, call: Call) -> str:
        name, size = call.words[0], call.number(1)
        if not 1 <= size <= 100:
            raise call.wrong("a topic has 1 to 100 partitions.")
        self.add_topic(Topic(name, size))
        return f"{name} has {size} partitions"

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}-{next(self._numbers)}"

    def _caller(self, call: Call) -> C:
        if not call.who:
            raise call.wrong(f"name the member: `A: {call.text}`.")
        caller = self._callers.setdefault(call.who, self._new_caller(call.who))
        caller.instance_id = call.options.get("static", caller.instance_id)
        return caller

    def _commit_of(self, call: Call, caller: C, option: str) -> Commit:
        offsets, generation = ((call.partition(0), call.number(1)),), call.count(option, caller.generation)
        return Commit(offsets, caller.member_id, generation, caller.instance_id)
