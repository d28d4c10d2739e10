"""A group between two rebalances, and what an event makes of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial, singledispatch

from assignors import registry
from assignors.model import Assignor, AssignorError, Member, Topic
from assignors.patterns import matching, resolved
from assignors.whatif.events import (
    Action,
    AddPartitions,
    ChangeRack,
    Crash,
    CreateTopic,
    DeleteTopic,
    Freeze,
    GcPause,
    Heal,
    Join,
    Leave,
    Restart,
    Resume,
    Slow,
    Split,
    Subscribe,
    UseAssignor,
)
from assignors.whatif.rebalance_protocol import RebalanceProtocol, is_classic, protocol_of

SESSION_TIMEOUT_MS = 45_000
MAX_POLL_INTERVAL_MS = 300_000

Setting = str | int | float | bool


@dataclass(frozen=True, slots=True)
class GroupState:
    """Members with what they claim (`owned`, `generation`), topics, and the assignor that plans.

    `away` has the members that were there and are not, as they were: `frozen` names those that may resume, `split`
    those that may heal. `settings` are Kafka's own, by name.
    """

    members: tuple[Member, ...]
    topics: Mapping[str, Topic]
    assignor: Assignor
    away: Mapping[str, Member] = field(default_factory=dict)
    frozen: frozenset[str] = frozenset()
    capacity_per_s: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)
    split: frozenset[str] = frozenset()

    @property
    def protocol(self) -> RebalanceProtocol:
        """How plans of the present assignor are carried out."""
        return protocol_of(self.assignor.name)

    def member(self, member_id: str) -> Member:
        """The member of that id. AssignorError saying why there is none."""
        for member in self.members:
            if member.member_id == member_id:
                return member
        if member_id in self.frozen:
            raise AssignorError(f"member {member_id!r} is frozen and out of the group. Resume it first.")
        if member_id in self.split:
            raise AssignorError(f"member {member_id!r} is split off and out of the group. Let it heal first.")
        if member_id in self.away:
            raise AssignorError(f"member {member_id!r} has left the group before.")
        raise AssignorError(f"there is no member {member_id!r}. {_hint(member_id, self.ids())}")

    def topic(self, name: str) -> Topic:
        """The topic of that name. AssignorError when there is none."""
        if name not in self.topics:
            raise AssignorError(f"there is no topic {name!r}. {_hint(name, self.topics)}")
        return self.topics[name]

    def ids(self) -> list[str]:
        """Ids of the members, in the order in which they joined."""
        return [member.member_id for member in self.members]

    def is_subscribed(self, topic: str) -> bool:
        """Whether anybody subscribes to the topic."""
        return any(topic in member.topics for member in self.members)

    def is_static(self, member: Member) -> bool:
        """Whether the group knows the member again after a restart (KIP-345). Share groups know nobody again."""
        return member.instance_id is not None and self.protocol is not RebalanceProtocol.SHARE


@dataclass(frozen=True, slots=True)
class Step:
    """What an event, or its first part, makes of the group: the state after it, and the text that tells it.

    `rebalances`: whether the group plans anew. `restarted` names a static member whose partitions pause without that.
    `stops_all`: everybody gives up everything first, whatever the protocol. `then` is the event's second part.
    """

    state: GroupState
    text: str = ""
    rebalances: bool = True
    restarted: str | None = None
    stops_all: bool = False
    then: "Callable[[GroupState], Step] | None" = None


def _hint(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = get_close_matches(name, names, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"There are {', '.join(sorted(names)[:5])}{', …' if len(names) > 5 else ''}." if names else "There are none."


@singledispatch
def step(action: Action, state: GroupState) -> Step:
    """What an event makes of the group. AssignorError when it cannot happen."""
    raise AssignorError(f"{type(action).__name__} is no event of a group.")


@step.register
def _(action: Join, state: GroupState) -> Step:
    member = action.member
    name = member.member_id
    if name in state.ids():
        raise AssignorError(f"member {name!r} is in the group already. Give the new one another id.")
    if name in state.frozen:
        raise AssignorError(f"member {name!r} is frozen. Resume it, or give the new one another id.")
    if name in state.split:
        raise AssignorError(f"member {name!r} is split off. Let it heal, or give the new one another id.")
    if action.capacity_per_s is not None:
        state = replace(state, capacity_per_s={**state.capacity_per_s, name: action.capacity_per_s})
    return _joined(state, member, f"{name} joins")


@step.register
def _(action: Leave, state: GroupState) -> Step:
    member = state.member(action.member_id)
    left = _without(state, member)
    if state.is_static(member):
        return Step(left, f"{action.member_id} closes; static, so it is out once its {_session(state)} session ends")
    return Step(left, f"{action.member_id} leaves")


@step.register
def _(action: Crash, state: GroupState) -> Step:
    left = _without(state, state.member(action.member_id))
    return Step(left, f"{action.member_id} crashes; it is out once its {_session(state)} session ends")


@step.register
def _(action: Freeze, state: GroupState) -> Step:
    member = state.member(action.member_id)
    left = _without(state, member)
    left = replace(left, frozen=left.frozen | {action.member_id})
    limit = _seconds(state, "max.poll.interval.ms", MAX_POLL_INTERVAL_MS)
    more = f", and then its {_session(state)} session, as it is static" if state.is_static(member) else ""
    return Step(left, f"{action.member_id} freezes; it is out after max.poll.interval.ms, {limit}{more}")


@step.register
def _(action: Resume, state: GroupState) -> Step:
    name = action.member_id
    if name not in state.frozen:
        state.member(name)
        raise AssignorError(f"member {name!r} is not frozen. Freeze it before, or leave this event out.")
    back = replace(state, frozen=state.frozen - {name})
    return _joined(back, state.away[name], f"{name} resumes and joins anew")


@step.register
def _(action: GcPause, state: GroupState) -> Step:
    name = action.member_id
    member = state.member(name)
    if action.lasts_ms < _session_ms(state):
        return Step(state, rebalances=False)
    back = partial(_joined, member=member, text=f"{name} goes on and joins anew")
    out = f"{name} stands still for {action.lasts_ms / 1000:g} s; it is out once its {_session(state)} session ends"
    return Step(_without(state, member), out, then=back)


@step.register
def _(action: Slow, state: GroupState) -> Step:
    state.member(action.member_id)
    return Step(state, rebalances=False)


@step.register
def _(action: Split, state: GroupState) -> Step:
    left = _without(state, state.member(action.member_id))
    left = replace(left, split=left.split | {action.member_id})
    return Step(left, f"{action.member_id} is split off; it is out once its {_session(state)} session ends")


@step.register
def _(action: Heal, state: GroupState) -> Step:
    name = action.member_id
    if name not in state.split:
        state.member(name)
        raise AssignorError(f"member {name!r} is not split off. Split it off before, or leave this event out.")
    back = replace(state, split=state.split - {name})
    return _joined(back, state.away[name], f"{name} reaches the coordinator again and joins anew")


@step.register
def _(action: Restart, state: GroupState) -> Step:
    name = action.member_id
    member = state.member(name)
    if state.is_static(member):
        text = f"{name} restarts; static, so it keeps its partitions without a rebalance"
        return Step(state, text, rebalances=False, restarted=name)
    back = partial(_joined, member=member, text=f"{name} joins anew after its restart")
    return Step(_without(state, member), f"{name} restarts: it leaves", then=back)


@step.register
def _(action: Subscribe, state: GroupState) -> Step:
    member = state.member(action.member_id)
    topics = action.topics if action.pattern is None else matching(action.pattern, state.topics)
    if (member.topics, member.pattern) == (topics, action.pattern):
        return Step(state, rebalances=False)
    changed = _reading(replace(member, pattern=action.pattern), topics, state)
    wanted = action.pattern or ", ".join(action.topics) or "nothing"
    return Step(_changed(state, changed), f"{action.member_id} subscribes to {wanted}")


def _reading(member: Member, topics: tuple[str, ...], state: GroupState) -> Member:
    """The member with that subscription."""
    changed = replace(member, topics=topics)
    if state.protocol is RebalanceProtocol.COOPERATIVE:  # it gives the others up before it joins
        owned = [tp for tp in member.owned if tp.topic in topics]
        return replace(changed, owned=owned) if len(owned) < len(member.owned) else changed
    return changed


@step.register
def _(action: ChangeRack, state: GroupState) -> Step:
    member = state.member(action.member_id)
    if member.rack == action.rack:
        return Step(state, rebalances=False)
    place = f"rack {action.rack}" if action.rack else "an unknown rack"
    return Step(_changed(state, replace(member, rack=action.rack)), f"{action.member_id} moves to {place}")


@step.register
def _(action: AddPartitions, state: GroupState) -> Step:
    topic = state.topic(action.topic)
    if action.partitions <= topic.partitions:
        raise AssignorError(f"topic {topic.name!r} has {topic.partitions} partitions already. Name a larger number.")
    added = action.partitions - topic.partitions
    racks = None if topic.racks is None else [*topic.racks, *[()] * added]
    grown = replace(topic, partitions=action.partitions, racks=racks)
    topics = {**state.topics, topic.name: grown}
    return _of_topic(state, topics, topic.name, f"{topic.name} grows to {action.partitions} partitions")


@step.register
def _(action: CreateTopic, state: GroupState) -> Step:
    topic = action.topic
    if topic.name in state.topics:
        raise AssignorError(f"topic {topic.name!r} is there already. Give the new one another name.")
    topics = {**state.topics, topic.name: topic}
    return _of_topic(state, topics, topic.name, f"{topic.name} is created with {topic.partitions} partitions")


@step.register
def _(action: DeleteTopic, state: GroupState) -> Step:
    gone = state.topic(action.topic).name
    left = {name: topic for name, topic in state.topics.items() if name != gone}
    return _of_topic(state, left, gone, f"{gone} is deleted")


def _of_topic(state: GroupState, topics: Mapping[str, Topic], name: str, text: str) -> Step:
    """These topics exist now; that one is another."""
    found = ((member, resolved(member, topics)) for member in state.members)
    members = tuple(old if new is old else _reading(old, new.topics, state) for old, new in found)
    changed = replace(state, members=members, topics=topics)
    return Step(changed, text, rebalances=state.is_subscribed(name) or changed.is_subscribed(name))


@step.register
def _(action: UseAssignor, state: GroupState) -> Step:
    """All members change at once.

    Between the clients' protocols and KIP-848 the coordinator converts the group with what its members own (KIP-848,
    online migration). Otherwise the members start anew, knowing nothing: a share group is another kind of group, and
    clients keep claims in memory, under an eager assignor none but `sticky`'s user data, which no other one writes.
    """
    assignor = registry.get(action.assignor)
    if assignor.name == state.assignor.name:
        return Step(state, rebalances=False)
    changed, text = replace(state, assignor=assignor), f"all members change to {assignor.name}"
    if _converts(state.protocol, changed.protocol):
        return Step(changed, text)
    return Step(replace(changed, members=tuple(map(_unclaimed, state.members))), text, stops_all=True)


def _converts(old: RebalanceProtocol, new: RebalanceProtocol) -> bool:
    """Whether the members' ownership outlives the change."""
    if RebalanceProtocol.SHARE in (old, new):
        return False
    return RebalanceProtocol.CONSUMER in (old, new)


