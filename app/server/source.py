"""Where the pages get their data: one `Source` per process, put in place by the server before the first page runs.

Pages never talk to Kafka: a `Feed` (the collector of one cluster) holds the latest immutable report.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from app.server.settings import Settings

if TYPE_CHECKING:
    from lag.embedded.workload import Controls
    from lag.generations.recorded import Following, Recording
    from lag.polling.collector import CollectorStatus, Report


class Feed(Protocol):
    """What a page needs of a collector (`lag.polling.collector.Collector`)."""

    def latest(self) -> "Report | None":
        """The last good report, or None before the first."""

    def status(self) -> "CollectorStatus":
        """How polling goes."""

    def poll_now(self) -> None:
        """Ask for a poll before its time."""

    def recording(self, group_id: str) -> "Recording":
        """The generations of a group, oldest first, and how they are known."""

    def following(self) -> "Following | None":
        """How following the groups' records goes; None when it is switched off."""


@dataclass(frozen=True, slots=True)
class Source:
    """Everything a page may reach: the settings, one feed per cluster, and what is there only sometimes.

    `versions` names parts and their versions; `connections` holds each cluster's client settings, secrets masked.
    """

    settings: Settings
    feeds: Mapping[str, Feed]
    demo: "Controls | None" = None
    versions: Mapping[str, str] = field(default_factory=dict)
    connections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


_EMPTY = Source(Settings.model_construct(), {})
_current: Source = _EMPTY


def install(source: Source) -> None:
    """Put `source` in place for this process."""
    global _current
    _current = source


def uninstall() -> None:
    """Forget the source, when the server stops."""
    install(_EMPTY)


def current() -> Source:
    """The source of this process; without clusters until one is installed."""
    return _current
