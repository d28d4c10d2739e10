"""Whether a simulated group has settled, and how long the simulation waits for that."""

from collections.abc import Collection, Iterator, Mapping

from assignors.simulation.clients.consumer_process import Process
from assignors.simulation.coordinator_service import GroupCoordinatorService
from assignors.simulation.settings import Settings
from assignors.whatif.events import Scenario, Slow

SETTLE_CHECK_MS = 1_000
"""How often the simulation checks whether the group has settled, after the last event."""


def settle_timeout_ms(scenario: Scenario, settings: Settings) -> int:
    """How long a group may take to settle after the last event: twice the sum of all timeouts."""
    client, actions = settings.client, [event.action for event in scenario.events]
    longest_ms = max([0, *(action.processing_ms for action in actions if isinstance(action, Slow))])
    longest_ms += max([0, *(action.pause_ms for action in actions)])
    slow_ms = client.max_poll_interval_ms + settings.assumed.processing_ms + settings.assumed.restart_ms + longest_ms
    return 2 * (client.session_timeout_ms + client.metadata_max_age_ms + slow_ms + 60_000)


def in_progress(
    service: GroupCoordinatorService,
    clients: Mapping[str, Process],
    restarting: Collection[str],
    paused: Collection[str],
) -> Iterator[str]:
    """What is still in progress, as texts: in the group, then at each process."""
    yield from service.in_progress()
    yield from (f"{name} is starting again" for name in clients if name in restarting)
    for name, client in clients.items():
        if client.alive and (found := _of_process(service, client, is_paused=name in paused)):
            yield f"{name} {found}"


def _of_process(service: GroupCoordinatorService, client: Process, *, is_paused: bool) -> str | None:
    if is_paused:
        return "is paused"
    if client.is_frozen or client.is_stalled or client.is_split:
        away = "cannot reach the coordinator" if client.is_split else "does not poll"
        return f"{away}, and the group has not noticed" if service.has(client.member_id) else None
    if client.is_too_slow:
        return "processes for longer than max.poll.interval.ms"
    if not client.is_settled:
        return f"is {client.state[0]}"
    is_unaware = client.subscribes and service.has_removed(client)
    return "does not know yet that the group has removed it" if is_unaware else None
