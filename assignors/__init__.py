"""Given a consumer group: which member gets which partition, exactly as Kafka would have it.

>>> import assignors
>>> assignors.names()
('range', 'roundrobin', 'sticky', 'cooperative-sticky', 'uniform', 'server-range', 'share-simple')
>>> assignors.get("cooperative-sticky").name
'cooperative-sticky'
"""

from pathlib import Path

from assignors.registry import get, load_plugin, names
from assignors.simulation.fold import fold
from assignors.whatif.events import Scenario

__all__ = ["fold", "get", "load_plugin", "load_scenario", "names"]


def load_scenario(path_or_text: str | Path) -> Scenario:
    """The scenario of a file, or of a text (anything with a line break or a brace). Raises ScenarioError."""
    from assignors.scenario import load_scenario as load  # late: its schema takes half a second, and few load one

    return load(path_or_text)
