"""What a poll could not read, one problem for each cause, so that it fits on a page."""

from collections.abc import Iterable
from dataclasses import replace

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.cluster.metadata import NO_LEADER, Metadata
from lag.cluster.requests import Wire
from lag.model import Problem, Scope

NAMES_SHOWN = 3


def of_brokers(wire: Wire, meta: Metadata, unlisted: list[Problem]) -> list[Problem]:
    """Failed brokers, what they lead, and coordinators that nobody can ask."""
    failed = {**{p.subject: p for p in unlisted}, **{str(node): p for node, p in wire.failed.items()}}
    counts = {node: sum(nodes.count(node) for nodes in meta.leaders.values()) for node in wire.failed}
    found = [replace(p, affected=counts.get(int(subject))) for subject, p in sorted(failed.items())]
    lost = [number for number, leader in enumerate(meta.leaders.get(OFFSETS_TOPIC, ())) if leader == NO_LEADER]
    if lost:
        cause = f"{len(lost)} of {len(meta.leaders[OFFSETS_TOPIC])} partitions of {OFFSETS_TOPIC} have no leader"
        hint = "Groups that they hold have no coordinator and are missing here; bring the broker back"
        found.append(Problem("coordinator_unavailable", Scope.CLUSTER, OFFSETS_TOPIC, cause, hint, len(lost)))
    found += [_leaderless(t.name, t.leaderless) for t in meta.topics.values() if t.leaderless and not t.internal]
    return found


def _leaderless(topic: str, partitions: tuple[int, ...]) -> Problem:
    listed = ", ".join(map(str, partitions[:10])) + (", …" if len(partitions) > 10 else "")
    cause = f"{len(partitions)} partitions have no leader ({listed})"
    hint = "Bring back a broker that holds a replica of them"
    return Problem("leaderless", Scope.TOPIC, topic, cause, hint, len(partitions))


def of_topics(denied: Iterable[str]) -> list[Problem]:
    """Topics that groups name and that we may not see."""
    cause = "not authorised to describe it: its end offsets are not known"
    return gathered(
        Problem("unauthorized", Scope.TOPIC, name, cause, f"Grant DESCRIBE on topic {name}") for name in denied
    )


def gathered(problems: Iterable[Problem]) -> list[Problem]:
    """Problems of single groups or topics as one for each kind and cause; `affected` counts the groups or topics."""
    alike: dict[tuple[str, str], list[Problem]] = {}
    for problem in sorted(problems, key=lambda problem: problem.subject):
        alike.setdefault((problem.kind, problem.cause), []).append(problem)
    return [_one_for(same) for same in alike.values()]


def _one_for(same: list[Problem]) -> Problem:
    first, count = same[0], len(same)
    if count == 1:
        return replace(first, affected=1)
    names = ", ".join(problem.subject for problem in same[:NAMES_SHOWN])
    more = f" and {count - NAMES_SHOWN:,} more" if count > NAMES_SHOWN else ""
    hint = first.hint.replace(f"{first.scope} {first.subject}", f"these {first.scope}s")
    return replace(first, subject=names + more, hint=hint, affected=count)
