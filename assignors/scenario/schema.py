"""The shape of a scenario file, schema version 1. Whether it makes sense is checked in `assignors.scenario.checks`."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from assignors.scenario.event_schema import EventFile
from assignors.scenario.group_schema import MemberFile, StrictModel, TopicFile
from assignors.scenario.values import Amounts, Capacities, Prose, Setting, Text, TopicName

MOST = {"topics": 10_000, "members": 10_000, "events": 1_000}
"""How long each list may be."""
LOADS = ("weights", "lag", "rates")
"""The sections with numbers by partition."""


class ScenarioFile(StrictModel):
    """A consumer group, its load, and the events that happen to it."""

    model_config = ConfigDict(title="groupscope scenario")

    schema_version: Literal[1]
    name: Prose
    description: Prose = ""
    assignor: Text
    topics: Annotated[list[TopicFile], Field(max_length=MOST["topics"])] = Field(default_factory=list)
    members: Annotated[list[MemberFile], Field(max_length=MOST["members"])] = Field(default_factory=list)
    weights: dict[TopicName, Amounts] = Field(default_factory=dict)
    lag: dict[TopicName, Amounts] = Field(default_factory=dict)
    rates: dict[TopicName, Amounts] = Field(default_factory=dict)
    capacity: Capacities | None = None
    events: Annotated[list[EventFile], Field(max_length=MOST["events"])] = Field(default_factory=list)
    protocol: dict[Text, Setting] = Field(default_factory=dict)


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ScenarioFile.model_json_schema()}
