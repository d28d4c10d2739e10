"""A watermark story as URL parameters, and back: the story's name, and what was changed in it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from app.ui.formats import cut
from assignors.labs.watermark import STORIES, Story
from assignors.labs.watermark.model import (
    Action,
    Crash,
    Fetch,
    PowerCut,
    Produce,
    Restart,
    Settings,
    Start,
    Timing,
    Truncation,
    Wait,
    WatermarkError,
)

MOST_ACTIONS = 60
MOST_WAIT_MS = 86_400_000
MOST_VALUE_LETTERS = 6
BY_NAME = {story.name: story for story in STORIES}
PARAMETERS = ("story", "do", "truncation", "timing", "min_insync", "unclean", "waits")

_ACTION = re.compile(r"(?P<kind>[a-z]{1,2}1?):(?P<rest>[A-Za-z0-9-]{0,40})")
_UNFLUSHED = re.compile(r"([A-Z])(\d{1,3})")


def encode(told: Story) -> dict[str, str]:
    """The name of the story it began as, and what differs from that one."""
    usual, said = BY_NAME[told.name], {"story": told.name}
    if told.actions != usual.actions:
        said["do"] = ".".join(map(_written, told.actions))
    for name, field in _SETTINGS.items():
        value = getattr(told.settings, field.name)
        if value != getattr(usual.settings, field.name):
            said[name] = field.write(value)
    return said


def written(told: Story) -> dict[str, str]:
    """All parameters, whatever their values."""
    rules_ = {name: field.write(getattr(told.settings, field.name)) for name, field in _SETTINGS.items()}
    return {"story": told.name, "do": ".".join(map(_written, told.actions)), **rules_}


LETTERS = (
    "do: p:m0 a producer sends m0 with acks=all (p1: with acks=1); f:B is a fetch of B (fl: its response is lost);",
    "w:500 500 ms pass; r:B B restarts; c:A A dies; x:B1 the power fails, B loses 1 record; s:A A comes back.",
)
"""How the actions of a story are written."""


def _written(action: Action) -> str:
    match action:
        case Produce():
            return f"p{'' if action.acks_all else '1'}:{action.value}"
        case Fetch():
            return f"f{'l' if action.response_lost else ''}:{action.follower}"
        case Wait():
            return f"w:{action.ms}"
        case Restart():
            return f"r:{action.replica}"
        case Crash():
            return f"c:{action.replica}"
        case PowerCut():
            return "x:" + "-".join(f"{name}{records}" for name, records in action.unflushed.items())
        case Start():
            return f"s:{action.replica}"


def decode(parameters: Mapping[str, str]) -> Story:
    """The story with its changes; the first one where nothing is said. Raises WatermarkError."""
    name = parameters.get("story", STORIES[0].name)
    if name not in BY_NAME:
        raise WatermarkError(f"There is no story {cut(name)!r}. There are {', '.join(BY_NAME)}.")
    told = BY_NAME[name]
    changes = {field.name: field.read(key, parameters[key]) for key, field in _SETTINGS.items() if key in parameters}
    settings = replace(told.settings, **changes)
    actions = _actions(parameters["do"]) if "do" in parameters else told.actions
    return replace(told, settings=settings, actions=actions)


def _actions(text: str) -> tuple[Action, ...]:
    parts = text.split(".") if text else []
    if len(parts) > MOST_ACTIONS:
        raise WatermarkError(f"The link has {len(parts):,} actions. Use at most {MOST_ACTIONS}.")
    return tuple(_action(part) for part in parts)


def _action(text: str) -> Action:
    found = _ACTION.fullmatch(text)
    make = _MAKERS.get(found["kind"]) if found else None
    try:
        if found is not None and make is not None:
            return make(found["rest"])
    except ValueError:
        pass
    raise WatermarkError(f"{cut(text)!r} is no action. Actions are written like p:m0, f:B, w:500, c:A, s:A.")


def _wait(text: str) -> Wait:
    if not 1 <= (ms := int(text)) <= MOST_WAIT_MS:
        raise ValueError
    return Wait(ms)


def _power_cut(text: str) -> PowerCut:
    parts = [_UNFLUSHED.fullmatch(part) for part in text.split("-") if part]
    if None in parts:
        raise ValueError
    return PowerCut({part[1]: int(part[2]) for part in parts if part})


def _produce(value: str, acks_all: bool = True) -> Produce:
    if not 1 <= len(value) <= MOST_VALUE_LETTERS:
        raise ValueError
    return Produce(value, acks_all)


_MAKERS: dict[str, Callable[[str], Action]] = {
    "p": _produce,
    "p1": lambda value: _produce(value, acks_all=False),
    "f": Fetch,
    "fl": lambda name: Fetch(name, response_lost=True),
    "w": _wait,
    "r": Restart,
    "c": Crash,
    "x": _power_cut,
    "s": Start,
}


@dataclass(frozen=True, slots=True)
class _Field:
    """A setting in a link: values by how they are written."""

    name: str
    values: Mapping[str, Any]

    def write(self, value: Any) -> str:
        return next(text for text, its in self.values.items() if its == value)

    def read(self, parameter: str, text: str) -> Any:
        if text not in self.values:
            raise WatermarkError(f"{parameter} is {cut(text)!r}. Use one of {', '.join(self.values)}.")
        return self.values[text]


def _enum(options: type[StrEnum]) -> dict[str, StrEnum]:
    return {member.name.lower().replace("_", "-"): member for member in options}


_YES_NO = {"yes": True, "no": False}
_SETTINGS = {
    "truncation": _Field("truncation", _enum(Truncation)),
    "timing": _Field("timing", _enum(Timing)),
    "min_insync": _Field("min_insync_replicas", {str(number): number for number in range(1, 4)}),
    "unclean": _Field("unclean_leader_election", _YES_NO),
    "waits": _Field("hw_waits_for_min_isr", _YES_NO),
}


def rules(settings: Settings) -> str:
    """How followers truncate and leaders are elected, in few words."""
    how = "by leader epoch" if settings.truncation is Truncation.LEADER_EPOCH else "by high watermark"
    return f"{how}, unclean" if settings.unclean_leader_election else how
