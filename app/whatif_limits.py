"""How large a what-if may be."""

from assignors.counts import plural
from assignors.whatif.events import Scenario

MOST_CELLS = 2_000_000
"""Partitions times generations that one outcome of the server may hold: about 40 MB."""
TIMES_FOR_COMMAND = 10
"""A command may hold this many times as much: about a minute for each assignor."""
CELLS_PER_MEMBER = 20
"""A member of a generation takes as much memory and time as this number of partitions, idle or not."""


def excess(scenario: Scenario, times: int = 1) -> str | None:
    """The size of a scenario that is too large, such as "9,000 partitions, 20 members and 800 events"; else None.

    `times`: how much larger it may be than for the server.
    """
    partitions, members = sum(scenario.partitions_ever().values()), len(scenario.members_ever())
    if (partitions + CELLS_PER_MEMBER * members) * (len(scenario.events) + 1) <= times * MOST_CELLS:
        return None
    counts = {"partition": partitions, "member": members, "event": len(scenario.events)}
    *most, last = (plural(count, noun) for noun, count in counts.items())
    return f"{', '.join(most)} and {last}"
