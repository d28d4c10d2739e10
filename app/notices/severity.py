"""How serious a verdict is for the person on call."""

from collections.abc import Mapping
from enum import IntEnum

from lag.verdict.status import Status


class Severity(IntEnum):
    """A higher number is more serious."""

    INFO = 1
    WARNING = 2
    CRITICAL = 3

    @property
    def word(self) -> str:
        """As in the file and in messages: `critical`."""
        return self.name.lower()


SEVERITIES: Mapping[str, Severity] = {severity.word: severity for severity in Severity}

UNDECIDED = frozenset({Status.UNKNOWN, Status.WATCHING})
"""Verdicts that neither begin an incident nor end it."""

SEVERITY: Mapping[Status, Severity] = dict.fromkeys(set(Status) - UNDECIDED - {Status.OK}, Severity.WARNING) | {
    Status.STOPPED: Severity.CRITICAL,
    Status.STALLED: Severity.CRITICAL,
    Status.LOST: Severity.CRITICAL,
    Status.BEYOND_END: Severity.CRITICAL,
    Status.NO_MEMBERS: Severity.INFO,
    Status.CATCHING_UP: Severity.INFO,
    Status.TOPIC_DELETED: Severity.INFO,
}
"""Without OK, which ends an incident, and UNDECIDED."""
