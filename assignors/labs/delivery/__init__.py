"""The delivery lab: what is processed twice or lost, by commit strategy and failure. `run` gives the ledger."""

from assignors.labs.delivery.compare import compare, under, worst
from assignors.labs.delivery.failures import first_life, run
from assignors.labs.delivery.ledger import Ledger
from assignors.labs.delivery.model import (
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
from assignors.labs.delivery.stories import STORIES, DeliveryStory

__all__ = [
    "STORIES",
    "DeliveryStory",
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
    "compare",
    "first_life",
    "run",
    "under",
    "worst",
]
