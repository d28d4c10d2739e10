"""Kafka call by call: scripts of calls, played on machines that answer as Kafka does.

`script` reads a line, `machine` says what a machine is, the others are machines; `stories` has the presets.

>>> [turn.outcome for turn in play_on(Kind.FINDER, "find my-group")]
['hash -1906497762, partition 12, led by broker 1']
"""

from collections.abc import Mapping
from typing import Final

from assignors.labs.calls.classic_group import ClassicGroupCalls
from assignors.labs.calls.client import Client
from assignors.labs.calls.connections import Connections
from assignors.labs.calls.consumer_group import ConsumerGroupCalls
from assignors.labs.calls.find_coordinator import Finder
from assignors.labs.calls.groups import Groups
from assignors.labs.calls.offsets_topic import OffsetsTopic
from assignors.labs.calls.script import ScriptError
from assignors.labs.calls.script_machine import Machine, Turn, play
from assignors.labs.calls.stories import STORIES, Kind, Story

MACHINES: Final[Mapping[Kind, type[Machine]]] = {
    Kind.CLIENT: Client,
    Kind.CLASSIC_GROUP: ClassicGroupCalls,
    Kind.CONSUMER_GROUP: ConsumerGroupCalls,
    Kind.FINDER: Finder,
    Kind.CONNECTIONS: Connections,
    Kind.GROUPS: Groups,
    Kind.OFFSETS_TOPIC: OffsetsTopic,
}


def play_on(kind: Kind, script: str) -> tuple[Turn, ...]:
    """Each call of the script in turn, on a fresh machine. Raises ScriptError for a line that cannot be played."""
    return play(MACHINES[kind](), script)


def usages(kind: Kind) -> tuple[str, ...]:
    """How each call of that machine is written."""
    return tuple(verb.usage for verb in MACHINES[kind]().verbs())


__all__ = ["MACHINES", "STORIES", "Kind", "ScriptError", "Story", "Turn", "play_on", "usages"]
