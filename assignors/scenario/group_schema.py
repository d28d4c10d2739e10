"""Topics and members in a scenario file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from assignors.model import AssignorError, Member, Topic, TopicPartition, by_topic
from assignors.scenario.values import Capacity, PartitionCount, PartitionNumber, Pattern, Text, TopicName, wrong
from assignors.topic_ids import topic_uuid

EITHER = "Give topics or a pattern: Kafka's consumer takes the one or the other (IllegalStateException)."
_EXACT = 1 << 53


class StrictModel(BaseModel):
    """A mapping without other keys and without conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


def _topic_id(text: str) -> str:
    try:
        topic_uuid(Topic("", 1, topic_id=text))
    except AssignorError:
        raise wrong("This is not a topic id. Give the 22 characters that Kafka prints, or a UUID.") from None
    return text


class TopicFile(StrictModel):
    """A topic. `racks` lists, for each partition, the racks of its replicas; `id` is the topic's UUID."""

    name: TopicName
    partitions: PartitionCount
    racks: Annotated[list[list[Text]], Field(fail_fast=True)] | None = None
    id: Annotated[Text, AfterValidator(_topic_id)] | None = None

    def topic(self) -> Topic:
        racks = None if self.racks is None else tuple(map(tuple, self.racks))
        return Topic(self.name, self.partitions, racks, self.id)


class JoinFile(StrictModel):
    """A member that joins. `capacity`: how many records a second it can process."""

    id: Text
    topics: Annotated[list[TopicName], Field(fail_fast=True)] = Field(default_factory=list)
    pattern: Pattern | None = None
    instance_id: Text | None = None
    client_id: Text | None = None
    host: Text | None = None
    rack: Text | None = None
    capacity: Capacity | None = None

    @model_validator(mode="after")
    def _one_subscription(self) -> "JoinFile":
        if self.topics and self.pattern is not None:
            raise wrong(EITHER)
        return self

    def member(self) -> Member:
        """The member itself."""
        return Member(
            member_id=self.id,
            instance_id=self.instance_id,
            client_id=self.client_id or "",
            host=self.host or "",
            rack=self.rack,
            topics=tuple(self.topics),
            pattern=self.pattern,
        )


MAX_GENERATION = 2_000_000_000
"""Generations are Java ints; the rest is for those that a simulation adds."""


class MemberFile(JoinFile):
    """A member at the start, and the partitions that it owns, as of a generation."""

    owned: dict[TopicName, Annotated[list[PartitionNumber], Field(fail_fast=True)]] = Field(default_factory=dict)
    generation: Annotated[int, Field(ge=0, le=MAX_GENERATION)] | None = None

    def member(self) -> Member:
        """The member itself, with what it owns."""
        owned = tuple(TopicPartition(topic, number) for topic, numbers in self.owned.items() for number in numbers)
        return replace(super().member(), owned=owned, generation=self.generation)


def written_topic(topic: Topic) -> dict[str, Any]:
    """The topic as the file has it."""
    racks = None if topic.racks is None else [list(racks) for racks in topic.racks]
    return given({"name": topic.name, "partitions": topic.partitions, "racks": racks, "id": topic.topic_id})


def written_member(member: Member, capacity_per_s: float | None) -> dict[str, Any]:
    """The member as the file has it."""
    entries = {
        "topics": list(member.topics) if member.pattern is None else None,
        "pattern": member.pattern,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "host": member.host,
        "rack": member.rack,
        "owned": by_topic(member.owned),
        "generation": member.generation,
        "capacity": None if capacity_per_s is None else written_number(capacity_per_s),
    }
    return {"id": member.member_id, **given(entries)}


def given(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries without empty ones."""
    return {key: value for key, value in entries.items() if value not in (None, "", [], {})}


def written_number(amount: float) -> int | float:
    """The number, without a decimal point if it is whole."""
    return int(amount) if amount == int(amount) and abs(amount) < _EXACT else amount
