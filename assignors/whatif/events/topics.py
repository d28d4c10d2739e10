"""Topics grow, are created and are deleted."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

from assignors.counts import plural
from assignors.model import Member, Topic
from assignors.patterns import resolved
from assignors.whatif.events.action import PLAIN, Action, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership, Remarks
from assignors.whatif.timeouts import Timeouts


class TopicAction(Action):
    """A change of the cluster's topics."""

    __slots__ = ()

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        """Consumers of the classic protocol look at the topics again when their metadata is too old."""
        return timeouts.metadata_max_age_ms

    @abstractmethod
    def topics(self, topics: Mapping[str, Topic]) -> dict[str, Topic]:
        """The topics afterwards."""

    def apply(self, state: GroupState) -> Step:
        """Patterns are matched again; a rebalance if any member subscribes to the topic."""
        topics = self.topics(state.topics)
        found = ((member, resolved(member, topics)) for member in state.members)
        members = tuple(old if new is old else state.subscribed(old, new.topics) for old, new in found)
        changed = replace(state, members=members, topics=topics)
        rebalances = state.is_subscribed(self.subject) or changed.is_subscribed(self.subject)
        return Step(changed, self.sentence(), rebalances=rebalances)

    def simulate(self, group: SimulatedGroup) -> None:
        group.change_topics(self.topics(group.topics))


@dataclass(frozen=True, slots=True)
class AddPartitions(TopicAction):
    """A topic grows to `partitions` partitions in all."""

    topic: str
    partitions: int

    @property
    def subject(self) -> str:
        return self.topic

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.name(self.topic)} grows to {plural(self.partitions, 'partition')}"

    def check(self, membership: Membership) -> Remarks:
        for _, sentence in membership.check_topic(self.topic):
            yield (self.topic,), sentence
            return
        if self.partitions <= (now := membership.topics[self.topic].partitions):
            sentence = f"{self.topic} already has {plural(now, 'partition')}, and Kafka cannot remove partitions."
            yield (self.topic,), f"{sentence} Write the new total."

    def change(self, membership: Membership) -> None:
        if topic := membership.topics.get(self.topic):
            membership.set_topic(replace(topic, partitions=self.partitions, racks=None))

    def topics(self, topics: Mapping[str, Topic]) -> dict[str, Topic]:
        """The racks of the new partitions are unknown."""
        topic = topics[self.topic]
        added = self.partitions - topic.partitions
        racks = None if topic.racks is None else [*topic.racks, *[()] * added]
        return {**topics, self.topic: replace(topic, partitions=self.partitions, racks=racks)}


@dataclass(frozen=True, slots=True)
class CreateTopic(TopicAction):
    """A topic is created; members that already subscribe to its name get it."""

    topic: Topic

    @property
    def subject(self) -> str:
        return self.topic.name

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.name(self.subject)} is created with {plural(self.topic.partitions, 'partition')}"

    def check(self, membership: Membership) -> Remarks:
        yield from check_racks(self.topic)
        if self.subject in membership.topics:
            yield ("name",), f"The topic {self.subject} already exists."

    def change(self, membership: Membership) -> None:
        membership.set_topic(self.topic)

    def topics(self, topics: Mapping[str, Topic]) -> dict[str, Topic]:
        return {**topics, self.subject: self.topic}


@dataclass(frozen=True, slots=True)
class DeleteTopic(TopicAction):
    """A topic is deleted; subscriptions to its name stay."""

    topic: str

    @property
    def subject(self) -> str:
        return self.topic

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.name(self.topic)} is deleted"

    def check(self, membership: Membership) -> Remarks:
        yield from membership.check_topic(self.topic)

    def change(self, membership: Membership) -> None:
        membership.topics.pop(self.topic, None)

    def topics(self, topics: Mapping[str, Topic]) -> dict[str, Topic]:
        return {name: topic for name, topic in topics.items() if name != self.topic}


def check_racks(topic: Topic) -> Remarks:
    """There must be one list of racks for each partition."""
    if topic.racks is not None and len(topic.racks) != topic.partitions:
        sentence = (
            f"There are racks for {plural(len(topic.racks), 'partition')}, but {topic.name} has {topic.partitions:,}."
        )
        yield ("racks",), f"{sentence} Give one list for each."
