"""A delivery lab and its failure as URL parameters, and back: a story's name, or what differs from the first one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from app.ui.formats import cut, plural
from assignors.labs.delivery import (
    STORIES,
    Failure,
    FailureKind,
    Interceptor,
    Lab,
    LabError,
    OnPoison,
    Record,
    Story,
    Strategy,
    run,
)

MOST_RECORDS, MOST_PARTITIONS = 20, 4
"""As many as a picture can label; the rules are the same for millions."""
MOST_WORKERS = 16
MOST_DIGITS = 12
FIRST = STORIES[0]
BY_NAME = {story.name: story for story in STORIES}


@dataclass(frozen=True, slots=True)
class _Field:
    """One parameter: which field it holds, how it is written, how it is read (ValueError: it cannot be)."""

    name: str
    is_lab: bool
    write: Callable[[Any], str]
    read: Callable[[str], Any]
    wanted: str


def slug(member: StrEnum) -> str:
    """How a choice is written in a link: EVERY_N -> "every-n"."""
    return member.name.lower().replace("_", "-")


def _choice(name: str, is_lab: bool, options: type[StrEnum]) -> _Field:
    by_slug = {slug(member): member for member in options}

    def read(text: str) -> StrEnum:
        if text not in by_slug:
            raise ValueError
        return by_slug[text]

    return _Field(name, is_lab, slug, read, f"one of {', '.join(by_slug)}")


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise ValueError
    return int(text)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_number(part.strip()) for part in text.split(",") if part.strip())


def _record(text: str) -> Record:
    partition, _, offset = text.strip().partition(":")
    return Record(_number(partition), _number(offset))


def _records(text: str) -> frozenset[Record]:
    return frozenset(_record(part) for part in text.split(",") if part.strip())


def _flag(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError
    return text == "yes"


def joined(values: Sequence[object]) -> str:
    """ "0:1, 0:4" """
    return ", ".join(map(str, values))


def _sorted(values: frozenset[Any]) -> str:
    return joined(sorted(values))


_OFFSETS, _ONE_RECORD = "an offset per partition, such as 10, 0", "a partition and an offset, such as 0:2"
_COUNT = "a whole number"
_FIELDS = (
    _choice("strategy", True, Strategy),
    _Field("end", True, joined, _numbers, _OFFSETS),
    _Field("start", True, joined, _numbers, _OFFSETS),
    _Field("batch_records", True, str, _number, _COUNT),
    _Field("every_records", True, str, _number, _COUNT),
    _Field("auto_commit_polls", True, str, _number, _COUNT),
    _Field("workers", True, str, _number, _COUNT),
    _Field("commits_on_revoke", True, lambda on: "yes" if on else "no", _flag, "yes or no"),
    _choice("interceptor", True, Interceptor),
    _Field("expired", True, _sorted, _records, "records, such as 0:1, 0:4"),
    _Field("poison", True, lambda at: str(at) if at else "", lambda text: _record(text) if text else None, _ONE_RECORD),
    _choice("on_poison", True, OnPoison),
    _choice("kind", False, FailureKind),
    _Field("step", False, str, _number, _COUNT),
    _Field("failed_commits", False, _sorted, lambda text: frozenset(_numbers(text)), "numbers from 0, such as 0, 2"),
    _Field("outsider", False, joined, _numbers, _OFFSETS),
)
PARAMETERS = {field.name: "failure" if field.name == "kind" else field.name for field in _FIELDS}
"""Field -> URL parameter."""
NAMES = ("story", *PARAMETERS.values())
"""All URL parameters."""


def story_of(lab: Lab, failure: Failure) -> Story | None:
    """The story that this is; None: something of your own."""
    return next((story for story in STORIES if (story.lab, story.failure) == (lab, failure)), None)


def encode(lab: Lab, failure: Failure) -> dict[str, str]:
    """The name of the story that it is, else the parameters that differ from the first one."""
    if (story := story_of(lab, failure)) is not None:
        return {"story": story.name}
    said = {}
    for field in _FIELDS:
        value, usual = _of(field, lab, failure), _of(field, FIRST.lab, FIRST.failure)
        if value != usual:
            said[PARAMETERS[field.name]] = field.write(value)
    return said


def written(lab: Lab, failure: Failure) -> dict[str, str]:
    """All parameters, whatever their values."""
    return {PARAMETERS[field.name]: field.write(_of(field, lab, failure)) for field in _FIELDS}


def _of(field: _Field, lab: Lab, failure: Failure) -> Any:
    return getattr(lab if field.is_lab else failure, field.name)


def decode(parameters: Mapping[str, str]) -> tuple[Lab, Failure]:
    """The lab and its failure; parameters that are missing are as in the story that is named, or in the first one.

    Raises LabError naming the parameter and what it takes, or what contradicts what.
    """
    name = parameters.get("story", FIRST.name)
    if name not in BY_NAME:
        raise LabError(f"There is no story {cut(name)!r}. There are {', '.join(BY_NAME)}.")
    begun = BY_NAME[name]
    lab, failure = dict[str, Any](), dict[str, Any]()
    for field in _FIELDS:
        if (text := parameters.get(PARAMETERS[field.name])) is not None:
            (lab if field.is_lab else failure)[field.name] = _read(field, text)
    if "end" in lab and "start" not in lab and len(lab["end"]) != len(begun.lab.start):
        lab["start"] = ()
    made = replace(begun.lab, **lab), replace(begun.failure, **failure)
    check(*made)
    return made


def _read(field: _Field, text: str) -> Any:
    try:
        return field.read(text)
    except ValueError:
        raise LabError(f"{PARAMETERS[field.name]} is {cut(text)!r}. Use {field.wanted}.") from None


def check(lab: Lab, failure: Failure) -> None:
    """Raises LabError for a lab that is too large for a page, or a failure that cannot happen in it."""
    size = sum(lab.end) - sum(lab.start)
    if not 1 <= size <= MOST_RECORDS or not 1 <= len(lab.end) <= MOST_PARTITIONS:
        raise LabError(
            f"The lab has {plural(size, 'record')} in {plural(len(lab.end), 'partition')}. "
            f"Use 1 to {MOST_RECORDS} records in 1 to {MOST_PARTITIONS} partitions."
        )
    if lab.workers > MOST_WORKERS:
        raise LabError(f"The lab has {lab.workers:,} workers. Use 1 to {MOST_WORKERS}.")
    for record in (*sorted(lab.expired), *([lab.poison] if lab.poison else [])):
        if not _holds(lab, record):
            raise LabError(f"There is no record {record} between the first committed offset and the log end.")
    run(lab, failure)


def _holds(lab: Lab, record: Record) -> bool:
    at = record.partition
    return at < len(lab.end) and lab.start[at] <= record.offset < lab.end[at]
