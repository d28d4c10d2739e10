"""Subscriptions by pattern: which topics match, in RE2's syntax.

The broker matches with RE2J (KIP-848), Kafka's client with `java.util.regex` (classic protocol), which has more syntax.
RE2 matches in linear time, so that no user's pattern can block us.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import re2

from assignors.model import AssignorError, Member

_INVALID = "This is not a valid RE2 expression, and Kafka's brokers use RE2 (INVALID_REGULAR_EXPRESSION)."

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """The compiled pattern, as of `re`. Raises AssignorError, with Kafka's name of the error, if RE2 refuses it."""
    try:
        return re2.compile(pattern, _OPTIONS)
    except (re2.error, UnicodeEncodeError):
        raise AssignorError(_INVALID) from None


def matching(pattern: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that match as a whole, sorted. Raises AssignorError as `compiled` does."""
    return _matching(pattern, tuple(names))


@lru_cache(maxsize=2048)  # a group asks for the same again with each member and each rebalance
def _matching(pattern: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(filter(compiled(pattern).fullmatch, names)))


def resolved(member: Member, names: Iterable[str]) -> Member:
    """The member with the topics that its pattern matches among these; unchanged if it subscribes by name."""
    if member.pattern is None:
        return member
    topics = matching(member.pattern, names)
    return member if topics == member.topics else replace(member, topics=topics)
