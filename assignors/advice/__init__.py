"""Configuration advice for consumers, groups and coordinators: each finding with its reason and source."""

from assignors.advice.broker import advise_broker
from assignors.advice.client import advise_client
from assignors.advice.findings import Finding, Severity
from assignors.advice.group import advise_group
from assignors.advice.workload import Workload

__all__ = ["Finding", "Severity", "Workload", "advise_broker", "advise_client", "advise_group"]
