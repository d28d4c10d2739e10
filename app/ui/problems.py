"""What could not be read, one line each."""

from app.ui import formats
from lag.model import ClusterSnapshot, Problem, Scope

_ICONS = {
    Scope.BROKER: "error",
    Scope.CLUSTER: "error",
    Scope.GROUP: "warning",
    Scope.TOPIC: "warning",
    Scope.PARTITION: "warning",
}


def problem_lines(snapshot: ClusterSnapshot, most: int = 5) -> list[tuple[str, str, str]]:
    """(icon, head, rest) per problem; topics without a leader share one line."""
    grouped: dict[tuple[str, Scope, str], list[Problem]] = {}
    for p in snapshot.problems:
        grouped.setdefault((p.kind, p.scope, "" if p.kind == "leaderless" else p.subject), []).append(p)
    lines = [_line(same) for same in grouped.values()]
    leaderless = [t for t in snapshot.topics.values() if t.leaderless]
    if leaderless and not any(p.kind == "leaderless" for p in snapshot.problems):
        n = sum(len(t.leaderless) for t in leaderless)
        names = formats.few([formats.code(t.name) for t in leaderless], 3)
        lines.append(("warning", f"{formats.plural(n, 'partition')} without a leader", f"in {names}: lag unknown"))
    extra = len(lines) - most
    return lines if extra <= 0 else [*lines[:most], ("more_horiz", f"{extra} more", "see the About page")]


def _line(same: list[Problem]) -> tuple[str, str, str]:
    p = same[0]
    icon = "lock" if p.is_refusal else _ICONS[p.scope]
    if p.scope in {Scope.BROKER, Scope.CLUSTER}:
        tail = f" ({formats.count(p.affected)} lags unknown)" if p.affected else ""
        return icon, formats.md(p.cause) + tail, formats.md(p.hint)
    names = formats.few([formats.code(q.subject) for q in same], 3)
    return icon, _head(p, len(same)), f"{names}: {formats.md(p.hint)}" if p.hint else names


def _head(p: Problem, topics: int) -> str:
    """The problem with its count. `topics` is the number of topics without a leader, each of which is a problem."""
    number = topics if p.kind == "leaderless" else p.affected or 1
    counted = formats.plural(number, p.scope.value)
    if number > 1 and p.is_refusal:
        return f"Not authorised for {counted}"
    return f"{counted} without a leader" if topics > 1 else f"{counted}: {formats.md(p.cause)}"
