"""The health of a snapshot as its policy shows it: with the verdicts that are open."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from lag.lazy_sequence import MadeOnce
from lag.offsets import UNKNOWN
from lag.verdict.health import Finding, GroupHealth, Health, Openings
from lag.verdict.onset import SOURCE_CODE, OnsetColumns, OnsetSource
from lag.verdict.openings.policy import GroupPolicy, Policy
from lag.verdict.openings.verdict_state import VerdictState
from lag.verdict.status import NO_VERDICT, OPENS_NOTHING, STATUS_CODE, TOO_EARLY, URGENCY, Status

_NOTHING = VerdictState()


@dataclass(frozen=True, slots=True)
class OpenVerdicts:
    """What the polls left of each group, by its id.

    states    without groups where nothing is open or found
    settled   groups that have been ok, or have had an open verdict
    last      the last poll, as it was found; None before the first
    """

    states: Mapping[str, VerdictState] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()
    last: Health | None = field(default=None, repr=False, compare=False)

    def after(self, health: Health, policy: Policy) -> tuple["OpenVerdicts", Health]:
        """The state after the next poll, and the verdicts of that poll as the policy shows them.

        A group whose first verdict is not open yet has none: another process may have left it open.
        """
        if policy.shows_every_poll:
            return OpenVerdicts(), health
        codes, groups = health.columns.status.tolist(), health.snapshot.groups
        states: dict[str, VerdictState] = {}
        shown: dict[int, _Shown] = {}
        for number in self._changing(health):
            group_id, code = groups[number].group_id, codes[number]
            its, last = policy.of(group_id), partial(self._last_finding, group_id)
            state = self.states.get(group_id, _NOTHING)
            if code in NO_VERDICT:
                state = state.without_verdict(last)
            else:
                found = Status.OK if URGENCY[code] in OPENS_NOTHING else URGENCY[code]
                state = state.after(found, health.snapshot.at_ms, its, last)
                if not state.shows_the_poll(its):
                    shown[number] = _Shown(state, its, group_id in self.settled)
            if not state.is_calm:
                states[group_id] = state
        openings = Openings(self._opened(states, health), _hidden(shown))
        after = OpenVerdicts(states, self._settled_after(health, shown), health)
        return after, replace(_as_shown(health, shown), openings=openings)

    def _changing(self, health: Health) -> list[int]:
        """Groups that are not ok, or were not."""
        found = np.flatnonzero(health.columns.status != STATUS_CODE[Status.OK]).tolist()
        by_group = health.snapshot.by_group
        return sorted({*found, *(by_group[group_id] for group_id in self.states if group_id in by_group)})

    def _opened(self, states: Mapping[str, VerdictState], health: Health) -> frozenset[int]:
        """The groups whose verdict opened at the poll that led to `states`."""
        before = {group_id: self.states.get(group_id, _NOTHING).open_status for group_id in states}
        opened = (name for name, state in states.items() if state.open_status not in (None, before[name]))
        return frozenset(health.snapshot.by_group[name] for name in opened)

    def _last_finding(self, group_id: str) -> Finding:
        """The last finding about a group that has a state, which means that the last poll saw it."""
        assert self.last is not None
        return self.last.groups[self.last.snapshot.by_group[group_id]].finding

    def _settled_after(self, health: Health, shown: Mapping[int, "_Shown"]) -> frozenset[str]:
        groups = health.snapshot.groups
        has_verdict = ~np.isin(health.columns.status, NO_VERDICT)
        has_verdict[[number for number, its in shown.items() if its.is_too_early]] = False
        now = {groups[number].group_id for number in np.flatnonzero(has_verdict).tolist()}
        return frozenset(now | (self.settled & health.snapshot.by_group.keys()))


class _Shown(NamedTuple):
    """A group of which another verdict is shown than the poll found."""

    state: VerdictState
    policy: GroupPolicy
    was_settled: bool

    @property
    def is_too_early(self) -> bool:
        """Its first verdict is not open yet."""
        return self.state.open_status is None and not self.was_settled

    @property
    def code(self) -> int:
        """The status code, as in `GroupColumns.status`."""
        return TOO_EARLY if self.is_too_early else STATUS_CODE[self.state.status(self.policy)]


def _hidden(shown: Mapping[int, _Shown]) -> Mapping[int, Status]:
    """The open verdict of each group that is shown as flapping."""
    flapping = {number: its.state for number, its in shown.items() if its.code == STATUS_CODE[Status.FLAPPING]}
    return {number: state.open_status or Status.OK for number, state in flapping.items()}


def _as_shown(health: Health, shown: Mapping[int, _Shown]) -> Health:
    """The health with the verdicts of `shown`, by the number of the group."""
    if not shown:
        return health
    at, old = list(shown), health.columns.onsets
    status = health.columns.status.copy()
    status[at] = [its.code for its in shown.values()]
    onsets = [its.state.onset(old.at(number), its.policy) for number, its in shown.items()]
    changed = OnsetColumns(old.at_ms.copy(), old.is_exact.copy(), old.source.copy())
    changed.at_ms[at] = [UNKNOWN if onset is None else onset.at_ms for onset in onsets]
    changed.is_exact[at] = [onset is not None and onset.is_exact for onset in onsets]
    changed.source[at] = [SOURCE_CODE[OnsetSource.WINDOW if onset is None else onset.source] for onset in onsets]
    groups = MadeOnce(len(health.groups), partial(_group, health, shown))
    return replace(health, groups=groups, columns=replace(health.columns, status=status, onsets=changed))


def _group(health: Health, shown: Mapping[int, _Shown], number: int) -> GroupHealth:
    group, its = health.groups[number], shown.get(number)
    return group if its is None else replace(group, finding=its.state.shown(group.finding, its.policy))
