"""Calls any assignor, plugins included; every failure becomes an AssignorError."""

from collections.abc import Sequence

from assignors.contract import check
from assignors.layout import PartitionList
from assignors.model import Assignment, Assignor, AssignorError, Group, TopicPartition
from assignors.registry import BUILT_IN, get

SHOWN = 5


def plan(assignor: Assignor, group: Group) -> Assignment:
    """The assignor's assignment of the group; an empty one, without a call, if there are no members.

    Assignments of plugins are checked by `assignors.contract`. Raises AssignorError when the assignor raises anything
    or its assignment breaks the contract. An assignor that never returns is not stopped.
    """
    if not group.members:
        return Assignment(None, {})
    is_built_in = assignor.name in BUILT_IN and type(assignor) is type(get(assignor.name))
    return assignor.assign(group) if is_built_in else _checked(assignor, group)


def _checked(assignor: Assignor, group: Group) -> Assignment:
    try:
        made = assignor.assign(group)
        broken = check(group, made)
    except (Exception, SystemExit) as error:  # a plugin may raise anything
        raise AssignorError(f"The assignor {assignor.name!r} raised {type(error).__name__}: {error}") from error
    if broken:
        more = f" And {len(broken) - SHOWN} more." if len(broken) > SHOWN else ""
        raise AssignorError(f"The plan of {assignor.name!r} is broken. {' '.join(broken[:SHOWN])}{more}")
    return Assignment(made.generation, {who: _frozen(part) for who, part in made.by_member.items()})


def _frozen(part: Sequence[TopicPartition]) -> Sequence[TopicPartition]:
    """A copy that the assignor cannot change later."""
    return part if isinstance(part, PartitionList) else tuple(part)
