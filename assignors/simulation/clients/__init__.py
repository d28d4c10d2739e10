"""Simulated consumers: `consumer_process` is common to all, `classic` and `consumer` implement the two protocols."""

from assignors.simulation.clients.classic import ClassicClient
from assignors.simulation.clients.consumer import ConsumerClient
from assignors.simulation.clients.consumer_process import Environment, Process

__all__ = ["ClassicClient", "ConsumerClient", "Environment", "Process"]
