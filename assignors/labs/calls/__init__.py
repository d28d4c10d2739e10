"""Kafka call by call: scripts, and machines that answer as Kafka does.

>>> [turn.outcome for turn in play_on(Kind.FINDER, "find my-group")]
['hash -1906497762, partition 12, led by broker 1']
"""

from assignors.labs.calls.script import ScriptError
from assignors.labs.calls.script_machine import PartitionOffsets, Turn
from assignors.labs.calls.stories import STORIES, CallStory, Kind, play_on, usages

__all__ = ["STORIES", "CallStory", "Kind", "PartitionOffsets", "ScriptError", "Turn", "play_on", "usages"]
