"""The lowest and the highest figures of a scenario over several seeds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from assignors.simulation.settings import Settings
from assignors.simulation.side_by_side import simulate_all
from assignors.simulation.summary import Summary, summarize
from assignors.simulation.timeline import Timeline
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

FIGURES = ("rebalances", "moved", "down_ms", "longest_down_ms", "longest_pause_ms", "duplicated", "lost")
"""The figures of a `Summary` that depend on the seed."""

Range = tuple[int, int]
"""Lowest and highest."""


def over_seeds(
    scenario: Scenario, settings: Settings, protocols: Iterable[RebalanceProtocol], seeds: Iterable[int]
) -> Mapping[str, Mapping[str, Range | None]]:
    """The range of each figure, by protocol and name; None where the figure is unknown.

    A protocol under which the scenario cannot be simulated is missing.
    """
    summaries: dict[str, list[Summary]] = defaultdict(list)
    wanted = tuple(protocols)
    for seed in seeds:
        for protocol, outcome in simulate_all(scenario, settings, wanted, seed=seed).items():
            if isinstance(outcome, Timeline):
                summaries[protocol].append(summarize(outcome))
    return {protocol: {name: _range(its, name) for name in FIGURES} for protocol, its in summaries.items()}


def _range(summaries: Sequence[Summary], figure: str) -> Range | None:
    known = [value for summary in summaries if (value := getattr(summary, figure)) is not None]
    return (min(known), max(known)) if known else None
