"""The problems of groups or topics, one per cause."""

from collections.abc import Iterable
from dataclasses import replace

from lag.model import UNAUTHORIZED, Problem, Scope

NAMES_SHOWN = 3


def merged(problems: Iterable[Problem]) -> list[Problem]:
    """Problems of groups or topics, merged by kind and cause; `affected` counts the groups or topics."""
    by_cause: dict[tuple[str, str], list[Problem]] = {}
    for problem in sorted(problems, key=lambda problem: problem.subject):
        by_cause.setdefault((problem.kind, problem.cause), []).append(problem)
    return [_merge(same) for same in by_cause.values()]


def _merge(same: list[Problem]) -> Problem:
    first, count = same[0], len(same)
    if count == 1:
        return replace(first, affected=1)
    names = ", ".join(problem.subject for problem in same[:NAMES_SHOWN])
    more = f" and {count - NAMES_SHOWN:,} more" if count > NAMES_SHOWN else ""
    hint = first.hint.replace(f"{first.scope} {first.subject}", f"these {first.scope}s")
    return replace(first, subject=names + more, hint=hint, affected=count)


def of_topics(denied: Iterable[str]) -> list[Problem]:
    """Topics that groups use and that we may not describe."""
    cause = "not authorised to describe it: its log end is unknown"
    return merged(Problem(UNAUTHORIZED, Scope.TOPIC, name, cause, f"Grant DESCRIBE on topic {name}") for name in denied)
