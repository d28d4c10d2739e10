"""The stories of the Call lab: a script, and the machine that runs it. The presets are in `stories.yaml`."""

from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from assignors.labs.calls.classic_group import ClassicGroupCalls
from assignors.labs.calls.client import Client
from assignors.labs.calls.connections import Connections
from assignors.labs.calls.consumer_group import ConsumerGroupCalls
from assignors.labs.calls.find_coordinator import Finder
from assignors.labs.calls.groups import Groups
from assignors.labs.calls.offsets_topic import OffsetsTopic
from assignors.labs.calls.script_machine import Machine, Turn, play
from assignors.labs.story import Story, Whole, presets

MOST_LETTERS = 4_000


class Kind(StrEnum):
    """The kinds of machines."""

    CLIENT = "consumer"
    CLASSIC_GROUP = "classic-group"
    CONSUMER_GROUP = "consumer-group"
    FINDER = "finder"
    CONNECTIONS = "connections"
    GROUPS = "groups"
    OFFSETS_TOPIC = "offsets-topic"


_MACHINES: dict[Kind, type[Machine]] = {
    Kind.CLIENT: Client,
    Kind.CLASSIC_GROUP: ClassicGroupCalls,
    Kind.CONSUMER_GROUP: ConsumerGroupCalls,
    Kind.FINDER: Finder,
    Kind.CONNECTIONS: Connections,
    Kind.GROUPS: Groups,
    Kind.OFFSETS_TOPIC: OffsetsTopic,
}


def play_on(kind: Kind, script: str) -> tuple[Turn, ...]:
    """Each call of the script on a new machine. Raises ScriptError for a line that cannot be simulated."""
    return play(_MACHINES[kind](), script)


def usages(kind: Kind) -> tuple[str, ...]:
    """How each call of that machine is written."""
    return tuple(verb.usage for verb in _MACHINES[kind]().verbs())


class CallStory(Story):
    """A script of calls, one a line. `opens` is the number of the call at which it opens; 0: where it goes wrong."""

    lab_name: ClassVar[str] = "calls"

    machine: Kind
    script: str
    opens: Whole = 0

    def check(self) -> None:
        """Raises ScriptError or ValueError for a script that cannot be simulated."""
        if len(self.script) > MOST_LETTERS:
            raise ValueError(f"The script has {len(self.script):,} characters. Use at most {MOST_LETTERS:,}.")
        if not play_on(self.machine, self.script):
            raise ValueError("The script has no calls. Write one per line.")


STORIES = presets(Path(__file__).with_name("stories.yaml"), CallStory)
