"""SyncGroup: the leader brings the plan, everybody gets its part of it."""

from assignors.simulation.classic.group import State
from assignors.simulation.classic.messages import AnswerSync, Sync, SyncReply
from assignors.simulation.classic.rebalance import Rebalance
from assignors.simulation.errors import KafkaError


def sync(rebalance: Rebalance, request: Sync, answer: AnswerSync) -> None:
    """Answer at once, or park the sync until the leader's plan is persisted."""
    group = rebalance.group
    error = _refusal(rebalance, request)
    if error is not KafkaError.NONE:
        answer(SyncReply(error))
        return
    member = group.members[request.member_id]
    if group.state is State.STABLE:
        rebalance.synced(request.member_id)
        answer(SyncReply(KafkaError.NONE, member.assignment, group.protocol_type, group.protocol))
        return
    member.parked_sync = answer
    rebalance.synced(request.member_id)
    if group.leader == request.member_id:
        _persist_plan(rebalance, request)


def _refusal(rebalance: Rebalance, request: Sync) -> KafkaError:
    group = rebalance.group
    if group.state is State.EMPTY:
        return KafkaError.UNKNOWN_MEMBER_ID
    error = group.validate_current(request)
    if error is not KafkaError.NONE:
        return error
    if _differ(request.protocol_type, group.protocol_type) or _differ(request.protocol, group.protocol):
        return KafkaError.INCONSISTENT_GROUP_PROTOCOL
    return KafkaError.REBALANCE_IN_PROGRESS if group.state is State.PREPARING_REBALANCE else KafkaError.NONE


def _differ(given: str | None, known: str | None) -> bool:
    return given is not None and known is not None and given != known


def _persist_plan(rebalance: Rebalance, request: Sync) -> None:
    group = rebalance.group
    plan = dict(request.assignments)

    def persisted() -> None:
        # Another member may have joined while the record was on its way.
        if group.state is State.COMPLETING_REBALANCE and group.generation == request.generation:
            rebalance.assign(plan)

    rebalance.log.append([group.record(plan)], persisted)
