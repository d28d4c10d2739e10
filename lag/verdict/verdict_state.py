"""When the verdict of a group opens, holds and closes, as its policy says. Pure: the time is an argument.

A verdict opens after `open_polls` polls in a row that found it, and closes after `close_polls` polls in a row that did
not. Another verdict that opens takes its place. A poll that shows too little for a verdict changes nothing.
"""

from dataclasses import dataclass, replace

from assignors.durations import duration
from lag.verdict.evidence import RULES
from lag.verdict.health import Finding
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.policy import GroupPolicy
from lag.verdict.status import STATUS_CODE, Status


@dataclass(frozen=True, slots=True)
class VerdictState:
    """What the polls of one group left.

    found, polls    the status that the last poll found, and how many polls in a row have found it
    open_finding    the open verdict, as of the last poll that found it; None: none is open
    missed_polls    how many polls in a row have not found it
    openings_ms     when verdicts opened, within `GroupPolicy.flapping_s`; empty if flapping is not looked for
    """

    found: Status = Status.OK
    polls: int = 0
    open_finding: Finding | None = None
    missed_polls: int = 0
    openings_ms: tuple[int, ...] = ()

    @property
    def is_calm(self) -> bool:
        """Nothing is found or open, and nothing has opened lately."""
        return self.found is Status.OK and self.open_finding is None and not self.openings_ms

    def after(self, finding: Finding, at_ms: int, policy: GroupPolicy) -> "VerdictState":
        """With what the poll at `at_ms` found."""
        polls = self.polls + 1 if finding.status is self.found else 1
        openings = _lately(self.openings_ms, at_ms, policy)
        now, opened = replace(self, found=finding.status, polls=polls, openings_ms=openings), self.open_finding
        if opened is not None and finding.status is opened.status:
            return replace(now, open_finding=_since_the_earlier(finding, opened, policy), missed_polls=0)
        if finding.status is not Status.OK and polls >= policy.open_polls:
            openings = () if policy.flapping_openings is None else (*openings, at_ms)
            return replace(now, open_finding=finding, missed_polls=0, openings_ms=openings)
        if opened is None or self.missed_polls + 1 >= policy.close_polls:
            return replace(now, open_finding=None, missed_polls=0)
        return replace(now, missed_polls=self.missed_polls + 1)

    def shown(self, finding: Finding, policy: GroupPolicy) -> Finding:
        """What pages show after the poll that found `finding`: it, the verdict that is open, or that it is flapping."""
        verdict = self._verdict(finding, policy)
        if not self.is_flapping(policy) or STATUS_CODE[verdict.status] < STATUS_CODE[Status.FLAPPING]:
            return verdict
        openings = f"verdicts opened {len(self.openings_ms)} times within {duration(policy.flapping_s)}"
        onset = Onset(self.openings_ms[0], True, OnsetSource.WINDOW)
        return Finding(Status.FLAPPING, RULES[Status.FLAPPING], f"{openings}; now: {verdict.evidence}", onset)

    def is_flapping(self, policy: GroupPolicy) -> bool:
        """Verdicts opened more often than the policy allows."""
        return policy.flapping_openings is not None and len(self.openings_ms) > policy.flapping_openings

    def _verdict(self, finding: Finding, policy: GroupPolicy) -> Finding:
        if self.open_finding is None:
            return finding if finding.status is Status.OK else _not_open_yet(finding, self.polls, policy)
        if not self.missed_polls:
            return self.open_finding
        missed = f"not found in {_polls(self.missed_polls)}, closes after {policy.close_polls} in a row"
        return replace(self.open_finding, evidence=f"{self.open_finding.evidence}; {missed}")


def _not_open_yet(finding: Finding, polls: int, policy: GroupPolicy) -> Finding:
    words = finding.status.replace("_", " ")
    needed = f"{words} in {_polls(polls)}, opens after {policy.open_polls} in a row"
    return Finding(Status.OK, RULES[Status.OK], f"{needed}: {finding.evidence}")


def _polls(count: int) -> str:
    return "1 poll" if count == 1 else f"{count} polls"


def _lately(openings_ms: tuple[int, ...], at_ms: int, policy: GroupPolicy) -> tuple[int, ...]:
    if policy.flapping_openings is None:
        return ()
    return tuple(opened_ms for opened_ms in openings_ms if opened_ms > at_ms - policy.flapping_s * 1000)


def _since_the_earlier(finding: Finding, opened: Finding, policy: GroupPolicy) -> Finding:
    """A verdict that polls did not find for a while, and that stayed open, holds since it opened."""
    mine, before = finding.onset, opened.onset
    if policy.close_polls == 1 or before is None or (mine is not None and mine.at_ms <= before.at_ms):
        return finding
    return replace(finding, onset=before)
