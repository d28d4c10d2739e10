"""Where the pages get their data: one `Source` per process, installed by the server before the first page runs.

Pages never talk to Kafka: a `Feed` (the collector of one cluster) holds the latest immutable report.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from app.server.settings import Settings

if TYPE_CHECKING:
    from app.notices.notifier import Notifier
    from lag.embedded.workload import Controls
    from lag.generations.live_group import TargetPartitions
    from lag.generations.recent import RecentRebalances
    from lag.generations.recorded import FollowStatus, Recording
    from lag.history.recorder import RecorderStatus
    from lag.polling.report import CollectorStatus, Report
    from lag.polling.verdict_changes import VerdictChanges


STALE_AFTER_INTERVALS = 3
"""A snapshot that is older than this many intervals is stale: polls are overdue."""


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

    def recent_rebalances(self, until_ms: int | None = None) -> "RecentRebalances":
        """The last rebalances of all groups, or the last up to that time, newest first."""

    def rebalance_counts(self, since_ms: int) -> "Mapping[str, int]":
        """Group id -> how many of its rebalances are known from that time on."""

    def share_targets(self, group_id: str) -> "Mapping[str, TargetPartitions]":
        """The target assignments of a share group, by member id, as far as their records were read."""

    def following(self) -> "FollowStatus | None":
        """The state of reading `__consumer_offsets`; None when that is switched off."""


@dataclass(frozen=True, slots=True)
class Source:
    """Everything that pages can read: the settings, one feed per cluster, and the demo's controls if it runs.

    `versions` maps packages to versions; `connections` maps clusters to their client settings, secrets masked;
    `changes` maps clusters to the last changes of their verdicts; `notifier` sends notices of them, None: nobody does.
    `recorder` returns whether the history is written; None: there is no history.
    """

    settings: Settings
    feeds: Mapping[str, Feed]
    demo: "Controls | None" = None
    versions: Mapping[str, str] = field(default_factory=dict)
    connections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    changes: Mapping[str, "VerdictChanges"] = field(default_factory=dict)
    notifier: "Notifier | None" = None
    recorder: "Callable[[], RecorderStatus] | None" = None


_EMPTY = Source(Settings.model_construct(), {})
_current: Source = _EMPTY


def install(source: Source) -> None:
    """Set the source of this process."""
    global _current
    _current = source


def uninstall() -> None:
    """Remove the source, when the server stops."""
    install(_EMPTY)


def current() -> Source:
    """The source of this process; without clusters until one is installed."""
    return _current
