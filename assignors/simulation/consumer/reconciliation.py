"""The next step of a member towards its target (Kafka: CurrentAssignmentBuilder), as a pure function."""

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, replace

from assignors.simulation.consumer.members import Held, Member, MemberState
from assignors.simulation.consumer.messages import TopicIdPartition


@dataclass(frozen=True, slots=True)
class Step:
    """What decides it.

    `names`: the topics that the member subscribes to; `subscribed`: the ids of those that exist; `resubscribed`:
    whether this subscription is new; `owners`: the epoch of each partition that has an owner now; `owned`: what the
    member reports that it owns, None: not reported.
    """

    target_epoch: int
    target: Collection[TopicIdPartition]
    names: Collection[str]
    subscribed: Container[str]
    resubscribed: bool
    owners: Mapping[TopicIdPartition, int]
    owned: Collection[TopicIdPartition] | None

    def of(self, member: Member) -> Member:
        """The member after the step; unchanged if it must wait or has reached its target."""
        must_revoke = member.state is MemberState.UNREVOKED_PARTITIONS and self._still_owns(member.pending)
        if member.is_reconciled_to(self.target_epoch) or must_revoke:
            return self._without_unsubscribed(member) if self.resubscribed else member
        return self._next(member)

    def _still_owns(self, pending: Held) -> bool:
        return self.owned is None or any(partition in pending for partition in self.owned)

    def _without_unsubscribed(self, member: Member) -> Member:
        """It loses the partitions of unsubscribed topics, before any new target."""
        gone = {tp: epoch for tp, epoch in member.assigned.items() if tp.topic_id not in self.subscribed}
        # Kafka makes a new state even of nothing when nothing at all is subscribed and pending.
        if not gone and (self.names or member.pending):
            return member
        kept = {tp: epoch for tp, epoch in member.assigned.items() if tp not in gone}
        pending = {**member.pending, **gone}
        if pending and self._still_owns(pending):
            return _moved(member, MemberState.UNREVOKED_PARTITIONS, member.epoch, kept, pending)
        return _moved(member, member.state, member.epoch, kept, member.pending)

    def _next(self, member: Member) -> Member:
        target = {tp for tp in self.target if tp.topic_id in self.subscribed}
        kept = {tp: epoch for tp, epoch in member.assigned.items() if tp in target}
        revoked = {tp: epoch for tp, epoch in member.assigned.items() if tp not in target}
        if revoked and self._still_owns(revoked):
            return _moved(member, MemberState.UNREVOKED_PARTITIONS, member.epoch, kept, revoked)
        missing = target - kept.keys()
        free = {tp for tp in missing if tp not in self.owners or tp in member.pending}
        state = MemberState.STABLE if free == missing else MemberState.UNRELEASED_PARTITIONS
        return _moved(member, state, self.target_epoch, kept | dict.fromkeys(free, self.target_epoch), {})


def _moved(member: Member, state: MemberState, epoch: int, assigned: Held, pending: Held) -> Member:
    return replace(member, state=state, epoch=epoch, previous_epoch=member.epoch, assigned=assigned, pending=pending)
