"""Scenario events, one kind a class, and the scenario itself.

How to add an event: docs/contributing.md.
"""

from assignors.whatif.events.absence import Freeze, Heal, Resume, Split
from assignors.whatif.events.action import PLAIN, Action, MemberAction, SimulatedGroup, Wording
from assignors.whatif.events.coordinator import CoordinatorDown, CoordinatorUp
from assignors.whatif.events.join import Join
from assignors.whatif.events.leave import Crash, Leave, Restart
from assignors.whatif.events.scenario import Event, Loads, Scenario
from assignors.whatif.events.slow import GcPause, Slow
from assignors.whatif.events.subscribe import ChangeRack, Subscribe
from assignors.whatif.events.topics import AddPartitions, CreateTopic, DeleteTopic
from assignors.whatif.events.use_assignor import UseAssignor

__all__ = [
    "PLAIN",
    "Action",
    "AddPartitions",
    "ChangeRack",
    "CoordinatorDown",
    "CoordinatorUp",
    "Crash",
    "CreateTopic",
    "DeleteTopic",
    "Event",
    "Freeze",
    "GcPause",
    "Heal",
    "Join",
    "Leave",
    "Loads",
    "MemberAction",
    "Restart",
    "Resume",
    "Scenario",
    "SimulatedGroup",
    "Slow",
    "Split",
    "Subscribe",
    "UseAssignor",
    "Wording",
]
