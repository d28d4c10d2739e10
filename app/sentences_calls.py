"""What a run of the call lab comes to."""

from collections.abc import Sequence

from app.formats import plural
from assignors.simulation.calls import Kind, Turn

MACHINES = {
    Kind.CLIENT: "One consumer, alone in its group",
    Kind.CLASSIC_GROUP: "The coordinator of a classic group",
    Kind.CONSUMER_GROUP: "The coordinator of a KIP-848 group",
    Kind.FINDER: "A cluster that is asked for coordinators",
    Kind.CONNECTIONS: "The connections of one consumer",
    Kind.GROUPS: "A topic and the groups that read it",
    Kind.OFFSETS_TOPIC: "The log of committed offsets",
}


def headline(turns: Sequence[Turn]) -> str:
    """How many calls are refused, and with which errors."""
    errors = [turn.error for turn in turns if turn.error is not None]
    if not errors:
        return f"{plural(len(turns), 'call')}, none is refused"
    refused = "1 is" if len(errors) == 1 else f"{len(errors)} are"
    return f"{plural(len(turns), 'call')}, {refused} refused: {', '.join(dict.fromkeys(errors))}"
