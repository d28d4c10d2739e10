"""The delivery lab: what is processed twice or lost, by commit strategy and failure. `run` gives the ledger."""

from assignors.simulation.delivery.compare import compare, under, worst
from assignors.simulation.delivery.failures import first_life, run, steps
from assignors.simulation.delivery.ledger import Ledger
from assignors.simulation.delivery.model import (
    Event,
    Failure,
    FailureKind,
    Interceptor,
    Kind,
    Lab,
    LabError,
    OnPoison,
    Record,
    Strategy,
)
from assignors.simulation.delivery.stories import STORIES, Story

__all__ = [
    "STORIES",
    "Event",
    "Failure",
    "FailureKind",
    "Interceptor",
    "Kind",
    "Lab",
    "LabError",
    "Ledger",
    "OnPoison",
    "Record",
    "Story",
    "Strategy",
    "compare",
    "first_life",
    "run",
    "steps",
    "under",
    "worst",
]
