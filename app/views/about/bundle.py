"""The attachment of a bug report: what helps to find a fault, without the names of groups, topics and hosts.

Names become short hashes, equal for equal names within one bundle. No offset, member or record is in it.
"""

import hashlib
import json
import platform
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lag.model import ClusterSnapshot, Problem, Scope

if TYPE_CHECKING:
    from lag.polling.report import CollectorStatus, Report

Hide = Callable[[str], str]


def build(
    report: "Report", status: "CollectorStatus", versions: Mapping[str, str], settings: Mapping[str, str]
) -> bytes:
    """The bundle as one JSON document."""
    hide, snapshot = _hider(), report.snapshot
    found = {
        "bundle": 1,
        "versions": dict(versions),
        "platform": platform.platform(),
        "settings": {key: value for key, value in settings.items() if not _names_something(key)},
        "collector": {
            "interval_s": status.interval_s,
            "polls": status.polls,
            "took_s": status.took_s,
            "consecutive_failures": status.consecutive_failures,
            "error": None if status.error is None else type(status.error).__name__,
        },
        "snapshot": _snapshot(snapshot, hide),
        "verdicts": Counter(health.finding.status.value for health in report.health.groups),
    }
    return json.dumps(found, indent=1, sort_keys=True).encode()


def _hider() -> Hide:
    salt = secrets.token_bytes(16)
    return lambda name: hashlib.blake2s(name.encode(), key=salt, digest_size=4).hexdigest()


def _names_something(key: str) -> bool:
    """Settings whose values are addresses, paths or people."""
    return any(
        part in key for part in ("servers", "location", "username", "path", "principal", "url", "config", "name")
    )


def _snapshot(snapshot: ClusterSnapshot, hide: Hide) -> dict[str, Any]:
    return {
        "number": snapshot.number,
        "took_s": round(snapshot.took_s, 3),
        "complete": snapshot.complete,
        "groups": len(snapshot.groups),
        "topics": len(snapshot.topics),
        "group_partitions": len(snapshot.offsets),
        "partitions": len(snapshot.offsets.ends),
        "types": Counter(group.type.value for group in snapshot.groups),
        "states": Counter(group.state for group in snapshot.groups),
        "problems": [_problem(problem, hide) for problem in snapshot.problems[:100]],
        "brokers": [
            {
                "node": b.node_id,
                "version": b.version,
                "requests": b.requests,
                "busy_s": round(b.busy_s, 3),
                "failed": b.error is not None,
            }
            for b in snapshot.brokers
        ],
    }


def _problem(problem: Problem, hide: Hide) -> dict[str, Any]:
    """Causes name hosts, groups and topics, so only the kind is included."""
    subject = problem.subject if problem.scope == Scope.BROKER else hide(problem.subject)
    return {"kind": problem.kind, "scope": problem.scope.value, "subject": subject, "affected": problem.affected}
