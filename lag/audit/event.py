"""One line of the audit log."""

import json
from dataclasses import asdict, dataclass, fields
from enum import StrEnum

MOST_TEXT = 2_000
"""Characters of a text; more are cut off."""


class Outcome(StrEnum):
    """How it ended."""

    STARTED = "started"  # how it ends is in a later event with the same plan
    OK = "ok"
    REFUSED = "refused"  # nothing was done
    FAILED = "failed"  # something may have been done: `detail` says what


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """What somebody did, or was refused. Never with a secret.

    `actor` is the user, `token NAME`, or the account of whoever ran a command; None: not known. `address` is where it
    came from, "" on this machine. `action` is a short word, such as `login`, `request`, `reset`, `roles`. `plan_id`
    names a plan that was carried out. `detail` is a sentence.
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

    def line(self) -> str:
        """The event as one line of JSON."""
        texts = {name: value[:MOST_TEXT] if isinstance(value, str) else value for name, value in asdict(self).items()}
        return json.dumps(texts, separators=(",", ":"))


def event_of(line: str) -> AuditEvent | None:
    """The event in a line; None for a line that is none, such as one that was cut off by a crash."""
    try:
        read = json.loads(line)
        known = {field.name: read[field.name] for field in fields(AuditEvent) if field.name in read}
        return AuditEvent(**{**known, "outcome": Outcome(read["outcome"])})
    except (KeyError, TypeError, ValueError):
        return None
