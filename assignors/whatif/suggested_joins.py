"""Suggestions for members that join a group: their names, and what they subscribe to."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from assignors.model import Member
from assignors.whatif.events import Join, Scenario

_NUMBERED = re.compile(r"^(.*?)(\d+)$")


def suggested_joins(scenario: Scenario, count: int, topics: tuple[str, ...], rack: str | None) -> list[Join]:
    """Joins of so many members, named as the next ones of the group would be.

    `checkout-3` is followed by `checkout-4`. A real consumer's member id is its client id and a random part, so where
    the names differ before it, the order of ids, on which plans depend, is the one predicted here. They subscribe by
    the pattern of those that have these topics by one.
    """
    there = scenario.members_ever()
    taken = {name for member in there for name in (member.member_id, member.instance_id, member.client_id) if name}
    names = _fresh_names([member.client_id or member.member_id for member in there], taken)
    made = [next(names) for _ in range(count)]
    pattern = _usual_pattern(there, topics)
    return [Join(Member(name, client_id=name, rack=rack, topics=topics, pattern=pattern)) for name in made]


def _usual_pattern(members: Iterable[Member], topics: tuple[str, ...]) -> str | None:
    """How most members subscribe to just these topics: by this pattern, or (None) by name."""
    found = Counter(member.pattern for member in members if set(member.topics) == set(topics))
    return found.most_common(1)[0][0] if found else None


def _fresh_names(names: Sequence[str], taken: set[str]) -> Iterator[str]:
    numbered = [found for name in names if (found := _NUMBERED.match(name)) and len(found[2]) < 10]
    stem = max((found[1] for found in numbered), key=[found[1] for found in numbered].count, default="new-")
    number = max((int(found[2]) for found in numbered if found[1] == stem), default=0)
    while True:
        number += 1
        if (name := f"{stem}{number}") not in taken:
            yield name


def usual_topics(members: Iterable[Member]) -> tuple[str, ...]:
    """The subscription most members have."""
    lists = [member.topics for member in members if member.topics]
    return max(set(lists), key=lambda topics: (lists.count(topics), topics), default=())
