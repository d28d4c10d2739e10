"""A scenario simulated as a request asks for it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from app.documents.simulation import Outcome
from app.server.api.problem import field_error, invalid_fields
from assignors.simulation.settings import Settings, SettingsError, read
from assignors.simulation.side_by_side import simulate_all
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of


def simulated(
    scenario: Scenario, protocols: Sequence[str], seed: int, latency_ms: int | None, most_messages: int
) -> Mapping[RebalanceProtocol, Outcome]:
    """The timeline under each protocol, by default the scenario's own.

    Raises ApiError for settings that are wrong, and MessageLimitError as `simulate_all` does.
    """
    wanted = [RebalanceProtocol(name) for name in protocols] or [protocol_of(scenario.assignor)]
    settings = _settings(scenario, latency_ms)
    return simulate_all(scenario, settings, dict.fromkeys(wanted), seed=seed, most_messages=most_messages)


def _settings(scenario: Scenario, latency_ms: int | None) -> Settings:
    try:
        settings = read(scenario.protocol)
    except SettingsError as error:
        raise invalid_fields([field_error("body.protocol", line) for line in str(error).splitlines()]) from None
    return (
        settings if latency_ms is None else replace(settings, assumed=replace(settings.assumed, latency_ms=latency_ms))
    )


def rows(outcomes: Iterable[Outcome]) -> int:
    """The rows of all tables."""
    return sum(
        sum(map(len, (its.spans, its.messages, its.ownership, its.callbacks, its.commits)))
        for its in outcomes
        if isinstance(its, Timeline)
    )
