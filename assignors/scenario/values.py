"""The values in a scenario file: durations, names, numbers by partition, and their error messages."""

import re
from math import isfinite
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from assignors.model import AssignorError
from assignors.patterns import compiled

MOST_PARTITIONS = 1_000_000
MOST_LETTERS = 32_767  # Kafka's own limit of a short string
MOST_TOPIC_LETTERS = 249
MOST_DIGITS = 10
MOST_AMOUNT = 1e15  # sums of a million of them are still numbers
MOST_MS = 366 * 86_400_000
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|h|d)")
_UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_TOPIC = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


def wrong(message: str) -> PydanticCustomError:
    """An error with this message, which is shown as it is."""
    return PydanticCustomError("sentence", "{message}", {"message": message})


def duration_ms(value: object) -> int:
    """Milliseconds of "1500ms", "30s", "2m", "1h", "1d"; a plain number means seconds.

    >>> [duration_ms(value) for value in ("1500ms", "2m", 30, 0.5)]
    [1500, 120000, 30000, 500]
    """
    message = "Write a duration such as 30s, 1500ms, 2m or 1h; a plain number means seconds."
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise wrong(message)
    found = _DURATION.fullmatch(f"{value}s" if not isinstance(value, str) else value)
    if not found:
        raise wrong(message)
    exact_ms = round(float(found[1]) * _UNIT_MS[found[2]], 6)
    if not exact_ms.is_integer():
        raise wrong("This is not a whole number of milliseconds, the smallest unit of a scenario.")
    if exact_ms > MOST_MS:
        raise wrong("A scenario lasts at most 366 days.")
    return int(exact_ms)


def _text(value: object) -> object:
    if isinstance(value, bool | int | float):
        raise wrong(f"{str(value).lower()} is not a string here. Quote it: '{str(value).lower()}'.")
    if isinstance(value, str) and not value:
        raise wrong("This must not be empty.")
    return value


def _legible(text: str) -> str:
    if len(text) > MOST_LETTERS:
        raise wrong(f"This has {len(text):,} characters. Kafka's limit is {MOST_LETTERS:,}.")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise wrong("This contains half of a surrogate pair, which is not a character.")
    return text


def _topic_name(name: str) -> str:
    if len(name) > MOST_TOPIC_LETTERS:
        raise wrong(f"A topic's name has at most {MOST_TOPIC_LETTERS} characters; this one has {len(name)}.")
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise wrong("A topic's name consists of ASCII letters, digits, '.', '_' and '-', and is not '.' or '..'.")
    return name


def _pattern(text: str) -> str:
    if "[[:" in text:
        raise wrong("Java and RE2 read [[: differently. List the characters, as in [a-z].")
    try:
        compiled(text)
    except AssignorError as error:
        raise wrong(str(error)) from None
    return text


def _setting(value: str | float) -> str | float:
    if isinstance(value, float) and not isfinite(value):
        raise wrong("This number is too large.")
    return _legible(value) if isinstance(value, str) else value


_SPELLINGS = {"anyOf": [{"type": "string", "pattern": f"^{_DURATION.pattern}$"}, {"type": "number", "minimum": 0}]}
_WHEN = "Time since the start: 30s, 1500ms, 2m, 1h; a plain number means seconds."
_HOW_LONG = "How long: 30s, 1500ms, 2m, 1h; a plain number means seconds."

Duration = Annotated[int, BeforeValidator(duration_ms), WithJsonSchema(_SPELLINGS | {"description": _WHEN})]
"""Milliseconds since the start of the scenario."""

Length = Annotated[int, BeforeValidator(duration_ms), WithJsonSchema(_SPELLINGS | {"description": _HOW_LONG})]
"""Milliseconds."""

Text = Annotated[
    str,
    BeforeValidator(_text),
    AfterValidator(_legible),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MOST_LETTERS}),
]
Pattern = Annotated[Text, AfterValidator(_pattern), WithJsonSchema({"type": "string", "minLength": 1})]
"""A regular expression that Kafka's clients and brokers accept."""
TopicName = Annotated[
    Text,
    AfterValidator(_topic_name),
    WithJsonSchema({"type": "string", "pattern": f"^{_TOPIC.pattern}$", "maxLength": MOST_TOPIC_LETTERS}),
]
Prose = Annotated[str, AfterValidator(_legible)]
Setting = Annotated[str | bool | int | float, AfterValidator(_setting)]
PartitionCount = Annotated[int, Field(ge=1, le=MOST_PARTITIONS)]
PartitionNumber = Annotated[int, Field(ge=0, lt=MOST_PARTITIONS)]
Amount = Annotated[float, Field(ge=0, le=MOST_AMOUNT, allow_inf_nan=False)]
Capacity = Annotated[float, Field(gt=0, le=MOST_AMOUNT, allow_inf_nan=False)]


def _partition_keys(value: Any) -> Any:
    """JSON has no numbers as keys: "0" is 0."""
    if not isinstance(value, dict):
        return value
    keys = [int(key) if isinstance(key, str) and key.isdecimal() and len(key) < MOST_DIGITS else key for key in value]
    if len(set(keys)) < len(keys):
        raise wrong("A partition is listed twice, as a number and as a string. Keep one.")
    return dict(zip(keys, value.values(), strict=True))


def _shape(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    return next((name for kind, name in _SHAPES.items() if isinstance(value, kind)), None)


_SHAPES = {int: "each", float: "each", list: "in order", dict: "by key"}
_AMOUNTS = "Write a number for all partitions, a list of numbers (null: unknown), or a mapping of partition: number."
_CAPACITIES = "Write a number for all members, or a mapping of member: number."

Amounts = Annotated[
    Annotated[Amount, Tag("each")]
    | Annotated[list[Amount | None], Field(fail_fast=True), Tag("in order")]
    | Annotated[dict[PartitionNumber, Amount], BeforeValidator(_partition_keys), Tag("by key")],
    Discriminator(_shape, custom_error_type="sentence", custom_error_message=_AMOUNTS),
]
"""Numbers for the partitions of one topic; the tag is part of an error's path."""

Capacities = Annotated[
    Annotated[Capacity, Tag("each")] | Annotated[dict[Text, Capacity], Tag("by key")],
    Discriminator(_shape, custom_error_type="sentence", custom_error_message=_CAPACITIES),
]
