"""Given a consumer group: which member gets which partition, exactly as Kafka would have it.

>>> import assignors
>>> assignors.names()
('range', 'roundrobin', 'sticky', 'cooperative-sticky', 'uniform', 'server-range', 'share-simple')
>>> assignors.get("cooperative-sticky").name
'cooperative-sticky'
"""

from assignors.generations import fold
from assignors.registry import get, load_plugin, names
from assignors.scenario import load_scenario

__all__ = ["fold", "get", "load_plugin", "load_scenario", "names"]
