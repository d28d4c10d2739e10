"""For how long a run waits for its group to come to rest."""

from assignors.events import GcPause, Scenario, Slow
from assignors.simulation.settings import Settings

LOOK_EVERY_MS = 1_000
"""How often a run looks whether everything has come to rest, once nothing more happens from outside."""


def patience_ms(scenario: Scenario, settings: Settings) -> int:
    """How long a group may take to come to rest after the last event: twice all that it may have to wait for."""
    client, actions = settings.client, [event.action for event in scenario.events]
    longest_ms = max([0, *(action.processing_ms for action in actions if isinstance(action, Slow))])
    longest_ms += max([0, *(action.lasts_ms for action in actions if isinstance(action, GcPause))])
    slow_ms = client.max_poll_interval_ms + settings.assumed.processing_ms + settings.assumed.restart_ms + longest_ms
    return 2 * (client.session_timeout_ms + client.metadata_max_age_ms + slow_ms + 60_000)
