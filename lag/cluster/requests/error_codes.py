"""Error codes in the answers of brokers, as problems. kafka-python knows their classes (`kafka.errors`)."""

from collections.abc import Collection

from kafka.errors import (
    AuthorizationError,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    GroupAuthorizationFailedError,
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    InvalidGroupIdError,
    LeaderNotAvailableError,
    NonEmptyGroupError,
    NotCoordinatorError,
    NotLeaderForPartitionError,
    ReplicaNotAvailableError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    for_code,
)

from lag.model import TOPICS_UNAUTHORIZED, UNAUTHORIZED, Problem, Scope
from lag.offsets import PartitionProblem

_PARTITION_PROBLEMS = {
    PartitionProblem.UNAUTHORIZED: AuthorizationError,
    PartitionProblem.LEADERLESS: (LeaderNotAvailableError, NotLeaderForPartitionError, ReplicaNotAvailableError),
    PartitionProblem.TOPIC_DELETED: (UnknownTopicOrPartitionError, UnknownTopicIdError),
    PartitionProblem.TIMEOUT: RequestTimedOutError,
}


def error_name(code: int) -> str:
    """kafka-python's name of an error."""
    return str(for_code(code).__name__)


def is_unauthorized(code: int) -> bool:
    """Whether an ACL is missing."""
    return issubclass(for_code(code), AuthorizationError)


def partition_problem(code: int) -> PartitionProblem:
    """The error of a partition as the reason why its offset is unknown."""
    error = for_code(code)
    return next((p for p, kinds in _PARTITION_PROBLEMS.items() if issubclass(error, kinds)), PartitionProblem.ERROR)


def group_problem(group_id: str, code: int) -> Problem:
    """Why a coordinator does not describe a group or return its offsets."""
    error = for_code(code)
    if issubclass(error, TopicAuthorizationFailedError):
        cause = "its members cannot be read: not authorised to describe a topic that they subscribe to"
        return Problem(TOPICS_UNAUTHORIZED, Scope.GROUP, group_id, cause, "Grant DESCRIBE on the group's topics")
    if issubclass(error, AuthorizationError):
        cause = "not authorised to describe it"
        return Problem(UNAUTHORIZED, Scope.GROUP, group_id, cause, f"Grant DESCRIBE on group {group_id}")
    if issubclass(error, (GroupIdNotFoundError, InvalidGroupIdError)):
        return Problem("gone", Scope.GROUP, group_id, "it was deleted, or changed its type, during the poll")
    return Problem("undescribed", Scope.GROUP, group_id, f"its coordinator returned {error_name(code)}")


_NOT_READY = (CoordinatorLoadInProgressError, CoordinatorNotAvailableError, NotCoordinatorError)

_CHANGE_PROBLEMS = {
    UnknownTopicOrPartitionError: "the topic or partition does not exist, so nothing was changed",
    GroupSubscribedToTopicError: "members of the group are subscribed to the topic: stop them first",
    NonEmptyGroupError: "the group has members: stop them first",
    UnknownMemberIdError: "members are active, and only they may commit: stop them first",
    GroupIdNotFoundError: "the group does not exist",
}


def change_problem(code: int, group_id: str, operation: str = "READ", topic: str = "") -> str:
    """Why a coordinator refuses what needs `operation` on the group and READ on the topic, and what to do."""
    error = for_code(code)
    if issubclass(error, GroupAuthorizationFailedError):
        return f"not authorised: grant {operation} on group {group_id}"
    if issubclass(error, TopicAuthorizationFailedError):
        return f"not authorised: grant READ on topic {topic}"
    known = (text for kind, text in _CHANGE_PROBLEMS.items() if issubclass(error, kind))
    return next(known, f"the coordinator returned {error_name(code)}")


class CoordinatorNotReady(Exception):
    """A coordinator is loading, is not there yet, or has moved: the same request may succeed soon. Nothing was done."""


def is_not_ready(code: int) -> bool:
    """Whether a coordinator is loading, is not there yet, or has moved."""
    return issubclass(for_code(code), _NOT_READY)


def raise_if_not_ready(codes: Collection[int]) -> None:
    """Raise CoordinatorNotReady if every one of the codes says so."""
    if codes and all(map(is_not_ready, codes)):
        raise CoordinatorNotReady(error_name(next(iter(codes))))
