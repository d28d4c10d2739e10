"""Suggestions for members that join a group: their names, and what they subscribe to."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from assignors.model import Member
from assignors.whatif.events import Join, Scenario

_NUMBERED = re.compile(r"^(.*?)(\d+)$")


def suggested_joins(scenario: Scenario, count: int, topics: tuple[str, ...], rack: str | None) -> list[Join]:
    """Joins of `count` members whose names continue those of the group: `checkout-4` after `checkout-3`.

    A real member id is the client id and a random part. Assignments depend on the order of ids, so the prediction holds
    as long as the client ids differ. The members subscribe by pattern if most members with these topics do.
    """
    there = scenario.members_ever()
    taken = {name for member in there for name in (member.member_id, member.instance_id, member.client_id) if name}
    names = _next_names([member.client_id or member.member_id for member in there], taken)
    made = [next(names) for _ in range(count)]
    pattern = _usual_pattern(there, topics)
    return [Join(Member(name, client_id=name, rack=rack, topics=topics, pattern=pattern)) for name in made]


def _usual_pattern(members: Iterable[Member], topics: tuple[str, ...]) -> str | None:
    """The pattern by which most members subscribe to exactly these topics; None: by name."""
    found = Counter(member.pattern for member in members if set(member.topics) == set(topics))
    return found.most_common(1)[0][0] if found else None


def _next_names(names: Sequence[str], taken: set[str]) -> Iterator[str]:
    numbered = [found for name in names if (found := _NUMBERED.match(name)) and len(found[2]) < 10]
    stem = max((found[1] for found in numbered), key=[found[1] for found in numbered].count, default="new-")
    number = max((int(found[2]) for found in numbered if found[1] == stem), default=0)
    while True:
        number += 1
        if (name := f"{stem}{number}") not in taken:
            yield name


def usual_topics(members: Iterable[Member]) -> tuple[str, ...]:
    """The most frequent subscription."""
    lists = [member.topics for member in members if member.topics]
    return max(set(lists), key=lambda topics: (lists.count(topics), topics), default=())
