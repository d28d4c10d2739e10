"""Short names for the members of a group."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Protocol

MAX_NAME_LENGTH = 32
"""Longer names are cut in the middle: ids have up to 249 characters."""

LANE_NAME_LENGTH = 16
"""Longer names do not fit beside a lane of a picture: they lose the words that all members share."""


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
    """Member id -> name, without the first words that all share: `loader-1` of `warehouse-loader-1`.

    Equal names get the end of the member id; if still equal, the name is the member id. A member that occurs several
    times, for example in several generations, counts once.
    """
    wanted = {member.member_id: name_of(member) for member in members}
    shared = _shared_length(set(wanted.values()))
    return _distinct({id_: name[shared:] for id_, name in wanted.items()})


def full_member_names(members: Iterable[Named]) -> dict[str, str]:
    """Member id -> name, as in `member_names` but with all its words: for files, which other programs read."""
    return _distinct({member.member_id: name_of(member) for member in members})


def _distinct(wanted: dict[str, str]) -> dict[str, str]:
    seen = Counter(wanted.values())
    longer = {id_: name if seen[name] == 1 else f"{name}…{id_[-4:]}" for id_, name in wanted.items()}
    seen = Counter(longer.values())
    return {id_: name if seen[name] == 1 else id_ for id_, name in longer.items()}


def _shared_length(names: set[str]) -> int:
    """The length of the whole words that all names begin with; 0 for short names. What is left begins with a letter."""
    if len(names) < 2 or max(map(len, names)) <= LANE_NAME_LENGTH:
        return 0
    one = min(names)
    ends = [found.end() for found in re.finditer(r"[-_.:/]", one)]
    shared = [end for end in ends if all(name.startswith(one[:end]) and name[end:][:1].isalpha() for name in names)]
    return max(shared, default=0)
