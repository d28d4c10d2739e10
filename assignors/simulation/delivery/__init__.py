"""The delivery lab: what is processed twice or lost, by commit strategy and failure. `run` gives the ledger."""

from assignors.simulation.delivery.failures import run, steps
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

__all__ = [
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
    "Strategy",
    "run",
    "steps",
]
