"""A specification from what was given on the command line or a page: exactly one of the ways to say it."""

from dataclasses import dataclass, fields
from pathlib import Path

from lag.errors import ConfigError
from lag.reset.asked.offsets_file import offsets_file
from lag.reset.asked.specification import (
    Current,
    Delete,
    Earliest,
    Exact,
    FromGroup,
    Latest,
    Shift,
    Specification,
    Time,
    parse_skip,
)
from lag.reset.asked.times import duration_ms, timestamp_ms
from lag.reset.files.plan_file import read_file

MOST_OFFSET = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Asked:
    """The ways to say where offsets go, as texts; all but one are False, None or empty."""

    to_earliest: bool = False
    to_latest: bool = False
    to_current: bool = False
    to_datetime: str | None = None
    by_duration: str | None = None
    shift_by: int | None = None
    to_offset: int | None = None
    from_file: Path | None = None
    from_group: str | None = None
    skip: tuple[str, ...] = ()
    delete_offsets: bool = False

    def names(self) -> list[str]:
        """The options that are given; the number 0 is given too."""
        return [f.name for f in fields(self) if not _is_absent(getattr(self, f.name))]


class NotOneTarget(ConfigError):
    """No way to say where offsets go is given, or more than one: wrong usage of the command."""


def _is_absent(value: object) -> bool:
    return value is None or value is False or value == ()


def specification(asked: Asked, group_id: str, now_ms: int) -> Specification:
    """The one that is asked for. Raises NotOneTarget, or ConfigError if it is malformed."""
    names = asked.names()
    if len(names) != 1:
        given = f"Both {' and '.join(map(_flag, names))} are given" if names else "No target for the offsets is given"
        raise NotOneTarget(given, f"Give one of {', '.join(_flag(f.name) for f in fields(Asked))}")
    simple: dict[str, Specification] = {
        "to_earliest": Earliest(),
        "to_latest": Latest(),
        "to_current": Current(),
        "delete_offsets": Delete(),
    }
    return simple.get(names[0]) or _valued(asked, group_id, now_ms)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _valued(asked: Asked, group_id: str, now_ms: int) -> Specification:
    if asked.to_datetime is not None:
        return Time(timestamp_ms(asked.to_datetime))
    if asked.by_duration is not None:
        back_ms = duration_ms(asked.by_duration)
        return Time(max(0, now_ms - back_ms), back_ms)
    if asked.shift_by is not None:
        return Shift(_checked(asked.shift_by))
    if asked.to_offset is not None:
        return Exact(_checked(asked.to_offset))
    if asked.from_file is not None:
        return offsets_file(read_file(asked.from_file), str(asked.from_file), group_id)
    if asked.from_group is not None:
        return FromGroup(asked.from_group)
    return parse_skip(list(asked.skip))


def _checked(number: int) -> int:
    if abs(number) > MOST_OFFSET:
        raise ConfigError(f"{number} is larger than any offset", "Give an offset of at most 2^63 - 1")
    return number
