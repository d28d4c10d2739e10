"""The generations of a live group: recorded in `__consumer_offsets`, or inferred from polls where they are not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.generations.commit_runs import CommitRuns
from lag.generations.inferred import PollObserver
from lag.generations.live_group import TargetPartitions
from lag.generations.recent import RecentRebalances, rebalance_counts, recent_rebalances
from lag.generations.recorded import FollowStatus, Origin, RecordedGeneration, Recording, Timeouts
from lag.generations.recorded.model import RecordedState
from lag.model import ClusterSnapshot, Problem, Scope
from lag.verdict.onset import GroupRecords

SWITCHED_OFF = Problem(
    "off", Scope.TOPIC, OFFSETS_TOPIC, "following it is switched off", "Start groupscope without --no-follow"
)
INCOMPLETE = Problem(
    "in_part", Scope.TOPIC, OFFSETS_TOPIC, "the records read so far do not describe the whole group", ""
)


class Follower(GroupRecords, Protocol):
    """Reads the generations of groups from their records (`lag.generations.tail.Tail`)."""

    def start(self) -> None:
        """Start following."""

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop following."""

    def observe(self, snapshot: ClusterSnapshot) -> None:
        """Take the groups of a poll as a starting point."""

    def recorded(self, group_id: str) -> Sequence[RecordedGeneration]:
        """The group's generations, oldest first."""

    def all_states(self) -> Mapping[str, Sequence[RecordedState]]:
        """The recorded states of every group that has any, oldest first."""

    def knows(self, group_id: str) -> bool:
        """Whether the group's state is known from its records."""

    def timeouts(self, group_id: str) -> Mapping[str, Timeouts]:
        """The timeouts of the group's members, by id, as far as their records were read."""

    def share_targets(self, group_id: str) -> Mapping[str, TargetPartitions]:
        """The target assignments of a share group, by member id, as far as their records were read."""

    def commits(self) -> CommitRuns:
        """The offset commits read so far."""

    def reads_all(self) -> bool:
        """Whether every partition of the topic has been read up to its end."""

    def problem(self, group_id: str) -> Problem | None:
        """Why the group's records are not read now; None when they are."""

    def status(self) -> FollowStatus:
        """How far the topic is read."""


class GroupGenerations:
    """The generations of all groups of a cluster; `follower` None: they are only inferred."""

    def __init__(self, follower: Follower | None) -> None:
        self._follower = follower
        self._observer = PollObserver()
        self._recent = RecentRebalances()

    def start(self) -> None:
        """Start following the records."""
        if self._follower is not None:
            self._follower.start()

    def stop(self, timeout_s: float) -> None:
        """Stop following the records."""
        if self._follower is not None:
            self._follower.stop(timeout_s)

    def observe(self, snapshot: ClusterSnapshot) -> None:
        """Add the groups of a poll."""
        self._observer.observe(snapshot)
        if self._follower is not None:
            self._follower.observe(snapshot)

    def recording(self, group_id: str) -> Recording:
        """The group's generations: recorded if possible, else inferred."""
        inferred = [RecordedGeneration(made) for made in self._observer.generations(group_id)]
        follower = self._follower
        if follower is None:
            return Recording(Origin.INFERRED, inferred, SWITCHED_OFF)
        problem, recorded = follower.problem(group_id), follower.recorded(group_id)
        if recorded and (problem is None or not _is_newer(inferred, recorded)):
            return Recording(Origin.RECORDED, recorded, problem, follower.timeouts(group_id))
        if problem is None and follower.knows(group_id):
            return Recording(Origin.RECORDED, timeouts=follower.timeouts(group_id))
        return Recording(Origin.INFERRED, inferred, problem or INCOMPLETE)

    def recent(self, until_ms: int | None = None) -> RecentRebalances:
        """The last rebalances of all groups, or the last up to that time: recorded where possible, else inferred."""
        states = self._recorded_states(), self._observer.all_states()
        found = recent_rebalances(*states, self._recent.rebalances, until_ms=until_ms)
        if until_ms is None:
            self._recent = found
        return replace(found, known_since_ms=self._observer.since_ms)

    def rebalance_counts(self, since_ms: int) -> Mapping[str, int]:
        """Group id -> how many of its rebalances are known from that time on."""
        return rebalance_counts(self._recorded_states(), self._observer.all_states(), since_ms)

    def _recorded_states(self) -> Mapping[str, Sequence[RecordedState]]:
        return {} if self._follower is None else self._follower.all_states()

    def share_targets(self, group_id: str) -> Mapping[str, TargetPartitions]:
        """The target assignments of a share group with topics without partitions, as far as their records were read."""
        return {} if self._follower is None else self._follower.share_targets(group_id)

    def status(self) -> FollowStatus | None:
        """How far the topic is read; None if following is switched off."""
        return None if self._follower is None else self._follower.status()


def _is_newer(inferred: Sequence[RecordedGeneration], recorded: Sequence[RecordedGeneration]) -> bool:
    return bool(inferred) and inferred[-1].generation.at_ms > recorded[-1].generation.at_ms
