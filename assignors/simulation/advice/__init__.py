"""Configuration advice for consumers, groups and coordinators: each finding with its reason and source."""

from assignors.simulation.advice.broker import advise_broker
from assignors.simulation.advice.client import advise_client
from assignors.simulation.advice.findings import Finding, Severity
from assignors.simulation.advice.group import advise_group
from assignors.simulation.advice.work import Work

__all__ = ["Finding", "Severity", "Work", "advise_broker", "advise_client", "advise_group"]
