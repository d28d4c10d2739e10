"""Every tool."""

from collections.abc import Callable
from typing import Any

from app.documents.advice import AdviceDocument
from app.server.api.endpoint import Call, Query
from app.server.api.endpoints import advice, generations, groups
from app.server.api.endpoints.advice import AdviceBody
from app.server.api.endpoints.generations import GenerationsQuery, RecordedGenerationsDocument
from app.server.api.endpoints.groups import GroupsDocument, GroupsQuery, PartitionsDocument, PartitionsQuery
from app.server.api.endpoints.whatif import SimulateDocument, WhatIfDocument
from app.server.tools.scenario import SCENARIO, SimulateArguments, WhatIfArguments, simulate, what_if
from app.server.tools.tool import Answered, OfCluster, OfGroup, Tool
from app.server.tools.why import WhyArguments, WhyDocument, why


class ListGroupsArguments(OfCluster, GroupsQuery):
    """The filters of the Overview; an empty one passes every group."""


class LagArguments(OfGroup, PartitionsQuery):
    """Which of a group's partitions."""


class GenerationsArguments(OfGroup, GenerationsQuery):
    """Which generations, counted from the newest."""


class AdviseArguments(AdviceBody, Query):
    """A properties file as text. Its values are neither kept nor repeated."""


def advise(call: Call[AdviseArguments]) -> Answered:
    """The findings on the properties. Raises ApiError."""
    body = call.query.model_dump_json().encode()
    return Answered(advice.advice(Call(call.source, {}, Query(), {}, body)))


def _of(respond: Callable[[Call[Any]], Any]) -> Callable[[Call[Any]], Answered]:
    return lambda call: Answered(respond(call))


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "list_groups",
        "Consumer groups of a Kafka cluster: state, lag in records, verdict with evidence. "
        "`sort: urgency` lists the groups that need attention first.",
        ListGroupsArguments,
        GroupsDocument,
        _of(groups.groups),
        "overview",
    ),
    Tool(
        "why",
        "Why one group has its verdict: the rule, the evidence, since when, what to do, and its partitions that are "
        "not ok. If it has no verdict, there were too few polls: ask again later.",
        WhyArguments,
        WhyDocument,
        _of(why),
        "group",
    ),
    Tool(
        "lag",
        "The partitions of one group: offsets, lag in records and in time, rates, owner. "
        "Null is unknown, with the reason.",
        LagArguments,
        PartitionsDocument,
        _of(groups.partitions),
        "group",
    ),
    Tool(
        "generations",
        "The rebalances of one group, newest first: cause, duration, partitions that moved, quality of the assignment.",
        GenerationsArguments,
        RecordedGenerationsDocument,
        _of(generations.generations),
        "generations",
    ),
    Tool(
        "what_if",
        "Predict who gets which partition when members join or leave or topics grow, in a scenario or in a live group "
        "with events. Computed as Kafka's assignors do; nothing is changed.",
        WhatIfArguments,
        WhatIfDocument,
        what_if,
        "whatif",
        SCENARIO,
        needs_worker=True,
    ),
    Tool(
        "simulate",
        "Simulate a rebalance second by second with Kafka's timers: how long partitions have no owner, what is "
        "processed twice. For a scenario, or for a live group with events. The answer is long: use a small scenario.",
        SimulateArguments,
        SimulateDocument,
        simulate,
        "protocol",
        SCENARIO,
        needs_worker=True,
    ),
    Tool(
        "advise",
        "Check the properties of a consumer, or of a broker's group coordinator: what Kafka refuses or what is likely "
        "to hurt, with reasons and better values.",
        AdviseArguments,
        AdviceDocument,
        advise,
        "advice",
        needs_worker=True,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
