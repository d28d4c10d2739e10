"""How large a what-if may be that the server computes."""

from assignors.whatif.events import Scenario

MOST_CELLS = 2_000_000
"""Partitions times generations that one outcome may hold: about 40 MB."""


def excess(scenario: Scenario) -> str | None:
    """The size of a scenario that is too large, such as "9,000 partitions and 800 events"; else None."""
    partitions = sum(scenario.partitions_ever().values())
    if partitions * (len(scenario.events) + 1) <= MOST_CELLS:
        return None
    return f"{partitions:,} partitions and {len(scenario.events):,} events"
