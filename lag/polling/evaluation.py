"""From a snapshot to a report: adds the last known groups, and computes verdicts with the earlier samples."""

from collections.abc import Callable, Sequence
from typing import Protocol

from lag.generations.group_generations import Follower
from lag.model import ClusterSnapshot, Unread, UnreadRange
from lag.polling import marker_checks
from lag.polling.last_known import carry_forward
from lag.polling.report import Report
from lag.verdict.judge import Past, judge
from lag.verdict.openings.open_verdicts import OpenVerdicts
from lag.verdict.openings.policy import Policy
from lag.verdict.openings.stored_verdicts import StoredVerdicts
from lag.verdict.rules.group_onsets import GroupOnsets
from lag.verdict.rules.no_partitions import IdleGroups
from lag.verdict.window.sample_window import SampleRing
from lag.watched_file import Reading


class ClusterReader(Protocol):
    """What a collector polls (`lag.cluster.reader.ClusterReader`)."""

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        """Snapshot `number`, taken at `at_ms`. Raises GroupscopeError when nothing could be read."""

    def unread(self, ranges: Sequence[UnreadRange]) -> Sequence[Unread | None]:
        """What read_committed consumers can still read in `ranges` of the last snapshot; None: not looked for."""

    def close(self) -> None:
        """Close every connection; a `read` in another thread fails."""


LastVerdicts = Callable[[str, int, float], StoredVerdicts]
"""The stored verdicts of a cluster (by its id) before a time in ms since 1970, and the openings of the last seconds."""


def no_verdicts(cluster_id: str, at_ms: int, openings_s: float) -> StoredVerdicts:
    """The stored verdicts of a process without a history: none."""
    return StoredVerdicts()


ReadPolicy = Callable[[], Reading[Policy]]
"""The policy in force; called once a poll."""


def default_policy() -> Reading[Policy]:
    """The policy of a process without a policy file."""
    return Reading(Policy())


class Evaluator:
    """The state between polls that verdicts need: samples and open verdicts."""

    def __init__(
        self, read_policy: ReadPolicy, follower: Follower | None = None, last_verdicts: LastVerdicts = no_verdicts
    ) -> None:
        self._read_policy, self._follower, self._last_verdicts = read_policy, follower, last_verdicts
        self._verdicts = OpenVerdicts()
        self._onsets, self._is_resumed = GroupOnsets.none(), False
        self._idle = IdleGroups()
        self._samples = SampleRing()
        self._last: ClusterSnapshot | None = None

    def evaluate(self, reader: ClusterReader, number: int, at_ms: int) -> Report:
        """Poll the reader and compute the verdicts. Raises what the reader raises."""
        snapshot = carry_forward(self._last, reader.read(number, at_ms))
        follower = self._follower
        commits = None if follower is None else follower.commits().of_rows(snapshot)
        window = self._samples.append(snapshot, commits)
        times = marker_checks.read_times(snapshot, window, self._samples.waiting, reader.unread)
        window = self._samples.checked(window, times.rows, times.found)
        reading = self._read_policy()
        self._resume(snapshot, reading.value)
        self._idle = self._idle.after(snapshot)
        past = Past(self._onsets, follower, follower is not None and follower.reads_all(), self._idle)
        rules = reading.value.rules_of([group.group_id for group in snapshot.groups])
        found = judge(snapshot, window, rules, marker_checks.remainders(snapshot, self._samples.waiting), past)
        checks = marker_checks.look(found, self._samples.waiting, reader.unread)
        checked = self._samples.checked(window, checks.rows, checks.found)
        if checks.refutes:
            window = checked
            found = judge(snapshot, window, rules, marker_checks.remainders(snapshot, self._samples.waiting), past)
        self._onsets = found.onsets or self._onsets
        self._last = snapshot
        self._verdicts, health = self._verdicts.after(found, reading.value)
        return Report(snapshot, health, window, reading.problem)

    def _resume(self, snapshot: ClusterSnapshot, policy: Policy) -> None:
        """Before the first poll of a cluster with an id, continue from the stored history."""
        if self._is_resumed or snapshot.cluster_id is None:
            return
        found = self._last_verdicts(snapshot.cluster_id, snapshot.at_ms, policy.longest_flapping_s)
        self._onsets, self._verdicts, self._is_resumed = found.onsets, found.open_verdicts(), True

    def forget_samples(self) -> None:
        """Start the window again: after an internal error its samples may be incomplete."""
        self._samples = SampleRing()
