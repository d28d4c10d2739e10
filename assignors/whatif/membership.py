"""Members and topics of a scenario at one point in time, as its events alone determine them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from assignors.durations import duration_text
from assignors.model import Member, Topic
from assignors.spelling import shown, suggestion

KeyPath = tuple[str | int, ...]
"""Where something is in an event of a scenario file: `("id",)`; empty for the event's whole value."""

Remarks = Iterator[tuple[KeyPath, str]]
"""Sentences about an event, each with the place that it is about."""

FROZEN, SPLIT = "frozen", "cut off"
RETURNS = {FROZEN: "Resume it", SPLIT: "Heal it"}
"""How a member returns, by the reason of its absence."""


@dataclass(slots=True)
class Membership:
    """Members by id and topics by name; each event changes them.

    Absent (with the reason) and paused members stay in `members`; `departures` has how and when the others left.
    `first_join_ms` has the time of each member's first join; `partitions_ever` the most partitions that each topic had.
    """

    members: dict[str, Member]
    topics: dict[str, Topic]
    first_join_ms: Mapping[str, int]
    departures: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    paused_until_ms: dict[str, int] = field(default_factory=dict)
    partitions_ever: dict[str, int] = field(default_factory=dict)
    now_ms: int = 0
    is_coordinator_up: bool = True

    @classmethod
    def at_start(cls, members: Iterable[Member], topics: Iterable[Topic], first_join_ms: Mapping[str, int]) -> Self:
        """Before the first event."""
        membership = cls({member.member_id: member for member in members}, {}, first_join_ms)
        for topic in topics:
            membership.set_topic(topic)
        return membership

    def member_ids_ever(self) -> list[str]:
        """Ids of all members, those that join later included."""
        return list(dict.fromkeys([*self.first_join_ms, *self.members, *self.departures]))

    def set_topic(self, topic: Topic) -> None:
        """The topic now exists like this."""
        self.topics[topic.name] = topic
        self.partitions_ever[topic.name] = max(topic.partitions, self.partitions_ever.get(topic.name, 0))

    def remove(self, member_id: str, how: str) -> None:
        """The member is no longer in the group: it has `left` or `crashed`."""
        if self.is_active(member_id):
            del self.members[member_id]
            self.departures[member_id] = f"has {how} at {duration_text(self.now_ms)}"

    def is_active(self, member_id: str) -> bool:
        """Whether the member is in the group, and neither absent nor paused."""
        return member_id in self.members and member_id not in self.absent and not self._is_paused(member_id)

    def _is_paused(self, member_id: str) -> bool:
        return self.paused_until_ms.get(member_id, 0) > self.now_ms

    def check_active(self, member_id: str, path: KeyPath = ()) -> Remarks:
        """Why the member can do nothing now, if it cannot."""
        name = shown(member_id)
        if reason := self.absent.get(member_id):
            yield path, f"{name!r} is {reason}. {RETURNS[reason]} first."
        elif self._is_paused(member_id):
            until = duration_text(self.paused_until_ms[member_id])
            yield path, f"{name!r} is paused until {until}. Move this event to a later time."
        elif member_id in self.departures:
            yield path, f"{name!r} {self.departures[member_id]}. It must join again first."
        elif member_id in self.members:
            return
        elif member_id in self.first_join_ms:
            yield path, f"{name!r} joins only at {duration_text(self.first_join_ms[member_id])}."
        else:
            yield path, f"No member is named {name!r}.{suggestion(member_id, self.member_ids_ever())}"

    def check_topic(self, topic: str) -> Remarks:
        """Why nothing can happen to the topic now, if it does not exist."""
        if topic not in self.topics:
            yield (), f"There is no topic {shown(topic)!r} at this time.{suggestion(topic, self.topics)}"
