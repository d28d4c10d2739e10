"""The lowest and the highest figures of a scenario over several seeds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from assignors.model import AssignorError
from assignors.simulation.timeline.summary import Summary, summarize
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.rebalance_protocol import RebalanceProtocol

FIGURES = ("rebalances", "moved", "down_ms", "longest_down_ms", "longest_pause_ms", "duplicated", "lost")
"""The figures of a `Summary` that depend on the seed."""

Range = tuple[int, int]
"""Lowest and highest."""


def over_seeds(
    runs: Iterable[Mapping[RebalanceProtocol, Timeline | AssignorError]],
) -> Mapping[str, Mapping[str, Range | None]]:
    """The range of each figure, by protocol and name; None where the figure is unknown.

    `runs` are the results of `simulate_all`, one for each seed. A protocol under which the scenario cannot be simulated
    is missing.
    """
    summaries: dict[str, list[Summary]] = defaultdict(list)
    for run in runs:
        for protocol, outcome in run.items():
            if isinstance(outcome, Timeline):
                summaries[protocol].append(summarize(outcome))
    return {protocol: {name: _range(its, name) for name in FIGURES} for protocol, its in summaries.items()}


def _range(summaries: Sequence[Summary], figure: str) -> Range | None:
    known = [value for summary in summaries if (value := getattr(summary, figure)) is not None]
    return (min(known), max(known)) if known else None
