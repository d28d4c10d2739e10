"""From what was looked at during a fault to what its row says."""

import re
from collections.abc import Mapping, Sequence

from lag.history.store import History
from tests.reliability.dashboard import Look
from tests.reliability.truth import MOVING, Group, verdicts
from tests.reliability.workload import READS, STUCK

_PORT = re.compile(r"(127\.0\.0\.1|localhost):\d+")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
_PATH = re.compile(r"/\S*/history\b")
_LOGGED = re.compile(r"^[\d-]+ [\d:.]+ [A-Z]+ [\w.]+: ")
_MOST_PROBLEMS = 2
_LONGEST = 120
_NO_VERDICT = frozenset({None, "unknown"})
_HALTED = frozenset({"falling_behind", "stopped", "stalled", "no_members"})
"""What `reads` may truly be while its own brokers are gone."""

_EXPELLED = frozenset({"no_members"})
"""And `stuck`: its coordinator may have waited in vain for its member, and Kafka may not answer us just then."""


def is_right(look: Look, truth: Mapping[str, Group]) -> bool:
    """A complete answer: all groups, their verdicts, and the lag of those that rest."""
    return not shortcomings(look, truth)


def shortcomings(look: Look, truth: Mapping[str, Group]) -> list[str]:
    """What is not right, or not known."""
    found = [*look.problems, *([] if look.ready else [f"not ready: {look.reason}"])]
    found += [f"not shown: {name}" for name in truth.keys() - look.groups.keys()]
    found += [f"shown: {name}" for name in look.groups.keys() - truth.keys()]
    both = truth.keys() & look.groups.keys()
    shown = {name: look.groups[name] for name in both if not _agrees(look.groups[name], name, truth[name])}
    return found + [f"{name} {its['verdict']}, lag {its['lag']}" for name, its in sorted(shown.items())]


def _agrees(shown: Mapping[str, object], name: str, its: Group) -> bool:
    return shown["verdict"] in verdicts(name, its) and (not its.rests or shown["lag"] == its.lag)


def wrong_verdicts(looks: Sequence[Look], truths: Sequence[Mapping[str, Group]]) -> set[tuple[str, object]]:
    """Verdicts that were true at no time, and groups that were not shown though they were there all the time."""
    allowed = {name: _allowed(name, truths) for name in set[str]().union(*truths)}
    shown = {(name, group["verdict"]) for look in looks for name, group in look.groups.items()}
    always = set.intersection(*map(set, truths))
    gone = {(name, "not shown") for look in looks if look.groups for name in always - look.groups.keys()}
    return gone | {(name, verdict) for name, verdict in shown if verdict not in allowed.get(name, {verdict})}


def _allowed(name: str, truths: Sequence[Mapping[str, Group]]) -> frozenset[object]:
    halted = {READS: MOVING | _HALTED, STUCK: _EXPELLED}.get(name, frozenset[str]())
    return _NO_VERDICT.union(halted, *(verdicts(name, truth[name]) for truth in truths if name in truth))


def summary(looks: Sequence[Look], log: str = "") -> str:
    """A sentence or two for the table: from what was looked at, and what the server logged of its history."""
    parts = [f"not ready ({_short(look.reason)})" for look in looks if not look.ready and look.reason][:1]
    counts = [len(look.groups) for look in looks]
    parts += [f"{min(counts)} of {max(counts)} groups"] if min(counts) < max(counts) else []
    problems = dict.fromkeys(_plain(cause) for look in looks for cause in look.problems)
    parts += [f"“{_short(cause)}”" for cause in list(problems)[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        parts.append(f"{len(problems) - _MOST_PROBLEMS} more")
    parts += [f"log: “{_short(line)}”" for line in log.splitlines() if "history" in line.lower()][:1]
    return "; ".join(parts) or "nothing: all verdicts right, ready"


def _short(text: str | None) -> str:
    plain = _plain(text)
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}…"


def _plain(text: str | None) -> str:
    return _LOGGED.sub("", _PATH.sub("HISTORY", _TIME.sub("TIME", _PORT.sub("BROKER", text or ""))))


def answered(looks: Sequence[Look]) -> bool:
    """Page, metrics and API, every time."""
    return all(look.page == look.metrics == 200 and look.cluster for look in looks)


def history_faults(history: History, looks: Sequence[Look]) -> tuple[int, int]:
    """Rows of groups at the polls seen: how many are missing, how many too many."""
    polls = {look.poll_ms: set(look.groups) for look in looks if look.groups}
    return missing_and_doubled(stored_groups(history, min(polls), max(polls)), polls)


def missing_and_doubled(stored: Sequence[tuple[int, str]], polls: Mapping[int, set[str]]) -> tuple[int, int]:
    """`stored` are (time of a poll, group) of each row; `polls` the groups that each poll showed."""
    missing = sum((at_ms, group) not in set(stored) for at_ms, groups in polls.items() for group in groups)
    return missing, len(stored) - len(set(stored))


def stored_groups(history: History, from_ms: int, until_ms: int) -> list[tuple[int, str]]:
    """The rows of `group_snapshots` in that time."""
    found = history.query("SELECT poll_ts, group_id FROM group_snapshots", "group_snapshots")
    times = (found["poll_ts"].to_numpy().astype("datetime64[ms]").astype("int64")).tolist()
    rows = zip(times, found["group_id"].to_pylist(), strict=True)
    return [(at_ms, group) for at_ms, group in rows if from_ms <= at_ms <= until_ms]