def _unclaimed(member: Member) -> Member:
    return replace(member, owned=(), generation=None, user_data=None)


def _joined(state: GroupState, member: Member, text: str) -> Step:
    instance = member.instance_id
    holder = next((other for other in state.members if instance is not None and other.instance_id == instance), None)
    if holder is not None and state.is_static(holder):
        raise AssignorError(f"instance id {instance!r} is {holder.member_id!r}'s. Give each member its own.")
    away = {name: gone for name, gone in state.away.items() if name != member.member_id}
    joined = resolved(_unclaimed(member), state.topics)
    return Step(replace(state, members=(*state.members, joined), away=away), text)


def _without(state: GroupState, member: Member) -> GroupState:
    left = tuple(other for other in state.members if other is not member)
    return replace(state, members=left, away={**state.away, member.member_id: member})


def _changed(state: GroupState, member: Member) -> GroupState:
    members = tuple(member if other.member_id == member.member_id else other for other in state.members)
    return replace(state, members=members)


def _session(state: GroupState) -> str:
    return f"{_session_ms(state) / 1000:g} s"


def _session_ms(state: GroupState) -> float:
    name = "session.timeout.ms" if is_classic(state.protocol) else "group.consumer.session.timeout.ms"
    return float(state.settings.get(name, SESSION_TIMEOUT_MS))


def _seconds(state: GroupState, setting: str, default: int) -> str:
    return f"{float(state.settings.get(setting, default)) / 1000:g} s"
