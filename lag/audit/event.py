"""One line of the audit log."""

import json
import secrets
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from pydantic import TypeAdapter

MOST_TEXT = 2_000
"""Characters of one text; longer ones are cut off."""
LAST_MS = 253_402_300_799_999
"""The end of the year 9999, the latest that Python's datetime can hold."""


class Outcome(StrEnum):
    """How it ended."""

    STARTED = "started"  # how it ends is in a later event with the same plan
    OK = "ok"
    REFUSED = "refused"  # nothing was done
    FAILED = "failed"  # something may have been done: `detail` says what


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """What someone did or was refused. It never holds a secret.

    `actor` is the user, `token NAME`, or the account that ran a command; None: not known. `address` is where the
    request came from, "" on this machine. `action` is a short word, such as `login`, `request`, `reset`, `roles`.
    `plan_id` names a plan that was carried out. `detail` is a sentence. `event_id` is unique.
    """

    at_ms: int
    action: str
    outcome: Outcome
    actor: str | None = None
    address: str = ""
    cluster: str | None = None
    group: str | None = None
    plan_id: str | None = None
    detail: str = ""
    event_id: str = field(default_factory=lambda: secrets.token_hex(8), compare=False)

    def document(self) -> dict[str, Any]:
        """The event with long texts cut off."""
        return {name: _cut(value) if isinstance(value, str) else value for name, value in asdict(self).items()}

    def line(self) -> str:
        """The event as one line of JSON."""
        return json.dumps(self.document(), separators=(",", ":"))


def _cut(text: str) -> str:
    """At most MOST_TEXT characters. Half a surrogate pair, as in an argument that is not UTF-8, becomes "?"."""
    return text[:MOST_TEXT].encode(errors="replace").decode()


_EVENT = TypeAdapter(AuditEvent)


def event_of(line: str) -> AuditEvent | None:
    """The event in a line; None if the line holds none, such as one that a crash cut off."""
    try:
        read = json.loads(line)
        read.setdefault("event_id", sha256(line.strip().encode()).hexdigest()[:16])  # a line of an earlier version
        event = _EVENT.validate_python(read)
    except (AttributeError, RecursionError, ValueError):
        return None
    return event if 0 <= event.at_ms <= LAST_MS else None
