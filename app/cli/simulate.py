"""`groupscope simulate`: a scenario simulated second by second under one or more rebalance protocols."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Annotated

import typer

from app.cli.shared.difference import clipped
from app.cli.shared.files import read_or_refuse
from app.cli.shared.options import Json, WithArguments, new_command
from app.cli.shared.output import emit, emit_json, note, printable, table, warn
from app.documents.simulation import Outcome, simulations_document
from app.ui import formats
from assignors.model import AssignorError
from assignors.simulation.settings import Settings, SettingsError, read
from assignors.simulation.side_by_side import simulate_all
from assignors.simulation.timeline.seed_range import FIGURES, Range, over_seeds
from assignors.simulation.timeline.summary import summarize
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of
from lag.errors import ConfigError

PROTOCOLS = tuple(protocol for protocol in RebalanceProtocol if protocol is not RebalanceProtocol.SHARE)
HEADS = ("protocol", "assignor", "rebalances", "moved", "down, total", "longest down", "longest pause", "twice", "lost")
NUMBERS = (2, 3, 4, 5, 6, 7, 8)
MOST_PLANS = 20

Ranges = Mapping[str, Mapping[str, Range | None]]

command = new_command()


@command.command(cls=WithArguments)
def simulate(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A scenario file, YAML or JSON; - reads it from stdin.")
    ],
    protocol: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="eager, cooperative or consumer, instead of the scenario's own. Repeatable."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Seed of what is random in Kafka: member ids and the times of heartbeats."
        ),
    ] = 0,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=1_000, help="Also print the range of the figures over this number of seeds."
        ),
    ] = 8,
    latency_ms: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=60_000, help="One-way latency of a message, in milliseconds."),
    ] = None,
    json: Json = False,
) -> None:
    """Simulate a scenario second by second.

    Clients, coordinator and messages follow Kafka's rules and timers. Prints how long partitions have no owner and
    how long members wait. No cluster is contacted.
    """
    unknown = [name for name in protocol or () if name not in PROTOCOLS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {', '.join(PROTOCOLS)}", param_hint="--protocol")
    its, all_seeds = read_or_refuse(scenario), range(seed, seed + seeds)
    settings = _settings(its, latency_ms)
    wanted = dict.fromkeys(map(RebalanceProtocol, protocol or [protocol_of(its.assignor)]))
    runs = (simulate_all(its, settings, wanted, seed=one) for one in all_seeds)
    outcomes = next(runs)
    ranges = over_seeds(chain([outcomes], runs)) if seeds > 1 else {}
    if json:
        over = {"seeds": list(all_seeds), "protocols": ranges}
        emit_json({"scenario": its.name, "seed": seed, "protocols": simulations_document(outcomes), "over_seeds": over})
    else:
        _print(its, outcomes, ranges, all_seeds)
    _warn(outcomes)
    if any(isinstance(outcome, AssignorError) for outcome in outcomes.values()):
        raise typer.Exit(1)


def _warn(outcomes: Mapping[RebalanceProtocol, Outcome]) -> None:
    """A group that never becomes stable is reported, and is no error: the exit code stays 0."""
    for protocol, outcome in outcomes.items():
        if isinstance(outcome, Timeline) and outcome.unsettled is not None:
            warn(f"{protocol} never became stable: {outcome.unsettled}")


def _settings(scenario: Scenario, latency_ms: int | None) -> Settings:
    try:
        settings = read(scenario.protocol)
    except SettingsError as error:
        raise ConfigError("\n".join(f"protocol: {line}" for line in str(error).splitlines())) from None
    if latency_ms is None:
        return settings
    return replace(settings, assumed=replace(settings.assumed, latency_ms=latency_ms))


# For people


def _print(
    scenario: Scenario, outcomes: Mapping[RebalanceProtocol, Outcome], ranges: Ranges, seeds: Sequence[int]
) -> None:
    emit(clipped(printable(scenario.name)))
    for protocol, outcome in outcomes.items():
        if isinstance(outcome, AssignorError):
            note(f"error: {protocol}: {outcome}")
    played = [outcome for outcome in outcomes.values() if isinstance(outcome, Timeline)]
    if played:
        for line in table(HEADS, _rows(played, ranges, f"seeds {seeds[0]} to {seeds[-1]}"), NUMBERS):
            emit(f"  {line}")
    for timeline in played:
        for line in _course(timeline):
            emit(clipped(line))


def _rows(timelines: Iterable[Timeline], ranges: Ranges, seeds: str) -> Iterator[tuple[str, ...]]:
    """A row of figures for each protocol, and below it their range over the seeds."""
    for timeline in timelines:
        summary = summarize(timeline)
        figures = (_figure(name, getattr(summary, name)) for name in FIGURES)
        yield summary.protocol, summary.assignor, *figures
        if timeline.protocol in ranges:
            yield "", seeds, *(_figures(name, found) for name, found in ranges[timeline.protocol].items())


def _figure(name: str, value: int | None) -> str:
    if value is None:
        return formats.DASH
    return seconds(value) if name.endswith("_ms") else formats.count(value)


def _figures(name: str, found: Range | None) -> str:
    """ "2", "1–3", "40.010–43.010 s" """
    if found is None or found[0] == found[1]:
        return _figure(name, None if found is None else found[0])
    lowest, highest = (_figure(name, value) for value in found)
    return f"{lowest.removesuffix(' s')}–{highest}"


def seconds(ms: int) -> str:
    """40010 -> "40.010 s"."""
    return f"{ms / 1000:,.3f} s"


def _course(timeline: Timeline) -> Iterator[str]:
    yield f"{timeline.protocol}, {seconds(timeline.end_ms)} simulated"
    for plan in timeline.plans[:MOST_PLANS]:
        yield f"  {seconds(plan.at_ms):>14}  generation {plan.generation}: {plan.cause}"
    if len(timeline.plans) > MOST_PLANS:
        yield f"  and {formats.plural(len(timeline.plans) - MOST_PLANS, 'more generation')} (use --json)"
    for failure in timeline.failures:
        yield f"  {seconds(failure.at_ms):>14}  {failure.member} failed with {failure.error}"
    if timeline.unsettled:
        yield f"  {seconds(timeline.end_ms):>14}  never became stable: {timeline.unsettled}"
