"""What people call the members of a group: ids are for machines."""

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

MOST_LETTERS = 32
"""Longer names are cut in the middle: a headline with ids of 249 letters says nothing."""


class Named(Protocol):
    """A member, live or of a scenario."""

    @property
    def member_id(self) -> str: ...
    @property
    def instance_id(self) -> str | None: ...
    @property
    def client_id(self) -> str | None: ...


def name_of(member: Named) -> str:
    """The instance id, else the client id, else the member id."""
    return member.instance_id or member.client_id or member.member_id


def member_names(members: Iterable[Named]) -> dict[str, str]:
    """Member id -> its name; with the end of the id where several have one name, and the id where that is not enough.

    A member that is there several times, as in several generations, counts once.
    """
    wanted = {member.member_id: name_of(member) for member in members}
    seen = Counter(wanted.values())
    longer = {id_: name if seen[name] == 1 else f"{name}…{id_[-4:]}" for id_, name in wanted.items()}
    seen = Counter(longer.values())
    return {id_: name if seen[name] == 1 else id_ for id_, name in longer.items()}
