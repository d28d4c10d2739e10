"""The stories of the Watermark lab: what happens to a partition, and by which rules. The presets are in `stories.yaml`.

Actions have short forms, separated by dots: `p:m0` a producer sends m0 with acks=all, `p1:m0` with acks=1; `f:B` B
fetches, `fl:B` and the response is lost; `w:500` 500 ms pass; `r:B` B restarts; `c:A` A crashes; `x:B1` all brokers
lose power and B 1 record; `s:A` A starts again.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, PlainSerializer

from assignors.labs.story import NONE, Flag, Story, Whole, joined, presets, split
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
from assignors.spelling import shown

MOST_ACTIONS = 60
MOST_WAIT_MS = 86_400_000

_ACTION = re.compile(r"(?P<code>[a-z]{1,2}1?):(?P<operand>[A-Za-z0-9-]{0,40})")
_VALUE = re.compile(r"[A-Za-z0-9-]{1,6}")
_UNFLUSHED = re.compile(r"([A-Z])(\d{1,3})")


def _text(action: Action) -> str:
    """The short form: the code with which the action is read back."""
    written = ((code, read, _operand(getattr(action, field, None))) for code, (field, read) in _CODES.items())
    return next(f"{code}:{text}" for code, read, text in written if text is not None and read(text) == action)


def _operand(value: object) -> str | None:
    if isinstance(value, Mapping):
        return "-".join(f"{name}{records}" for name, records in value.items())
    return None if value is None else str(value)


def _actions(value: object) -> object:
    if not isinstance(value, str):
        return value or ()
    parts = [] if value in ("", NONE) else value.split(".")
    if len(parts) > MOST_ACTIONS:
        raise WatermarkError(f"There are {len(parts):,} actions. Use at most {MOST_ACTIONS}.")
    return tuple(map(_action, parts))


def _action(text: str) -> Action:
    found = _ACTION.fullmatch(text)
    try:
        if found is not None and found["code"] in _CODES:
            _, read = _CODES[found["code"]]
            return read(found["operand"])
    except ValueError:
        pass
    raise WatermarkError(f"{shown(text)!r} is not an action. Write actions like p:m0, f:B, w:500, c:A, s:A.")


def _produce(value: str, acks_all: bool = True) -> Produce:
    if not _VALUE.fullmatch(value):
        raise ValueError
    return Produce(value, acks_all)


def _wait(text: str) -> Wait:
    if not 1 <= (ms := int(text)) <= MOST_WAIT_MS:
        raise ValueError
    return Wait(ms)


def _power_cut(text: str) -> PowerCut:
    parts = [_UNFLUSHED.fullmatch(part) for part in text.split("-") if part]
    if None in parts:
        raise ValueError
    return PowerCut({part[1]: int(part[2]) for part in parts if part})


_CODES: dict[str, tuple[str, Callable[[str], Action]]] = {
    "p": ("value", _produce),
    "p1": ("value", lambda value: _produce(value, acks_all=False)),
    "f": ("follower", Fetch),
    "fl": ("follower", lambda name: Fetch(name, response_lost=True)),
    "w": ("ms", _wait),
    "r": ("replica", Restart),
    "c": ("replica", Crash),
    "x": ("unflushed", _power_cut),
    "s": ("replica", Start),
}
"""For each code: the field that the operand holds, and how it is read."""

Replica = Annotated[str, Field(pattern="^[A-Z]$")]


class WatermarkStory(Story):
    """Replicas, actions, and the fields of `Settings` under the short names of links.

    `opens` is the number of the step at which it opens; 0: where it goes wrong.
    """

    lab_name: ClassVar[str] = "watermark"

    replicas: Annotated[
        tuple[Replica, ...],
        BeforeValidator(split),
        PlainSerializer(joined),
        Field(min_length=1, max_length=5, description="a list of up to 5 letters, such as A, B"),
    ] = ("A", "B")
    actions: Annotated[
        tuple[Action, ...], BeforeValidator(_actions), PlainSerializer(lambda its: ".".join(map(_text, its)) or NONE)
    ] = Field((), alias="do", description="a list of actions, such as p:m0.f:B")
    truncation: Truncation = Truncation.LEADER_EPOCH
    timing: Timing = Timing.TEXTBOOK
    min_insync: int = Field(1, ge=1, le=3, description="one of 1, 2, 3")
    unclean: Flag = False
    waits: Flag = True
    opens: Whole = 0

    @property
    def settings(self) -> Settings:
        """The settings of the partition and its brokers."""
        return Settings(
            min_insync_replicas=self.min_insync,
            unclean_leader_election=self.unclean,
            truncation=self.truncation,
            timing=self.timing,
            hw_waits_for_min_isr=self.waits,
        )

    def check(self) -> None:
        """Raises WatermarkError for a replica that is named twice."""
        if len(set(self.replicas)) < len(self.replicas):
            raise WatermarkError("A replica is named twice. Name each once.")


STORIES = presets(Path(__file__).with_name("stories.yaml"), WatermarkStory)
