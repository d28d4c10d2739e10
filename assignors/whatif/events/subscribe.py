"""A member's subscription or rack changes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from assignors.model import Member
from assignors.patterns import compiled, matching
from assignors.spelling import shown, suggestion
from assignors.whatif.events.action import PLAIN, MemberAction, SimulatedGroup, Wording
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import Membership, Remarks
from assignors.whatif.timeouts import Timeouts


@dataclass(frozen=True, slots=True)
class Subscribe(MemberAction):
    """A member subscribes to these topics, or to those that match `pattern`, and to no others."""

    id_path = ("id",)
    topics: tuple[str, ...] = ()
    pattern: str | None = None

    def sentence(self, wording: Wording = PLAIN) -> str:
        topics = wording.names(self.topics) or "nothing"
        wanted = topics if self.pattern is None else f"the pattern {wording.name(self.pattern)}"
        return f"{wording.member(self.member_id)} subscribes to {wanted}"

    def warn(self, membership: Membership) -> Remarks:
        yield from doubtful_subscriptions(self.topics, self.pattern, membership.partitions_ever)

    def change(self, membership: Membership) -> None:
        if member := membership.members.get(self.member_id):
            membership.members[self.member_id] = replace(member, topics=self.topics, pattern=self.pattern)

    def apply(self, state: GroupState) -> Step:
        member = state.member(self.member_id)
        topics = self.topics if self.pattern is None else matching(self.pattern, state.topics)
        if (member.topics, member.pattern) == (topics, self.pattern):
            return Step(state, rebalances=False)
        changed = state.subscribed(replace(member, pattern=self.pattern), topics)
        return Step(state.updated(changed), self.sentence())

    def simulate(self, group: SimulatedGroup) -> None:
        group.subscribe(self.member_id, self.topics, self.pattern)


@dataclass(frozen=True, slots=True)
class ChangeRack(MemberAction):
    """A member moves to another rack (None: an unknown one)."""

    id_path = ("id",)
    rack: str | None

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        return timeouts.restart_ms

    def sentence(self, wording: Wording = PLAIN) -> str:
        rack = f"rack {wording.name(self.rack)}" if self.rack else "an unknown rack"
        return f"{wording.member(self.member_id)} moves to {rack}"

    def apply(self, state: GroupState) -> Step:
        member = state.member(self.member_id)
        if member.rack == self.rack:
            return Step(state, rebalances=False)
        return Step(state.updated(replace(member, rack=self.rack)), self.sentence())

    def simulate(self, group: SimulatedGroup) -> None:
        group.change_rack(self.member_id, self.rack)


def doubtful_subscriptions(topics: Sequence[str], pattern: str | None, known: Collection[str]) -> Remarks:
    """Topics and patterns that match no topic of the scenario, and topics that are listed again.

    Kafka allows them; they may be typing errors.
    """
    seen: set[str] = set()
    for number, topic in enumerate(topics):
        if topic in seen:
            yield ("topics", number), f"{shown(topic)!r} is listed twice, and counts once: a subscription is a set."
        elif topic not in known:
            sentence = (
                f"No topic is ever named {shown(topic)!r}, so nothing is assigned for it.{suggestion(topic, known)}"
            )
            yield ("topics", number), sentence
        seen.add(topic)
    if pattern is not None and not any(map(compiled(pattern).fullmatch, known)):
        yield ("pattern",), f"No topic ever matches {shown(pattern)!r}, so nothing is assigned for it."
