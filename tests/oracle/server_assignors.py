"""The broker's assignors of the Kafka jars, called as the group coordinator calls them.

A topic is in a real metadata image, a subscription is a `TopicIds` over its names, the old assignment is read as from a
record, and the inverted map is kept by a real `ConsumerGroup`. Racks and partitions that are not assignable do not
occur: nothing on the broker's side asks for racks.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any
from uuid import UUID

import jpype

from assignors.broker.server_range import ServerRangeAssignor
from assignors.broker.share_simple import ShareSimpleAssignor
from assignors.broker.uniform.assignor import UniformAssignor
from assignors.model import Assignment, Assignor, AssignorError, Group, Member, Topic, TopicPartition
from assignors.topic_ids import kafka_text, topic_uuid
from tests.oracle.server_groups import Chain
from tests.oracle.tally import Checked, generator

Plan = dict[str, list[TopicPartition]]
_GROUP = "org.apache.kafka.coordinator.group."
CLASSES = {
    "uniform": _GROUP + "assignor.UniformAssignor",
    "server-range": _GROUP + "assignor.RangeAssignor",
    "share-simple": _GROUP + "assignor.SimpleAssignor",
}
PATTERNS = {"uniform": 0.3, "server-range": 0.3}  # so often do members subscribe by pattern; share groups never
LARGE = {"uniform": 0.04, "server-range": 0.01, "share-simple": 0.02}  # so often are groups large
_MEMBER = re.compile(r"(?:\{|, )([^=,{}]+)=MemberAssignment\(partitions=\{(.*?)\}\)")
_TOPIC = re.compile(r"([\w-]{22})=(?:\[(.*?)\]|RangeSet\(from=(\d+) \(inclusive\), to=(\d+) \(exclusive\)\))")


@dataclass(frozen=True, slots=True)
class JavaPlan:
    """Kafka's plan in the iteration order of its own maps and sets.

    `records`: what the coordinator has of each member after writing and reading its record.
    """

    by_member: Plan
    topics: dict[str, tuple[str, ...]]
    records: Mapping[str, Any]


def java_plan(name: str, group: Group, homogeneous: bool | None = None) -> Plan | str:
    """Kafka's plan, or the simple name of what it throws. `homogeneous`: None lets Kafka decide."""
    found = java_plan_after(name, group, {}, homogeneous)
    return found if isinstance(found, str) else found.by_member


def java_plan_after(
    name: str, group: Group, records: Mapping[str, Any], homogeneous: bool | None = None
) -> JavaPlan | str:
    """The same, from the `records` of an earlier plan for the members that these have.

    Member ids may hold letters, digits, "-" and "_".
    """
    names = {kafka_text(topic_uuid(topic)): topic.name for topic in known_topics(group)}
    old = {member.member_id: java_assignment(group, member) for member in group.members} | dict(records)
    try:
        made = java_assignor(name).assign(java_spec(group, homogeneous, old), describer(image_key(group)))
    except jpype.JException as error:
        return str(type(error).__name__.rsplit(".", 1)[-1])
    text = str(made.members().toString())
    return JavaPlan(read_plan(text, names), read_topics(text, names), java_records(made))


def java_records(plan: Any) -> dict[str, Any]:
    """Each member's assignment as the coordinator has it after writing and reading its record."""
    helpers = _class(_GROUP + "GroupCoordinatorRecordHelpers")
    read = _class(_GROUP + "modern.Assignment").fromRecord
    found = {}
    for member, given in plan.members().items():
        record = helpers.newConsumerGroupTargetAssignmentRecord("group", member, given.partitions())
        found[str(member)] = read(record.value().message())
    return found


@cache
def java_assignor(name: str) -> Any:
    """The one instance of Kafka's class for one of our names."""
    return jpype.JClass(CLASSES[name])()


def known_topics(group: Group) -> list[Topic]:
    """The group's topics, and those that only its members' old assignments name."""
    gone = {tp.topic for member in group.members for tp in member.owned}
    gone.update(*(member.owned_topics for member in group.members))
    return list({**{name: Topic(name, 0) for name in gone}, **group.topics}.values())


def read_plan(text: str, names: Mapping[str, str]) -> Plan:
    """What `toString` of the map of members says, in order."""
    plan: Plan = {}
    for member, topics in _MEMBER.findall(text):
        plan[member] = [
            TopicPartition(names[topic], number)
            for topic, listed, begin, end in _TOPIC.findall(topics)
            for number in (range(int(begin), int(end)) if end else map(int, listed.split(", ") if listed else ()))
        ]
    return plan


