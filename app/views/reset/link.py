"""What is chosen on the page: group, change, a value, topics, all in the URL; and the uploaded file, which is not.

One reader checks them all.
"""

from dataclasses import dataclass
from typing import NamedTuple

import streamlit as st

from app.server import reset_task
from app.server.reset_task import FileRequest, GroupDeletion, MemberRemoval
from app.ui import link_values, state
from lag.errors import ConfigError
from lag.reset.asked.specification import FromGroup, Specification
from lag.reset.asked.specification_text import Asked, specification
from lag.reset.planning.make_plan import Request

DEFAULT = "earliest"
FILE_KEY = "reset_file"
"""The key of the uploader."""


class Way(NamedTuple):
    """A change, and what it does; `value` is the label of its field (None: it has none).

    `has_topics`: whether topics can be chosen.
    """

    label: str
    means: str
    value: str | None = None
    example: str = ""
    has_topics: bool = True


WAYS = {
    "earliest": Way(
        "To earliest: the log start", "Each partition to its log start: all records that still exist are read again."
    ),
    "latest": Way(
        "To latest: the log end", "Each partition to its log end: all records that are not read are skipped."
    ),
    "current": Way(
        "To current: as committed",
        "What is committed already; a partition without a committed offset gets its log end.",
    ),
    "time": Way(
        "To a time",
        "To the first record with this timestamp or a later one.",
        "Time with zone, or ms since 1970",
        "2026-11-25T10:00:00Z",
    ),
    "back": Way(
        "Back by a duration", "To the first record whose timestamp is not older than this.", "Duration", "1h30m"
    ),
    "shift": Way(
        "Shift by n offsets", "The committed offset of each partition plus n.", "Offsets, negative to go back", "-100"
    ),
    "offset": Way("To one offset", "The same offset in every partition.", "Offset", "1200"),
    "file": Way("To the offsets of a file", "The offsets of a CSV of kafka-consumer-groups, or of a plan."),
    "group": Way("To the offsets of a group", "What another group has committed.", "Group", "billing-old"),
    "skip": Way(
        "Skip a record",
        "To the offset after this record, if it is the next one that the group reads.",
        "Record, as topic:partition:offset",
        "orders:3:1234",
        has_topics=False,
    ),
    "delete": Way("Delete offsets", "No committed offset: consumers then start where auto.offset.reset says."),
    "delete-group": Way(
        "Delete the group", "The group with all its committed offsets. It must have no members.", has_topics=False
    ),
    "remove-member": Way(
        "Remove a static member",
        "For a member that does not come back: its partitions go to the others at once.",
        "Instance id",
        "pod-2",
        has_topics=False,
    ),
}
"""By their name in the URL."""


class File(NamedTuple):
    """An uploaded file."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen; `topics` are names, topic:0,1 and patterns, separated by blanks; none: all that is committed."""

    group: str | None
    way: str
    value: str
    topics: tuple[str, ...]
    file: File | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that are read to make the plan."""
        return tuple(filter(None, (self.group, self.value if self.way == "group" else None)))

    def asked(self, now_ms: int) -> reset_task.Asked:
        """What to make a plan for. Raises ConfigError for a value that is missing or invalid."""
        group = self.group or ""
        self._check_value()
        match self.way:
            case "delete-group":
                return GroupDeletion(group)
            case "remove-member":
                return MemberRemoval(group, self.value)
            case "file":
                return self._from_file(group)
        names_partitions = self.way in ("group", "skip")
        topics = self.topics if WAYS[self.way].has_topics else ()
        return Request(group, self._specification(now_ms), topics, all_topics=not topics and not names_partitions)

    def _check_value(self) -> None:
        its = WAYS[self.way]
        if its.value is not None and not self.value:
            raise ConfigError(f"{its.value} is missing", f"For example {its.example}")

    def _from_file(self, group: str) -> FileRequest:
        if self.file is None:
            raise ConfigError("No file is chosen", "Upload a CSV of kafka-consumer-groups, or a plan (JSON or YAML)")
        return FileRequest(group, self.file.name, self.file.data, self.topics)

    def _specification(self, now_ms: int) -> Specification:
        if self.way == "group":
            return FromGroup(self.value)
        return specification(_asked(self.way, self.value), self.group or "", now_ms)


def _asked(way: str, value: str) -> Asked:
    match way:
        case "earliest":
            return Asked(to_earliest=True)
        case "latest":
            return Asked(to_latest=True)
        case "current":
            return Asked(to_current=True)
        case "time":
            return Asked(to_datetime=value)
        case "back":
            return Asked(by_duration=value)
        case "shift":
            return Asked(shift_by=_whole(value))
        case "offset":
            return Asked(to_offset=_whole(value))
        case "skip":
            return Asked(skip=tuple(value.split()))
    return Asked(delete_offsets=True)


def _whole(text: str) -> int:
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise ConfigError(f"{text!r} is not a whole number", "Enter a whole number of at most 18 digits")
    return int(text)


def read() -> Choice:
    """The choice; a change that is not one of WAYS counts as DEFAULT. A text that is too long leaves no group to plan
    for: a part of it would name other topics, partitions or records."""
    way = link_values.one_of("to", WAYS) or DEFAULT
    topics, value = link_values.short_text("topics"), link_values.short_text("value")
    uploaded = st.session_state.get(FILE_KEY) if way == "file" else None
    return Choice(
        None if topics is None or value is None else state.url("group"),
        way,
        (value or "").strip(),
        tuple((topics or "").split()),
        None if uploaded is None else File(uploaded.name, uploaded.getvalue()),
    )
