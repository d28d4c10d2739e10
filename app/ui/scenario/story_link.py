"""A story of the Protocol lab: a scenario, changes to its settings, and what of it is shown. It fits into a link."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, InstanceOf, PlainSerializer

from app.ui import scenario_files
from app.ui.formats import plural
from assignors.labs.story import Story, Whole
from assignors.scenario import dump
from assignors.simulation.quiescence import settle_timeout_ms
from assignors.simulation.settings import Settings, read
from assignors.simulation.stories import STORIES as SCENARIOS
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

PROTOCOLS = (RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE, RebalanceProtocol.CONSUMER)
MOST_MEMBERS, MOST_PARTITIONS, MOST_EVENTS, MOST_MESSAGES = 50, 200, 100, 30_000
LEAST_BACKOFF_MS = 20
MOST_NUMBER = 10**10
OWN = "own"
"""The name of a story that is not a preset."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A setting with a slider: its parameter in links, its name in the scenario, its range in milliseconds."""

    parameter: str
    setting: str
    least: int
    most: int
    step: int
    usual: int


KAFKA = (
    Slider("session", "session.timeout.ms", 6_000, 120_000, 1_000, 45_000),
    Slider("heartbeat", "heartbeat.interval.ms", 500, 30_000, 500, 3_000),
    Slider("poll", "max.poll.interval.ms", 10_000, 600_000, 5_000, 300_000),
    Slider("server_session", "group.consumer.session.timeout.ms", 45_000, 60_000, 1_000, 45_000),
    Slider("server_heartbeat", "group.consumer.heartbeat.interval.ms", 5_000, 15_000, 500, 5_000),
)
ASSUMED = (
    Slider("latency", "simulated.latency.ms", 1, 500, 1, 1),
    Slider("append", "simulated.append.ms", 0, 500, 1, 5),
    Slider("plan", "simulated.plan.ms", 0, 5_000, 10, 1),
    Slider("processing", "simulated.processing.ms", 0, 60_000, 500, 0),
    Slider("restart", "simulated.restart.ms", 0, 120_000, 500, 5_000),
    Slider("load", "simulated.load.ms", 0, 30_000, 500, 500),
)
SLIDERS = {slider.parameter: slider for slider in (*KAFKA, *ASSUMED)}

Ms = Annotated[int | None, Field(ge=0, lt=MOST_NUMBER, description="a whole number of milliseconds")]


def _scenario(value: object) -> Any:
    return scenario_files.linked(value) if isinstance(value, str) else value


class ProtocolStory(Story):
    """`base` is the scenario without the changes of the sliders; the scenario has title and description."""

    lab_name: ClassVar[str] = "protocol"

    title: str = Field(exclude=True)
    shows: str = Field(exclude=True)
    base: Annotated[
        InstanceOf[Scenario],
        BeforeValidator(_scenario),
        PlainSerializer(dump),
    ] = Field(alias="scenario")
    session: Ms = None
    heartbeat: Ms = None
    poll: Ms = None
    server_session: Ms = None
    server_heartbeat: Ms = None
    latency: Ms = None
    append: Ms = None
    plan: Ms = None
    processing: Ms = None
    restart: Ms = None
    load: Ms = None
    seed: Whole = 0
    from_ms: Ms = Field(None, alias="from")
    to_ms: Ms = Field(None, alias="to")
    messages: Literal[PROTOCOLS] | None = Field(None, description=f"one of {', '.join(PROTOCOLS)}")  # type: ignore[valid-type]

    @property
    def scenario(self) -> Scenario:
        """The scenario with the changes of the sliders."""
        values = {slider.setting: getattr(self, name) for name, slider in SLIDERS.items()}
        changed = {setting: value for setting, value in values.items() if value is not None}
        return replace(self.base, protocol={**self.base.protocol, **changed}) if changed else self.base

    def changed(self, values: Mapping[str, Any]) -> Self:
        """Another scenario is the user's own story, named by it."""
        if "scenario" in values:
            base = _scenario(values["scenario"])
            values = {**values, "scenario": base, "story": OWN, "title": base.name, "shows": base.description}
        return super().changed(values)

    def check(self) -> None:
        """Raises ValueError for what Kafka refuses, and for what would take too long on a page."""
        scenario = self.scenario
        members = len(scenario.members_ever())
        _limit(members, MOST_MEMBERS, "member")
        _limit(sum(scenario.partitions_ever().values()), MOST_PARTITIONS, "partition")
        _limit(len(scenario.events), MOST_EVENTS, "event")
        settings = read(scenario.protocol)
        if settings.client.retry_backoff_ms < LEAST_BACKOFF_MS:
            raise ValueError(
                f"retry.backoff.ms is below {LEAST_BACKOFF_MS}: too many messages for a page. {_OTHERWISE}"
            )
        _limit(_messages_at_most(scenario, settings, members), MOST_MESSAGES, "message")


_OTHERWISE = "Use `groupscope simulate` instead."


def _limit(count: int, most: int, what: str) -> None:
    if count > most:
        raise ValueError(f"The story has up to {plural(count, what)}; a page plays at most {most:,}. {_OTHERWISE}")


def _messages_at_most(scenario: Scenario, settings: Settings, members: int) -> int:
    """Each member's heartbeats with responses, and its polls, until the run stops waiting for a stable group."""
    last_ms = max((event.at_ms for event in scenario.events), default=0)
    length_ms = last_ms + settle_timeout_ms(scenario, settings)
    polls = length_ms // settings.assumed.processing_ms if settings.assumed.processing_ms else 0
    interval_ms = min(settings.client.heartbeat_interval_ms, settings.kip848.heartbeat_interval_ms)
    return members * (2 * length_ms // interval_ms + polls)


STORIES: Mapping[str, ProtocolStory] = {
    name: ProtocolStory.model_validate({"story": name, "title": base.name, "shows": base.description, "scenario": base})
    for name, base in SCENARIOS.items()
}


def value_of(scenario: Scenario, slider: Slider) -> int:
    """The setting's value in the scenario."""
    return int(scenario.protocol.get(slider.setting, slider.usual))
