"""Checks of heartbeats: those of GroupCoordinatorService, and fencing by epoch."""

from assignors.simulation.consumer.members import Member
from assignors.simulation.consumer.messages import JOINING, LEAVING, LEAVING_FOR_A_WHILE, Heartbeat
from assignors.simulation.errors import KafkaError, Refused

_FIRST_VERSION_OF_OWN_IDS = 1


def check(request: Heartbeat, assignors: tuple[str, ...]) -> None:
    """Raises Refused: INVALID_REQUEST or UNSUPPORTED_ASSIGNOR."""
    needs_id = request.version >= _FIRST_VERSION_OF_OWN_IDS or request.epoch > JOINING or request.epoch == LEAVING
    is_valid = (
        (request.member_id.strip() or not needs_id)
        and (request.instance_id is None or request.instance_id.strip())
        and request.epoch >= LEAVING_FOR_A_WHILE
        and (request.epoch != LEAVING_FOR_A_WHILE or request.instance_id is not None)
        and (request.epoch != JOINING or _says_all(request))
    )
    if not is_valid:
        raise Refused(KafkaError.INVALID_REQUEST)
    if request.assignor is not None and request.assignor not in assignors:
        raise Refused(KafkaError.UNSUPPORTED_ASSIGNOR)


def _says_all(request: Heartbeat) -> bool:
    """Whether a member that joins says what it must, and owns nothing."""
    subscribes = request.topics is not None or request.regex is not None
    return request.rebalance_timeout_ms is not None and request.owned == frozenset() and subscribes


def check_epoch(member: Member, request: Heartbeat) -> None:
    """Raises Refused (FENCED_MEMBER_EPOCH), unless the member only missed the last reply."""
    if request.epoch in (JOINING, member.epoch):
        return
    owned, before = request.owned, request.epoch == member.previous_epoch < member.epoch
    if not before or owned is None or not owned <= member.assigned.keys():
        raise Refused(KafkaError.FENCED_MEMBER_EPOCH)


def check_release(member: Member) -> None:
    """Raises Refused (UNRELEASED_INSTANCE_ID) while a static member has not left: it is not replaced."""
    if member.epoch != LEAVING_FOR_A_WHILE:
        raise Refused(KafkaError.UNRELEASED_INSTANCE_ID)


def known_static(member: Member | None, member_id: str) -> Member:
    """Raises Refused: UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID when another member has that instance id."""
    if member is None:
        raise Refused(KafkaError.UNKNOWN_MEMBER_ID)
    if member.member_id != member_id:
        raise Refused(KafkaError.FENCED_INSTANCE_ID)
    return member
