"""Checks beyond the schema: names exist, numbers are in range, nothing is listed twice."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from assignors.scenario.collected import EnoughError, Findings
from assignors.scenario.event_schema import in_order
from assignors.scenario.group_schema import MemberFile
from assignors.scenario.problems import Path
from assignors.scenario.schema import ScenarioFile
from assignors.scenario.values import MOST_PARTITIONS
from assignors.spelling import shown, suggestion
from assignors.whatif.events.scenario import Event, first_join_ms
from assignors.whatif.events.subscribe import unknown_subscriptions
from assignors.whatif.events.topics import check_racks
from assignors.whatif.events.use_assignor import check_assignor
from assignors.whatif.membership import Membership, Remarks

_LOADS = ("weights", "lag", "rates")


def findings(file: ScenarioFile) -> Findings:
    """Errors and warnings, at most 20 of each."""
    found = Findings()
    with suppress(EnoughError):
        _check(file, found)
    return found


def _check(file: ScenarioFile, found: Findings) -> None:
    _add(check_assignor(file.assignor), ("assignor",), found)
    _check_topics(file, found)
    _check_members(file, {topic.name: topic.partitions for topic in file.topics}, found)
    events = list(in_order(file.events))
    membership = _check_events(file, events, found)
    _check_total(file, membership.partitions_ever, found)
    _check_subscriptions(file, events, membership, found)
    _check_loads(file, membership.partitions_ever, found)
    _check_capacity(file, membership.member_ids_ever(), found)


def _add(remarks: Remarks, path: Path, found: Findings) -> None:
    for below, sentence in remarks:
        found.error((*path, *below), sentence)


def _check_events(file: ScenarioFile, events: Sequence[tuple[Path, Event]], found: Findings) -> Membership:
    """Each event must find the members and topics that it concerns. The membership after the last event.

    Only the file itself counts: which member a coordinator has removed by then is the simulation's business.
    """
    members, topics = (member.member() for member in file.members), (topic.topic() for topic in file.topics)
    membership = Membership.at_start(members, topics, first_join_ms(event for _, event in events))
    for path, event in events:
        membership.now_ms = event.at_ms
        _add(event.action.check(membership), path, found)
        event.action.change(membership)
    return membership


def _check_topics(file: ScenarioFile, found: Findings) -> None:
    _check_once([topic.name for topic in file.topics], "topics", "name", found)
    _check_once([topic.id for topic in file.topics], "topics", "id", found)
    for number, topic in enumerate(file.topics):
        _add(check_racks(topic.topic()), ("topics", number), found)


def _check_once(values: Iterable[str | None], section: str, key: str, found: Findings) -> None:
    first: dict[str, int] = {}
    for number, value in enumerate(values):
        if value is not None and first.setdefault(value, number) != number:
            found.error((section, number, key), f"{shown(value)!r} is {section}[{first[value]}] already.")


def _check_total(file: ScenarioFile, most: Mapping[str, int], found: Findings) -> None:
    if (total := sum(most.values())) > MOST_PARTITIONS:
        where = "topics" if sum(topic.partitions for topic in file.topics) > MOST_PARTITIONS else "events"
        found.error((where,), f"The topics have {total:,} partitions. A scenario has at most {MOST_PARTITIONS:,}.")


def _check_members(file: ScenarioFile, partitions: Mapping[str, int], found: Findings) -> None:
    _check_once([member.id for member in file.members], "members", "id", found)
    _check_once([member.instance_id for member in file.members], "members", "instance_id", found)
    claims: dict[tuple[str, int], str] = {}
    for number, member in enumerate(file.members):
        for topic, owned in member.owned.items():
            path = ("members", number, "owned", topic)
            if _check_partitions(owned, path, topic, partitions, found):
                _check_claims(member, topic, claims, path, found)


def _check_partitions(
    numbers: Iterable[int], path: Path, topic: str, partitions: Mapping[str, int], found: Findings
) -> bool:
    """Whether the topic exists. Partitions that do not exist or are listed twice are errors."""
    if topic not in partitions:
        found.error(path, f"No topic is named {shown(topic)!r}.{suggestion(topic, partitions)}")
        return False
    seen: set[int] = set()
    for position, partition in enumerate(numbers):
        if partition >= partitions[topic]:
            found.error((*path, position), _out_of_range(topic, partition, partitions[topic]))
        if partition in seen:
            found.error((*path, position), f"Partition {partition} is listed twice. Keep one.")
        seen.add(partition)
    return True


def _out_of_range(topic: str, partition: int, count: int) -> str:
    return f"{topic} has no partition {partition:,}: it has {count:,}, numbered from 0."


def _check_claims(
    member: MemberFile, topic: str, claims: dict[tuple[str, int], str], path: Path, found: Findings
) -> None:
    """Partitions with two owners are a warning: Kafka handles them, as after a missed rebalance."""
    for position, partition in enumerate(member.owned[topic]):
        other = claims.setdefault((topic, partition), member.id)
        if other != member.id:
            found.warn((*path, position), f"{shown(other)!r} owns {topic} {partition} as well.")


def _check_subscriptions(
    file: ScenarioFile, events: Iterable[tuple[Path, Event]], membership: Membership, found: Findings
) -> None:
    for number, member in enumerate(file.members):
        remarks = unknown_subscriptions(member.topics, member.pattern, membership.partitions_ever)
        _warn(remarks, ("members", number), found)
    for path, event in events:
        _warn(event.action.warn(membership), path, found)


def _warn(remarks: Remarks, path: Path, found: Findings) -> None:
    while found.may_warn and (remark := next(remarks, None)):
        found.warn((*path, *remark[0]), remark[1])


def _check_loads(file: ScenarioFile, most: Mapping[str, int], found: Findings) -> None:
    """Loads may refer to partitions that are created later."""
    for section in _LOADS:
        for topic, amounts in getattr(file, section).items():
            path = (section, topic)
            if topic not in most:
                found.error(path, f"No topic is named {shown(topic)!r}.{suggestion(topic, most)}")
            elif isinstance(amounts, list) and len(amounts) > most[topic]:
                found.error(path, f"There are {len(amounts):,} numbers, but {topic} has {most[topic]:,} partitions.")
            elif isinstance(amounts, dict):
                for partition in filter(most[topic].__le__, amounts):
                    found.error((*path, partition), _out_of_range(topic, partition, most[topic]))


def _check_capacity(file: ScenarioFile, ever: Collection[str], found: Findings) -> None:
    if not isinstance(file.capacity, dict):
        return
    own = {member.id for member in file.members if member.capacity is not None}
    for member in file.capacity:
        if member not in ever:
            found.error(("capacity", member), f"No member is named {shown(member)!r}.{suggestion(member, ever)}")
        elif member in own:
            found.error(("capacity", member), f"{shown(member)!r} has a capacity of its own already. Keep one.")
