"""The health of a snapshot as its policy shows it: with the verdicts that are open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lag.lazy_sequence import LazySequence
from lag.offsets import UNKNOWN
from lag.verdict.health import Finding, GroupColumns, GroupHealth, Health
from lag.verdict.onset import SOURCE_CODE, OnsetColumns, OnsetSource
from lag.verdict.policy import Policy
from lag.verdict.status import STATUS_CODE, TOO_EARLY, Status
from lag.verdict.verdict_state import VerdictState

_NO_VERDICT = (TOO_EARLY, STATUS_CODE[Status.UNKNOWN])


@dataclass(frozen=True, slots=True)
class OpenVerdicts:
    """What the polls left of each group, by its id; groups where nothing is open or found are left out."""

    states: Mapping[str, VerdictState] = field(default_factory=dict)

    def after(self, health: Health, policy: Policy) -> tuple["OpenVerdicts", Health]:
        """With the verdicts of the next poll; and these as the policy shows them."""
        if policy.shows_every_poll:
            return OpenVerdicts(), health
        states: dict[str, VerdictState] = {}
        shown: dict[int, Finding] = {}
        for number in self._changing(health):
            group_id = health.snapshot.groups[number].group_id
            state, its = self.states.get(group_id, VerdictState()), policy.of(group_id)
            if health.columns.status[number] not in _NO_VERDICT:
                finding = health.groups[number].finding
                state = state.after(finding, health.snapshot.at_ms, its)
                if (made := state.shown(finding, its)) is not finding:
                    shown[number] = made
            if not state.is_calm:
                states[group_id] = state
        return OpenVerdicts(states), _with_findings(health, shown)

    def _changing(self, health: Health) -> list[int]:
        """Groups that are not ok, or were not."""
        found = np.flatnonzero(health.columns.status != STATUS_CODE[Status.OK]).tolist()
        by_group = health.snapshot.by_group
        return sorted({*found, *(by_group[group_id] for group_id in self.states if group_id in by_group)})


def _with_findings(health: Health, findings: Mapping[int, Finding]) -> Health:
    if not findings:
        return health
    return replace(health, groups=_Groups(health.groups, findings), columns=_with_columns(health.columns, findings))


def _with_columns(columns: GroupColumns, findings: Mapping[int, Finding]) -> GroupColumns:
    """The columns with the statuses and onsets of `findings`, by the number of the group."""
    at, onsets = list(findings), [finding.onset for finding in findings.values()]
    status = columns.status.copy()
    status[at] = [STATUS_CODE[finding.status] for finding in findings.values()]
    old = columns.onsets
    changed = OnsetColumns(old.at_ms.copy(), old.is_exact.copy(), old.source.copy())
    changed.at_ms[at] = [UNKNOWN if onset is None else onset.at_ms for onset in onsets]
    changed.is_exact[at] = [onset is not None and onset.is_exact for onset in onsets]
    changed.source[at] = [SOURCE_CODE[OnsetSource.WINDOW if onset is None else onset.source] for onset in onsets]
    return replace(columns, status=status, onsets=changed)


class _Groups(LazySequence[GroupHealth]):
    """The health of every group, some with another finding than the poll's."""

    __slots__ = ("_findings", "_groups")

    def __init__(self, groups: Sequence[GroupHealth], findings: Mapping[int, Finding]) -> None:
        self._groups, self._findings = groups, findings

    def __len__(self) -> int:
        return len(self._groups)

    def _entry(self, at: int) -> GroupHealth:
        group, finding = self._groups[at], self._findings.get(at)
        return group if finding is None else replace(group, finding=finding)
