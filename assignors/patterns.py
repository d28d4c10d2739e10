"""Subscriptions by pattern: which topics match, and which patterns mean the same to everybody.

Kafka's client matches with `java.util.regex` (classic protocol), the broker with RE2J (KIP-848). Here Python's `re`
does: what not all three know is refused, so a few expressions (`\\pL`, `\\Q...\\E`, `[[:alpha:]]`, look-aheads) are
not to be had.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from assignors.model import AssignorError, Member

_ONLY_ONE_KNOWS = re.compile(r"\\[1-9ZNuU]|\[\[:")
"""Back references, escapes of Python's own, and RE2's classes of classes, which Python would read as something else."""

_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]")
_ONLY_PYTHON_KNOWS = re.compile(r"\(\?(?!:|P<|[ims-]+[:)])|[*+?}]\+")
"""Looks around, conditions, comments, and repetitions that never give back."""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """Raises AssignorError on what RE2 does not take, by Kafka's name of that error."""
    if _ONLY_ONE_KNOWS.search(pattern) or _ONLY_PYTHON_KNOWS.search(_ATOM.sub("x", pattern)):
        raise AssignorError(_INVALID)
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise AssignorError(_INVALID) from error


_INVALID = "This is no expression of RE2, which Kafka's brokers match with (INVALID_REGULAR_EXPRESSION)."


_REPEATED_GROUP = re.compile(r"\)[*+?{]")
MOST_REPEATS, MOST_ALTERNATIVES = 2, 4


def is_quick(pattern: str) -> bool:
    """Whether everybody knows the expression, and Python matches it to any topic's name in milliseconds.

    RE2's time is linear in what it matches, Python's is not: a few expressions of somebody else's would never end. So
    no group is repeated, and what is repeated or has alternatives is counted.
    """
    try:
        compiled(pattern)
    except AssignorError:
        return False
    bare = _ATOM.sub("x", pattern)
    repeats = sum(map(bare.count, "*+?{"))
    choices = bare.count("|") if "(" in bare else 0
    return not _REPEATED_GROUP.search(bare) and repeats <= MOST_REPEATS and choices <= MOST_ALTERNATIVES


def matching(pattern: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that match as a whole, sorted. Raises AssignorError as `compiled` does."""
    return tuple(sorted(filter(compiled(pattern).fullmatch, names)))


def resolved(member: Member, names: Iterable[str]) -> Member:
    """The member with the topics that its pattern matches among these; itself when it subscribes by name."""
    if member.pattern is None:
        return member
    topics = matching(member.pattern, names)
    return member if topics == member.topics else replace(member, topics=topics)
