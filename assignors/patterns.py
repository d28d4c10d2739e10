"""Subscriptions by pattern: which topics match, and which patterns all engines read in the same way.

Kafka's client matches with `java.util.regex` (classic protocol), the broker with RE2J (KIP-848). Here Python's `re`
matches. Syntax that one of the three does not support is refused, such as `\\pL`, `\\Q...\\E`, `[[:alpha:]]` and
look-aheads.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from assignors.model import AssignorError, Member

_ONLY_ONE_KNOWS = re.compile(r"\\[1-9ZNuU]|\[\[:")
"""Back references, escapes of Python only, and character classes such as `[[:alpha:]]`, which Python misreads."""

_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]")
_ONLY_PYTHON_KNOWS = re.compile(r"\(\?(?!:|P<|[ims-]+[:)])|[*+?}]\+")
"""Look-arounds, conditions, comments, and possessive quantifiers."""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """The compiled pattern. Raises AssignorError, with Kafka's name of the error, if RE2 does not accept it."""
    if _ONLY_ONE_KNOWS.search(pattern) or _ONLY_PYTHON_KNOWS.search(_ATOM.sub("x", pattern)):
        raise AssignorError(_INVALID)
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise AssignorError(_INVALID) from error


_INVALID = "This is not a valid RE2 expression, and Kafka's brokers use RE2 (INVALID_REGULAR_EXPRESSION)."


_REPEATED_GROUP = re.compile(r"\)[*+?{]")
MOST_REPEATS, MOST_ALTERNATIVES = 2, 4


def is_quick(pattern: str) -> bool:
    """Whether all engines support the pattern, and Python matches it with any topic's name in milliseconds.

    RE2 matches in linear time, Python does not: some patterns of a cluster's users would take forever. So groups must
    not be repeated, and the numbers of repetitions and alternatives are limited.
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
    """The member with the topics that its pattern matches among these; unchanged if it subscribes by name."""
    if member.pattern is None:
        return member
    topics = matching(member.pattern, names)
    return member if topics == member.topics else replace(member, topics=topics)
