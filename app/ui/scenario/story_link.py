"""A protocol story as URL parameters, and back: a preset or a whole scenario, what was changed, what is looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.ui import link_codec
from app.ui.formats import cut, plural
from assignors.model import AssignorError
from assignors.simulation.quiescence import settle_timeout_ms
from assignors.simulation.settings import Settings, SettingsError, read
from assignors.simulation.stories import STORIES
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

BY_NAME = {story.name: story for story in STORIES}
PROTOCOLS = (RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE, RebalanceProtocol.CONSUMER)
MOST_MEMBERS, MOST_PARTITIONS, MOST_EVENTS, MOST_MESSAGES = 50, 200, 100, 30_000
LEAST_BACKOFF_MS = 20
MOST_NUMBER_LETTERS = 10


class LinkError(ValueError):
    """A link that cannot be played, or a change that cannot be made; says why."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A setting that can be slid: its parameter in links, its name in the scenario, its range in milliseconds."""

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
PARAMETERS = ("story", "scenario", *SLIDERS, "seed", "from", "to", "messages")


@dataclass(frozen=True, slots=True)
class Told:
    """A scenario to play, with the changes that the link makes to its settings, and what of it is looked at.

    `story` names the preset, None for somebody's own scenario. `window` in milliseconds (None: where it begins to
    matter, and the end); `messages` is the protocol whose messages are drawn. `seed` decides what is chance.
    """

    story: str | None
    begun: Scenario
    changes: Mapping[str, int]
    window: tuple[int | None, int | None] = (None, None)
    messages: RebalanceProtocol | None = None
    seed: int = 0

    @property
    def scenario(self) -> Scenario:
        """With the changes."""
        changed = {SLIDERS[name].setting: value for name, value in self.changes.items()}
        return replace(self.begun, protocol={**self.begun.protocol, **changed}) if changed else self.begun


def value_of(scenario: Scenario, slider: Slider) -> int:
    """What the setting is in the scenario."""
    return int(scenario.protocol.get(slider.setting, slider.usual))


def decode(parameters: Mapping[str, str]) -> Told:
    """What the link says; the first story where it says nothing. Raises LinkError."""
    story, begun = _begun(parameters)
    changes = {name: _number(name, parameters[name]) for name in SLIDERS if name in parameters}
    window = tuple(_number(name, parameters[name]) if name in parameters else None for name in ("from", "to"))
    seed = _whole("seed", parameters.get("seed", "0"), "Use a whole number.")
    told = Told(story, begun, changes, (window[0], window[1]), _messages(parameters.get("messages")), seed)
    check(told.scenario)
    return told


def _begun(parameters: Mapping[str, str]) -> tuple[str | None, Scenario]:
    if "scenario" in parameters:
        try:
            return None, link_codec.unpack(parameters["scenario"])
        except AssignorError as error:
            raise LinkError(str(error)) from None
    name = parameters.get("story", STORIES[0].name)
    if name not in BY_NAME:
        raise LinkError(f"There is no story {cut(name)!r}. There are {', '.join(BY_NAME)}.")
    return name, BY_NAME[name].scenario


def _number(name: str, text: str) -> int:
    return _whole(name, text, "Use a whole number of milliseconds.")


def _whole(name: str, text: str, hint: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_NUMBER_LETTERS):
        raise LinkError(f"{name} is {cut(text)!r}. {hint}")
    return int(text)


def _messages(text: str | None) -> RebalanceProtocol | None:
    if text is not None and text not in PROTOCOLS:
        raise LinkError(f"messages is {cut(text)!r}. Use one of {', '.join(PROTOCOLS)}.")
    return None if text is None else RebalanceProtocol(text)


def encode(told: Told) -> dict[str, str]:
    """Its parameters. Raises LinkError when the scenario does not fit into a link."""
    said = {name: str(value) for name, value in told.changes.items()}
    said |= {name: str(ms) for name, ms in zip(("from", "to"), told.window, strict=True) if ms is not None}
    if told.seed:
        said["seed"] = str(told.seed)
    if told.messages is not None:
        said["messages"] = told.messages.value
    if told.story is not None:
        return {"story": told.story, **said}
    if (packed := link_codec.pack(told.begun)) is None:
        raise LinkError("The scenario does not fit into a link. Use `groupscope simulate` for it.")
    return {"scenario": packed, **said}


def check(scenario: Scenario) -> None:
    """Raises LinkError for what Kafka refuses, and for what would take too long on a page."""
    members = len(scenario.members_ever())
    _fits(members, MOST_MEMBERS, "member")
    _fits(sum(scenario.partitions_ever().values()), MOST_PARTITIONS, "partition")
    _fits(len(scenario.events), MOST_EVENTS, "event")
    try:
        settings = read(scenario.protocol)
    except SettingsError as error:
        raise LinkError(str(error)) from None
    if settings.client.retry_backoff_ms < LEAST_BACKOFF_MS:
        raise LinkError(f"retry.backoff.ms is below {LEAST_BACKOFF_MS}: too many messages for a page. {_OTHERWISE}")
    _fits(_messages_at_most(scenario, settings, members), MOST_MESSAGES, "message")


_OTHERWISE = "`groupscope simulate` plays more."


def _fits(count: int, most: int, what: str) -> None:
    if count > most:
        raise LinkError(f"The story has up to {plural(count, what)}; a page plays {most:,}. {_OTHERWISE}")


def _messages_at_most(scenario: Scenario, settings: Settings, members: int) -> int:
    """A heartbeat and its reply of each member per interval, and a poll, until a run gives up waiting for rest."""
    last_ms = max((event.at_ms for event in scenario.events), default=0)
    length_ms = last_ms + settle_timeout_ms(scenario, settings)
    polls = length_ms // settings.assumed.processing_ms if settings.assumed.processing_ms else 0
    interval_ms = min(settings.client.heartbeat_interval_ms, settings.kip848.heartbeat_interval_ms)
    return members * (2 * length_ms // interval_ms + polls)
