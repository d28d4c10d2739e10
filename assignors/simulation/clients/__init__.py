"""Consumers on the kernel's clock: what they do when they join, poll, are asked to join again, stand still or die.

`process` is what all have in common, `classic` speaks the classic protocol, eager or
cooperative, `consumer` that of KIP-848.
"""

from assignors.simulation.clients.classic import ClassicClient
from assignors.simulation.clients.consumer import ConsumerClient
from assignors.simulation.clients.consumer_process import Process, Surroundings

__all__ = ["ClassicClient", "ConsumerClient", "Process", "Surroundings"]
