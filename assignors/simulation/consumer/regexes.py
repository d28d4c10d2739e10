"""Subscriptions by regular expression: all those of a group are resolved together in the background."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from assignors import patterns
from assignors.model import AssignorError
from assignors.simulation.consumer.group import ConsumerGroup
from assignors.simulation.consumer.members import Member
from assignors.simulation.consumer.records import EpochRecord, GroupRecord, RegexRecord, RegexTombstone
from assignors.simulation.consumer.topics import Topics
from assignors.simulation.errors import KafkaError, Refused

REFRESH_PAUSE_MS = 10_000
"""The shortest time between two resolutions; Kafka has no setting for it."""


class Change(Enum):
    """How a heartbeat changes its member's expression."""

    NONE = 0
    UPDATED = 1
    RESOLVED = 2
    """Updated, and the topics of the new one are known."""


def compiled(regex: str) -> Any:
    """The compiled expression. Raises Refused (INVALID_REGULAR_EXPRESSION) if RE2 refuses it."""
    try:
        return patterns.compiled(regex)
    except AssignorError as error:
        raise Refused(KafkaError.INVALID_REGULAR_EXPRESSION) from error


def change(group: ConsumerGroup, old: str, new: str) -> Change:
    """Raises Refused if the new expression is not valid and no other member has it."""
    if old == new:
        return Change.NONE
    if not new:
        return Change.RESOLVED
    if not group.regexes.get(new):
        compiled(new)
        return Change.UPDATED
    return Change.RESOLVED if new in group.resolved else Change.UPDATED


def abandoned(group: ConsumerGroup, old: str, new: str) -> list[RegexTombstone]:
    """The tombstone of the old expression if this was its last member."""
    return [RegexTombstone(old)] if old != new and old and group.regexes[old] == 1 else []


def counted(group: ConsumerGroup, before: Member, after: Member) -> Counter[str]:
    """The new member counts by expression."""
    counts = Counter(group.regexes)
    counts.subtract([before.regex] if before.regex in counts else [])
    counts.update([after.regex] if after.regex else [])
    return +counts


@dataclass(frozen=True, slots=True)
class Clock:
    """The time, the metadata version of the last new topics, and the longest time between two resolutions."""

    now_ms: int
    topics_version: int
    interval_ms: int

    def is_due(self, group: ConsumerGroup, wanted: Collection[str], is_new: bool) -> bool:
        """Whether to resolve all: an expression or a topic is new, or the last resolution is too old."""
        last = next(iter(group.resolved.values()), None)
        if last is None or not wanted:
            return bool(wanted)
        age_ms = self.now_ms - last.at_ms
        is_outdated = last.version < self.topics_version or age_ms > self.interval_ms
        return age_ms > REFRESH_PAUSE_MS and (is_new or len(wanted) != len(group.resolved) or is_outdated)


def found_out(group: ConsumerGroup, wanted: Iterable[str], topics: Topics, now_ms: int) -> list[GroupRecord]:
    """The records of a resolution: the topics of each expression with members, and a new epoch if any changed."""
    patterns = {regex: compiled(regex) for regex in sorted(wanted) if group.regexes.get(regex)}
    names = sorted(topics.by_name)
    matches = {regex: tuple(filter(pattern.fullmatch, names)) for regex, pattern in patterns.items()}
    records = [RegexRecord(regex, matched, topics.version, now_ms) for regex, matched in matches.items()]
    before = {regex: record.topics for regex, record in group.resolved.items()}
    seen = topics.fingerprint(set(group.by_name).union(*(before | matches).values()))
    if seen == group.seen and all(matched == before.get(regex, ()) for regex, matched in matches.items()):
        return [*records]
    return [*records, EpochRecord(group.epoch + 1, seen)]
