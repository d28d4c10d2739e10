"""LeaveGroup: members that close, and static members that an admin removes."""

from assignors.simulation.classic.group import State
from assignors.simulation.classic.messages import AnswerLeave, Leave, Leaver, LeaveReply
from assignors.simulation.classic.rebalance import SESSION, Rebalance
from assignors.simulation.errors import KafkaError

_FIRST_VERSION_OF_BATCHES = 3


def leave(rebalance: Rebalance | None, request: Leave, answer: AnswerLeave) -> None:
    """Remove the members, then rebalance once. If the group becomes empty, the answer waits until that is persisted."""
    if request.version < _FIRST_VERSION_OF_BATCHES and len(request.members) != 1:
        answer(LeaveReply(KafkaError.UNSUPPORTED_VERSION))
    elif rebalance is None:
        answer(_reply(request, [KafkaError.UNKNOWN_MEMBER_ID] * len(request.members)))
    elif rebalance.group.state is State.DEAD:
        answer(LeaveReply(KafkaError.COORDINATOR_NOT_AVAILABLE))
    else:
        _leave(rebalance, request, answer)


def _leave(rebalance: Rebalance, request: Leave, answer: AnswerLeave) -> None:
    group, before = rebalance.group, rebalance.group.state
    errors = [_remove(rebalance, leaver) for leaver in request.members]
    if KafkaError.NONE in errors and before is not State.EMPTY:
        rebalance.prepare_or_complete()
    if group.state is State.EMPTY and before is not State.EMPTY:
        rebalance.log.append([], lambda: answer(_reply(request, errors)))
    else:
        answer(_reply(request, errors))


def _reply(request: Leave, errors: list[KafkaError]) -> LeaveReply:
    if request.version < _FIRST_VERSION_OF_BATCHES:
        return LeaveReply(errors[0])
    return LeaveReply(KafkaError.NONE, tuple(zip(request.members, errors, strict=True)))


def _remove(rebalance: Rebalance, leaver: Leaver) -> KafkaError:
    group = rebalance.group
    member_id = leaver.member_id
    if not member_id:
        member_id = group.static_ids.get(leaver.instance_id or "", "")
    elif member_id in group.pending_ids:
        rebalance.expel(member_id)
        return KafkaError.NONE
    error = group.validate(member_id, leaver.instance_id)
    if error is KafkaError.NONE:
        rebalance.timers.disarm((SESSION, member_id))
        rebalance.dismiss(member_id)
    return error
