"""What the stored history has of the verdicts before the first poll of a process, which continues from there."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lag.verdict.evidence import rule
from lag.verdict.health import Finding
from lag.verdict.openings.open_verdicts import OpenVerdicts
from lag.verdict.openings.verdict_state import VerdictState
from lag.verdict.rules.group_onsets import GroupOnsets
from lag.verdict.status import URGENCY, Status


@dataclass(frozen=True, slots=True)
class StoredVerdicts:
    """The last verdict of each group, without flapping.

    onsets       these verdicts, and since when they hold
    openings_ms  when verdicts opened lately, in ascending order, by the group's id
    """

    onsets: GroupOnsets = field(default_factory=GroupOnsets.none)
    openings_ms: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def open_verdicts(self) -> OpenVerdicts:
        """The verdicts as the process that stored them left them, without polls that did not find an open verdict."""
        states = {name: self._state(at) for at, name in enumerate(self.onsets.groups)}
        return OpenVerdicts({name: its for name, its in states.items() if not its.is_calm}, frozenset(states))

    def _state(self, at: int) -> VerdictState:
        status, openings_ms = URGENCY[self.onsets.status[at]], self.openings_ms.get(self.onsets.groups[at], ())
        if status is Status.OK:
            return VerdictState(openings_ms=openings_ms)
        last = Finding(status, rule(status), "found before the start of this server", self.onsets.onsets.at(at))
        return VerdictState(status, 1, status, last_finding=last, openings_ms=openings_ms)
