"""How large a what-if may be that the server computes."""

from assignors.whatif.events import Scenario

MOST_CELLS = 2_000_000
"""Partitions times generations that one outcome may hold: about 40 MB."""
CELLS_PER_MEMBER = 20
"""A member of a generation takes as much memory and time as this number of partitions, idle or not."""


def excess(scenario: Scenario) -> str | None:
    """The size of a scenario that is too large, such as "9,000 partitions, 20 members and 800 events"; else None."""
    partitions, members = sum(scenario.partitions_ever().values()), len(scenario.members_ever())
    if (partitions + CELLS_PER_MEMBER * members) * (len(scenario.events) + 1) <= MOST_CELLS:
        return None
    return f"{partitions:,} partitions, {members:,} members and {len(scenario.events):,} events"
