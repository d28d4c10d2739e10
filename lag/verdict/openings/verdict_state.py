"""When the verdict of a group opens, holds and closes, as its policy says. Pure: the time is an argument.

A verdict opens after `open_polls` polls in a row that found it, and closes after `close_polls` polls in a row that
found OK. Another verdict that opens takes its place. A poll that shows too little for a verdict changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from assignors.counts import plural
from assignors.durations import duration
from lag.verdict.evidence import rule
from lag.verdict.health import Finding
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.openings.policy import GroupPolicy
from lag.verdict.status import STATUS_CODE, Status


@dataclass(frozen=True, slots=True)
class VerdictState:
    """What the polls of one group left.

    found, polls    the status that the last poll found, and how many polls in a row found it, until the verdict opened
    open_status     the open verdict; None: none is open
    since           since when it holds, if polls did not find it in between; None: as the poll says
    last_finding    the last finding of the open verdict, if later polls did not find it or showed too little
    is_missed       the last poll did not find it
    openings_ms     when verdicts opened, within `GroupPolicy.flapping_s`; empty if flapping is not looked for
    """

    found: Status = Status.OK
    polls: int = 0
    open_status: Status | None = None
    since: Onset | None = None
    last_finding: Finding | None = None
    is_missed: bool = False
    openings_ms: tuple[int, ...] = ()

    @property
    def is_calm(self) -> bool:
        """Nothing is found or open, and nothing has opened lately."""
        return self.found is Status.OK and self.open_status is None and not self.openings_ms

    def after(self, status: Status, at_ms: int, policy: GroupPolicy, last: Callable[[], Finding]) -> "VerdictState":
        """The state after the poll at `at_ms`, which found `status`. `last` returns the finding of the poll before."""
        openings = _lately(self.openings_ms, at_ms, policy)
        if status is self.found is self.open_status and self.last_finding is None and openings == self.openings_ms:
            return self
        polls = self.polls + 1 if status is self.found else 1
        now = replace(self, found=status, polls=polls, openings_ms=openings)
        if status is self.open_status:
            return now._found_again()
        if status is not Status.OK and polls >= policy.open_polls:
            opened = () if policy.flapping_openings is None else (*openings, at_ms)
            return VerdictState(status, polls, status, openings_ms=opened)
        if self.open_status is None or (status is Status.OK and polls >= policy.close_polls):
            return VerdictState(status, polls, openings_ms=openings)
        return replace(now.without_verdict(last), is_missed=True)

    def without_verdict(self, last: Callable[[], Finding]) -> "VerdictState":
        """After a poll that shows too little: the finding of the open verdict is kept."""
        if self.open_status is None or self.last_finding is not None:
            return self
        return replace(self, last_finding=self._held(last()))

    def status(self, policy: GroupPolicy) -> Status:
        """The verdict that pages show: the one that is open, or that the group is flapping."""
        verdict = self.open_status or Status.OK
        is_urgent = STATUS_CODE[verdict] < STATUS_CODE[Status.FLAPPING]
        return Status.FLAPPING if self.is_flapping(policy) and not is_urgent else verdict

    def onset(self, found: Onset | None, policy: GroupPolicy) -> Onset | None:
        """Since when that holds. `found`: the onset that the last poll found."""
        status = self.status(policy)
        if status is Status.FLAPPING:
            return Onset(self.openings_ms[0], True, OnsetSource.WINDOW)
        if self.is_missed and self.last_finding is not None:
            return self.last_finding.onset
        return None if status is Status.OK else _earlier(self.since, found)

    def shown(self, finding: Finding, policy: GroupPolicy) -> Finding:
        """What pages show after the poll that found `finding`: it, the verdict that is open, or that it is flapping."""
        verdict = self._verdict(finding, policy)
        if self.status(policy) is verdict.status:
            return verdict
        openings = f"verdicts opened {len(self.openings_ms)} times within {duration(policy.flapping_s)}"
        onset = self.onset(finding.onset, policy)
        return Finding(Status.FLAPPING, rule(Status.FLAPPING), f"{openings}; now: {verdict.evidence}", onset)

    def shows_the_poll(self, policy: GroupPolicy) -> bool:
        """Pages show what the last poll found, as it is."""
        return self.status(policy) is self.found and self.since is None

    def is_flapping(self, policy: GroupPolicy) -> bool:
        """Verdicts opened more often than the policy allows."""
        return policy.flapping_openings is not None and len(self.openings_ms) > policy.flapping_openings

    def _found_again(self) -> "VerdictState":
        """If polls did not find it, it holds since it opened all the same."""
        since = self.since if self.last_finding is None or not self.is_missed else self.last_finding.onset
        return replace(self, since=since, last_finding=None, is_missed=False)

    def _verdict(self, finding: Finding, policy: GroupPolicy) -> Finding:
        if self.open_status is None:
            return finding if finding.status is Status.OK else _not_open_yet(finding, self.polls, policy)
        if not self.is_missed or self.last_finding is None:
            return self._held(finding)
        needed = f"closes after {policy.close_polls}" if self.found is Status.OK else f"opens after {policy.open_polls}"
        missed = f"{_words(self.found)} in {plural(self.polls, 'poll')}, {needed} in a row"
        return replace(self.last_finding, evidence=f"{self.last_finding.evidence}; {missed}")

    def _held(self, finding: Finding) -> Finding:
        return finding if self.since is None else replace(finding, onset=_earlier(self.since, finding.onset))


def _not_open_yet(finding: Finding, polls: int, policy: GroupPolicy) -> Finding:
    needed = f"{_words(finding.status)} in {plural(polls, 'poll')}, opens after {policy.open_polls} in a row"
    return Finding(Status.OK, rule(Status.OK), f"{needed}: {finding.evidence}")


def _words(status: Status) -> str:
    return "OK" if status is Status.OK else status.replace("_", " ")


def _lately(openings_ms: tuple[int, ...], at_ms: int, policy: GroupPolicy) -> tuple[int, ...]:
    if policy.flapping_openings is None:
        return ()
    return tuple(opened_ms for opened_ms in openings_ms if opened_ms > at_ms - policy.flapping_s * 1000)


def _earlier(held: Onset | None, found: Onset | None) -> Onset | None:
    if held is None or (found is not None and found.at_ms <= held.at_ms):
        return found
    return held
