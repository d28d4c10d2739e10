"""What the server needs of a collector."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lag.generations.live_group import TargetPartitions
    from lag.generations.recent import RecentRebalances
    from lag.generations.recorded import FollowStatus, Recording
    from lag.polling.report import CollectorStatus, Report


class Feed(Protocol):
    """What pages need of a collector (`lag.polling.collector.Collector`)."""

    def latest(self) -> "Report | None":
        """The last good report, or None before the first."""

    def status(self) -> "CollectorStatus":
        """The state of polling."""

    def poll_now(self) -> None:
        """Poll now instead of at the next interval."""

    def recording(self, group_id: str) -> "Recording":
        """The generations of a group, oldest first, and their source (recorded or inferred)."""

    def recent_rebalances(self) -> "RecentRebalances":
        """The last rebalances of all groups, newest first."""

    def share_targets(self, group_id: str) -> "Mapping[str, TargetPartitions]":
        """The target assignments of a share group, by member id, as far as their records were read."""

    def following(self) -> "FollowStatus | None":
        """The state of reading `__consumer_offsets`; None when that is switched off."""
