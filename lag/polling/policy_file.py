"""The policy file: YAML or JSON, read again when it changes.

    lag_floor: 100            # records
    open_polls: 2
    close_polls: 3
    groups:
      - pattern: "payments-*"
        lag_floor: 0
        flapping_openings: 4

Every key is optional. Those of a pattern apply on top of those at the top of the file.
"""

from dataclasses import fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from lag.settings_file import load_settings_file
from lag.verdict.openings.policy import GroupPolicy, Policy
from lag.verdict.rules.status_rules import Rules
from lag.verdict.window.sample_window import MAX_SAMPLES, MIN_SAMPLES

_RULES = {field.name for field in fields(Rules)}

Records = Annotated[int, Field(ge=0, le=10**15)]
Count = Annotated[int, Field(ge=1, le=1000)]
Samples = Annotated[int, Field(ge=1, le=MIN_SAMPLES)]
"""Polls that must fit in the smallest window."""


def _spanned(seconds: float, info: ValidationInfo) -> float:
    """The seconds. Raises PydanticCustomError if the polls that are kept never span them."""
    assert info.context is not None
    interval_s: float = info.context
    longest_s = (MAX_SAMPLES - 1) * interval_s
    if seconds > longest_s:
        text = f"This must be at most {longest_s:,g}: {MAX_SAMPLES} polls are kept, one every {interval_s:g} s."
        raise PydanticCustomError("sentence", "{text}", {"text": text})
    return seconds


class _Thresholds(BaseModel):
    """The fields of `Rules` and `GroupPolicy`; None: not in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    lag_floor: Records | None = None
    min_samples: Samples | None = None
    min_s: Annotated[float, Field(gt=0, le=600), AfterValidator(_spanned)] | None = None
    marker_records: Records | None = None
    check_records: Records | None = None  # without effect: files of earlier versions have it
    commit_gap_factor: Annotated[float, Field(ge=0, le=100)] | None = None
    assumed_interval_s: Annotated[float, Field(ge=0, le=3600)] | None = None
    trend_samples: Annotated[int, Field(ge=3, le=MIN_SAMPLES)] | None = None
    noise_records: Records | None = None
    noise_share: Annotated[float, Field(ge=0, le=1)] | None = None
    noise_s: Annotated[float, Field(ge=0, le=600)] | None = None
    rates_s: Annotated[float, Field(gt=0, le=3600)] | None = None
    gain: Annotated[float, Field(ge=1, le=100)] | None = None
    open_polls: Count | None = None
    close_polls: Count | None = None
    flapping_openings: Count | None = None
    flapping_s: Annotated[float, Field(gt=0, le=86_400)] | None = None

    def on_top_of(self, policy: GroupPolicy) -> GroupPolicy:
        """The policy with what the file says."""
        given = self.model_dump(exclude_none=True, exclude={"pattern", "groups", "check_records"})
        rules = {name: value for name, value in given.items() if name in _RULES}
        others = {name: value for name, value in given.items() if name not in _RULES}
        return replace(policy, rules=replace(policy.rules, **rules), **others)


class _Group(_Thresholds):
    pattern: Annotated[str, Field(min_length=1)]


def _reachable(groups: list[_Group]) -> list[_Group]:
    """The list. Raises PydanticCustomError if an earlier pattern matches all groups of a later one."""
    for at, group in enumerate(groups):
        for earlier in groups[:at]:
            if _covers(earlier.pattern, group.pattern):
                unused = f"{group.pattern!r} is never used: {earlier.pattern!r}, before it, matches all of its groups."
                raise PydanticCustomError("sentence", "{text}", {"text": unused})
    return groups


def _covers(pattern: str, other: str) -> bool:
    """Every text that matches `other` matches `pattern`; False also where that is hard to tell."""
    return pattern == other or (not set("?[") & set(pattern) and fnmatchcase(other, pattern))


class _File(_Thresholds):
    groups: Annotated[list[_Group], AfterValidator(_reachable)] = Field(default_factory=list)


def load_policy(path: Path, interval_s: float) -> Policy:
    """The policy in the file, for polls every `interval_s`. Raises ConfigError, which names the lines of errors."""
    file = load_settings_file(path, _File, "policy file", interval_s)
    default = file.on_top_of(GroupPolicy())
    return Policy(default, tuple((group.pattern, group.on_top_of(default)) for group in file.groups))
