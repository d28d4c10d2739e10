"""A scenario: a group and what happens to it. The file format: `assignors.scenario`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from assignors.durations import seconds_text
from assignors.model import AssignorError, Member, Topic, TopicPartition
from assignors.whatif.events.action import Action
from assignors.whatif.events.join import Join
from assignors.whatif.membership import Membership


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens `at_ms` after the scenario begins."""

    at_ms: int
    action: Action

    def failed(self, number: int, error: AssignorError) -> AssignorError:
        """The error with the event's number (from 1), time and title."""
        return AssignorError(f"Event {number} at {seconds_text(self.at_ms)} ({self.action.title}): {error}")


@dataclass(frozen=True, slots=True)
class Loads:
    """Loads of partitions and capacities of members; what is missing is unknown, not zero.

    `weights` are in a unit of the scenario's own. `default_capacity_per_s` holds for members without their own.
    """

    weights: Mapping[TopicPartition, float] = field(default_factory=dict)
    lag_records: Mapping[TopicPartition, float] = field(default_factory=dict)
    produced_per_s: Mapping[TopicPartition, float] = field(default_factory=dict)
    capacity_per_s: Mapping[str, float] = field(default_factory=dict)
    default_capacity_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A group and the events that happen to it, in order of time. Members own what they own at the start."""

    name: str
    assignor: str
    topics: Mapping[str, Topic]
    members: tuple[Member, ...]
    events: tuple[Event, ...] = ()
    loads: Loads = field(default_factory=Loads)
    protocol: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    description: str = ""

    def memberships(self) -> Iterator[Membership]:
        """The membership at the start and after each event: one object, which changes."""
        membership = Membership.at_start(self.members, self.topics.values(), first_join_ms(self.events))
        yield membership
        for event in self.events:
            membership.now_ms = event.at_ms
            event.action.change(membership)
            yield membership

    def check_events(self) -> None:
        """Raises AssignorError at the first event that cannot happen, as far as the scenario itself shows it."""
        memberships = self.memberships()
        for number, event in enumerate(self.events, 1):
            membership = next(memberships)
            membership.now_ms = event.at_ms
            for _, sentence in event.action.check(membership):
                raise event.failed(number, AssignorError(sentence))

    def partitions_ever(self) -> dict[str, int]:
        """The most partitions that each topic has at any time."""
        *_, last = self.memberships()
        return last.partitions_ever

    def members_ever(self) -> list[Member]:
        """The members at the start and those that join, in that order, whether they leave later or not."""
        return [*self.members, *(event.action.member for event in self.events if isinstance(event.action, Join))]


def first_join_ms(events: Iterable[Event]) -> dict[str, int]:
    """When each member that joins does so for the first time; `events` are in order of time."""
    joins: dict[str, int] = {}
    for event in events:
        if isinstance(event.action, Join):
            joins.setdefault(event.action.member.member_id, event.at_ms)
    return joins
