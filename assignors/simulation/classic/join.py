"""JoinGroup: new members in two steps (KIP-394), static members under new ids (KIP-345), members that rejoin."""

from collections.abc import Callable
from dataclasses import replace

from assignors.simulation.classic.group import State
from assignors.simulation.classic.members import Member
from assignors.simulation.classic.messages import AnswerJoin, Join, JoinReply
from assignors.simulation.classic.rebalance import Rebalance
from assignors.simulation.classic.settings import NEW_MEMBER_JOIN_TIMEOUT_MS
from assignors.simulation.errors import KafkaError

Ids = Callable[[str], str]
"""`ids("client-1")` returns a new member id with that prefix."""

_FIRST_VERSION_OF_TWO_STEPS = 4
_FIRST_VERSION_OF_SKIPPED_PLANS = 9


def join(rebalance: Rebalance, ids: Ids, request: Join, answer: AnswerJoin) -> None:
    """Answer at once, or park the join until the join phase ends."""
    group = rebalance.group
    if not _has_room(rebalance, request.member_id):
        group.remove(request.member_id)
        answer(JoinReply(KafkaError.GROUP_MAX_SIZE_REACHED))
    elif group.state is State.DEAD:
        answer(JoinReply(KafkaError.COORDINATOR_NOT_AVAILABLE, request.member_id))
    elif not group.supports(request.protocol_type, [name for name, _ in request.protocols]):
        answer(JoinReply(KafkaError.INCONSISTENT_GROUP_PROTOCOL, request.member_id))
    elif not request.member_id:
        _join_new(rebalance, ids(request.instance_id or request.client_id), request, answer)
    elif request.member_id in group.pending_ids:
        _join_pending(rebalance, request, answer)
    else:
        _join_known(rebalance, request, answer)


def _has_room(rebalance: Rebalance, member_id: str) -> bool:
    group, max_size = rebalance.group, rebalance.settings.max_size
    if group.state is State.PREPARING_REBALANCE:
        # Counting parked joins refuses the last members when the group is larger than the limit.
        parked = member_id in group.members and group.members[member_id].parked_join is not None
        return parked or group.parked_joins < max_size
    if group.state in (State.COMPLETING_REBALANCE, State.STABLE):
        return member_id in group.members or len(group.members) < max_size
    return True


def _join_new(rebalance: Rebalance, new_id: str, request: Join, answer: AnswerJoin) -> None:
    if request.instance_id in rebalance.group.static_ids:
        _replace_static(rebalance, request.instance_id, new_id, request, answer)
    elif request.instance_id is None and request.version >= _FIRST_VERSION_OF_TWO_STEPS:
        rebalance.group.pending_ids.add(new_id)
        rebalance.watch(new_id, request.session_timeout_ms)
        answer(JoinReply(KafkaError.MEMBER_ID_REQUIRED, new_id))
    else:
        _add(rebalance, new_id, request, answer)


def _join_pending(rebalance: Rebalance, request: Join, answer: AnswerJoin) -> None:
    if request.instance_id is not None:
        # Kafka throws an IllegalStateException: an id from the first step is never that of a static member.
        answer(JoinReply(KafkaError.UNKNOWN_SERVER_ERROR, request.member_id))
    else:
        _add(rebalance, request.member_id, request, answer)


def _add(rebalance: Rebalance, member_id: str, request: Join, answer: AnswerJoin) -> None:
    group = rebalance.group
    if group.state is State.PREPARING_REBALANCE and group.previous_state is State.EMPTY:
        group.new_member_added = True
    member = Member.joining(request, member_id)
    group.add(member)
    group.park_join(member, answer)
    # It cannot send heartbeats yet, so a client that gave up looks like one that waits.
    rebalance.keep_alive(member, NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance.prepare_or_complete()


def _join_known(rebalance: Rebalance, request: Join, answer: AnswerJoin) -> None:
    group = rebalance.group
    error = group.validate(request.member_id, request.instance_id)
    if error is not KafkaError.NONE:
        answer(JoinReply(error, request.member_id))
    elif _changes_nothing(rebalance, request):
        answer(rebalance.current(request.member_id))
    else:
        _update(rebalance, group.members[request.member_id], request, answer)
        rebalance.prepare_or_complete()


def _changes_nothing(rebalance: Rebalance, request: Join) -> bool:
    group = rebalance.group
    # A Stable group's leader may know of new partitions, which its subscription does not show.
    leads_stable = group.state is State.STABLE and group.leader == request.member_id
    same = group.members[request.member_id].protocols == request.protocols
    return same and group.state is not State.PREPARING_REBALANCE and not leads_stable


def _update(rebalance: Rebalance, member: Member, request: Join, answer: AnswerJoin) -> None:
    rebalance.group.update(member, request.protocols, request.rebalance_timeout_ms, request.session_timeout_ms)
    rebalance.group.park_join(member, answer)


def _replace_static(rebalance: Rebalance, instance_id: str, new_id: str, request: Join, answer: AnswerJoin) -> None:
    group = rebalance.group
    old_leader = group.leader
    member = group.replace_static(instance_id, new_id)
    rebalance.keep_alive(member)
    _update(rebalance, member, request, answer)
    if group.state is State.COMPLETING_REBALANCE:
        rebalance.prepare()  # the leader may be assigning for the old id
    elif group.state is State.PREPARING_REBALANCE:
        rebalance.complete_if_all_joined()
    elif group.select_protocol() != group.protocol:
        rebalance.prepare_or_complete()
    else:
        _persist_new_id(rebalance, member, request, old_leader)


def _persist_new_id(rebalance: Rebalance, member: Member, request: Join, old_leader: str | None) -> None:
    """No rebalance: the group stays Stable with the same generation once the new id is persisted."""
    group = rebalance.group

    def persisted() -> None:
        reply, leads = rebalance.current(member.member_id), group.leader == member.member_id
        if request.version >= _FIRST_VERSION_OF_SKIPPED_PLANS:
            if not (leads and group.state in (State.PREPARING_REBALANCE, State.DEAD)):
                # Else Kafka fails to list the members (IllegalStateException), and the join is part of that rebalance.
                group.answer_join(member, replace(reply, skip_assignment=leads))
        else:
            # Old clients must not take themselves for the leader: they would assign without a rebalance.
            group.answer_join(member, replace(reply, leader=old_leader, members=()))

    assignments = {other.member_id: other.assignment for other in group.members.values()}
    rebalance.log.append([group.record(assignments)], persisted)
