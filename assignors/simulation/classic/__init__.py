"""The classic group coordinator of Kafka 4.3.1, as a state machine on the kernel's clock.

`messages` has the requests and replies, `coordinator` answers them, `records` has what survives a failover.
"""

from assignors.simulation.classic.coordinator import ClassicCoordinator
from assignors.simulation.classic.group import ClassicGroup, State
from assignors.simulation.classic.records import InstantLog
from assignors.simulation.classic.settings import Settings

__all__ = ["ClassicCoordinator", "ClassicGroup", "InstantLog", "Settings", "State"]