def read_topics(text: str, names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The topics of each member, those without partitions included, in order."""
    return {
        member: tuple(names[topic] for topic, *_ in _TOPIC.findall(topics)) for member, topics in _MEMBER.findall(text)
    }


@cache
def _class(name: str) -> Any:
    return jpype.JClass(name)


@cache
def _integer(number: int) -> Any:
    return _class("java.lang.Integer").valueOf(number)


@cache
def java_uuid(uuid: UUID) -> Any:
    """Kafka's `Uuid` of the same bits."""
    halves = (uuid.int >> 64, uuid.int & (2**64 - 1))
    return _class("org.apache.kafka.common.Uuid")(*(jpype.JLong(h - 2**64 if h >= 2**63 else h) for h in halves))


ImageKey = tuple[tuple[str, UUID, int], ...]


def image_key(group: Group) -> ImageKey:
    """What the metadata image of the group's topics depends on."""
    return tuple((topic.name, topic_uuid(topic), topic.partitions) for topic in group.topics.values())


def metadata_image(key: ImageKey) -> Any:
    """The coordinator's view of a cluster that has just these topics."""
    image = _class("org.apache.kafka.image.MetadataImage").EMPTY
    topics = image.topics()
    for name, uuid, partitions in key:
        topics = topics.including(
            _class("org.apache.kafka.image.TopicImage")(name, java_uuid(uuid), _numbers(partitions))
        )
    parts = ("configs", "clientQuotas", "producerIds", "acls", "scram", "delegationTokens")
    rest = [getattr(image, part)() for part in parts]
    whole = type(image)(image.provenance(), image.features(), image.cluster(), topics, *rest)
    return _class("org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage")(whole)


@cache
def _numbers(partitions: int) -> Any:
    """A map with that many keys: all that the assignors want to know of a topic's partitions is their number."""
    identity = _class("java.util.function.Function").identity()
    boxed = _class("java.util.stream.IntStream").range(0, partitions).boxed()
    return boxed.collect(_class("java.util.stream.Collectors").toMap(identity, identity))


_images: dict[ImageKey, tuple[Any, Any]] = {}


def _image_parts(key: ImageKey) -> tuple[Any, Any]:
    if key not in _images:
        if len(_images) > 50:
            _images.clear()
        image = metadata_image(key)
        resolver = _class(_GROUP + "modern.TopicIds$CachedTopicResolver")(image)
        _images[key] = _class(_GROUP + "modern.SubscribedTopicDescriberImpl")(image), resolver
    return _images[key]


def describer(key: ImageKey) -> Any:
    """Kafka's `SubscribedTopicDescriber` over these topics."""
    return _image_parts(key)[0]


def java_spec(group: Group, homogeneous: bool | None = None, records: Mapping[str, Any] | None = None) -> Any:
    """The `GroupSpecImpl` of a group: members in their order, old assignments as records give them.

    `records`: those assignments by member, if they are there; else they are made from what the members own.
    """
    members = _class("java.util.HashMap")()
    owner = consumer_group()
    empty = _class(_GROUP + "modern.Assignment").EMPTY
    resolver = _image_parts(image_key(group))[1]
    ids = {topics: topic_id_set(topics, resolver) for topics in {member.topics for member in group.members}}
    for member in group.members:
        old = java_assignment(group, member) if records is None else records.get(member.member_id, empty)
        owner.updateTargetAssignment(member.member_id, old)
        members.put(member.member_id, java_member(member, ids[member.topics], old))
    kind = subscription_type(group) if homogeneous is None else _types()[homogeneous]
    return _class(_GROUP + "modern.GroupSpecImpl")(members, kind, owner.invertedTargetAssignment())


def consumer_group() -> Any:
    """An empty group that keeps target assignments and their inverse."""
    log = _class("org.apache.kafka.common.utils.LogContext")()
    registry = _class("org.apache.kafka.timeline.SnapshotRegistry")(log)
    return _class(_GROUP + "modern.consumer.ConsumerGroup")(log, registry, "group")


def _types() -> dict[bool, Any]:
    kinds = _class(_GROUP + "api.assignor.SubscriptionType")
    return {True: kinds.HOMOGENEOUS, False: kinds.HETEROGENEOUS}


def subscription_type(group: Group) -> Any:
    """What the coordinator decides from how many members name each topic, and how many patterns match it."""
    patterns = Counter(member.pattern for member in group.members if member.pattern is not None)
    by_name = Counter(name for member in group.members if member.pattern is None for name in set(member.topics))
    matched = {member.pattern: member.topics for member in group.members if member.pattern is not None}
    by_pattern = Counter(chain.from_iterable(matched.values()))
    counts, regexes = _class("java.util.HashMap")(), _class("java.util.HashMap")()
    for name in dict.fromkeys((*by_name, *by_pattern)):
        counts.put(name, _class(_GROUP + "modern.SubscriptionCount")(by_name[name], by_pattern[name]))
    for pattern, count in patterns.items():
        regexes.put(pattern, _integer(count))
    return _class(_GROUP + "modern.consumer.ConsumerGroup").subscriptionType(regexes, counts, len(group.members))


def topic_id_set(topics: Iterable[str], resolver: Any) -> Any:
    """The `TopicIds` of a subscription."""
    names = _class("java.util.HashSet")(_class("java.util.Arrays").asList(list(topics)))
    return _class(_GROUP + "modern.TopicIds")(names, resolver)


def java_member(member: Member, ids: Any, old: Any) -> Any:
    """One member's `MemberSubscriptionAndAssignmentImpl`."""
    optional = _class("java.util.Optional")
    instance = optional.ofNullable(member.instance_id)
    return _class(_GROUP + "modern.MemberSubscriptionAndAssignmentImpl")(optional.empty(), instance, ids, old)


def java_assignment(group: Group, member: Member) -> Any:
    """The member's old assignment, in the containers that reading its record makes."""
    if not member.owned and not member.owned_topics:
        return _class(_GROUP + "modern.Assignment").EMPTY
    by_topic: dict[str, list[int]] = {name: [] for name in member.owned_topics}
    for tp in member.owned:
        by_topic.setdefault(tp.topic, []).append(tp.partition)
    filled = _class("java.util.HashMap")()
    for name, numbers in by_topic.items():
        uuid = topic_uuid(group.topics.get(name) or Topic(name, 0))
        filled.put(java_uuid(uuid), _class("java.util.HashSet")(java_integers(numbers)))
    return _class(_GROUP + "modern.Assignment")(filled)


def java_integers(numbers: Iterable[int]) -> Any:
    """A Java list of Integers: a bare Python int would become a Long."""
    return _class("java.util.Arrays").asList([_integer(number) for number in numbers])


def jdk() -> int:
    """The version of the Java that runs here."""
    return int(_class("java.lang.Runtime").version().feature())


@cache
def our_assignors() -> Mapping[str, Assignor]:
    """Our assignors by name, for the JDK that runs Kafka's here."""
    ours: list[Assignor] = [UniformAssignor(jdk()), ServerRangeAssignor(jdk()), ShareSimpleAssignor(jdk())]
    return {one.name: one for one in ours}


def check(seed: int, number: int) -> Iterator[Checked]:
    """A few plans of one group in the course of its life, by one of the assignors. The JVM must run."""
    name = list(CLASSES)[number % len(CLASSES)]
    life = Chain(generator(seed, number), LARGE.get(name, 0.0), PATTERNS.get(name, 0.0))
    records: Mapping[str, Any] = {}
    for step in range(life.steps):
        theirs, ours = java_plan_after(name, life.group, records), our_plan(name, life.group)
        is_refused = isinstance(theirs, str)
        plan = theirs if isinstance(theirs, str) else theirs.by_member
        if same(plan, ours) and same_topics(theirs, ours):
            yield Checked(name, refused=is_refused)
        else:
            yield Checked(name, f"step {step}: {life.group}\nours: {shown(ours)}\nJava: {plan}", is_refused)
        if isinstance(ours, str) or isinstance(theirs, str):
            return
        unspoiled = life.go_on(ours)
        records = {member: record for member, record in theirs.records.items() if member in unspoiled}


def our_plan(name: str, group: Group) -> Assignment | str:
    """Our plan, or what we say when there is none."""
    try:
        return our_assignors()[name].assign(group)
    except AssignorError as error:
        return str(error)


def shown(ours: Assignment | str) -> Plan | str:
    """Our plan in the form of Java's."""
    return ours if isinstance(ours, str) else {member: list(owned) for member, owned in ours.by_member.items()}


def same_topics(theirs: JavaPlan | str, ours: Assignment | str) -> bool:
    """Equal topics in equal order for each member, those without partitions included."""
    if isinstance(theirs, str) or isinstance(ours, str):
        return True
    found = {
        member: ours.topics_by_member.get(member) or tuple(dict.fromkeys(tp.topic for tp in ours.by_member[member]))
        for member in theirs.topics
    }
    return found == theirs.topics


def same(theirs: Plan | str, ours: Assignment | str) -> bool:
    """Equal lists in equal order, members too; or both refused. Members that Kafka leaves out have nothing with us."""
    plan = shown(ours)
    if isinstance(theirs, str) or isinstance(plan, str):
        return isinstance(theirs, str) and isinstance(plan, str)
    left_out: dict[str, list[Any]] = {member: [] for member in plan if member not in theirs}
    return list(plan.items()) == [*theirs.items(), *left_out.items()]
