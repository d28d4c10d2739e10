"""Where the pages get their data: one `Source` per process, installed by the server before the first page runs.

Pages never talk to Kafka: a `Feed` (the collector of one cluster) holds the latest immutable report. With a login, each
visitor gets a source of their own, which has only what they may see.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from app.server.access.visible import VisibleChanges, VisibleControls, VisibleFeed
from app.server.access.visitor import Grant, Role, Visitor, of_request
from app.server.feed import Feed
from app.server.settings import Settings
from lag.audit.log import AuditLog
from lag.errors import EmbeddedError

if TYPE_CHECKING:
    from app.notices.notifier import Notifier
    from app.server.access.access import Access
    from lag.embedded.workload import Controls
    from lag.history.recorder import RecorderStatus
    from lag.polling.verdict_changes import VerdictChanges


MOST_GRANTS = 256
"""Combinations of grants whose sources are kept."""

STALE_AFTER_INTERVALS = 3
"""A snapshot that is older than this many intervals is stale: polls are overdue."""


@dataclass(frozen=True, slots=True)
class Source:
    """Everything that pages can read: the settings, one feed per cluster, and the demo's controls if it runs.

    `versions` maps packages to versions; `connections` maps clusters to their client settings, secrets masked;
    `changes` maps clusters to the last changes of their verdicts; `notifier` sends notices of them, None: nobody does.
    `recorder` returns whether the history is written; None: there is no history.
    `access` says who may see what, None: everybody everything. `audit` is the audit log. `visitor` is whose source it
    is, None: everybody's. `ended`: why there will be no more data, as the demo's Kafka has ended; None: it has not.
    """

    settings: Settings
    feeds: Mapping[str, Feed]
    demo: "Controls | VisibleControls | None" = None
    versions: Mapping[str, str] = field(default_factory=dict)
    connections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    changes: Mapping[str, "VerdictChanges"] = field(default_factory=dict)
    notifier: "Notifier | None" = None
    recorder: "Callable[[], RecorderStatus] | None" = None
    access: "Access | None" = None
    audit: AuditLog = field(default_factory=AuditLog)
    visitor: Visitor | None = None
    ended: EmbeddedError | None = None

    def sees(self, cluster: str, group_id: str) -> bool:
        """Whether the visitor may see the group, also one that no longer exists."""
        return self.may(Role.VIEWER, cluster, group_id)

    def may(self, role: Role, cluster: str, group_id: str) -> bool:
        """Whether the visitor has that role, or a higher one, for the group."""
        return self.visitor is None or self.visitor.may(role, cluster, group_id)

    @property
    def sees_everything(self) -> bool:
        """Whether the visitor may see every group of every cluster."""
        return self.visitor is None or all(map(self.visitor.sees_all, installed().feeds))

    @property
    def is_admin(self) -> bool:
        """Whether the visitor may read the audit log."""
        return self.visitor is None or self.visitor.is_admin

    @property
    def is_operator(self) -> bool:
        """Whether the visitor may do more than look, for any group."""
        return self.visitor is None or any(grant.role.includes(Role.OPERATOR) for grant in self.visitor.grants)


_EMPTY = Source(Settings.model_construct(), {})
_current: Source = _EMPTY


def install(source: Source) -> None:
    """Set the source of this process."""
    global _current
    _current = source
    _granted.cache_clear()


def end(why: EmbeddedError) -> None:
    """Say on every page that there will be no more data."""
    install(replace(installed(), ended=why))


def uninstall() -> None:
    """Remove the source, when the server stops."""
    install(_EMPTY)


def installed() -> Source:
    """The source of this process; without clusters until one is installed."""
    return _current


def current() -> Source:
    """The source for the visitor that makes the request, or has the page. Nothing for one that is not known."""
    whole = installed()
    if whole.access is None:
        return whole
    return of_visitor(of_request() or _visitor_of_page() or Visitor())


def _no_page() -> Visitor | None:
    return None


_visitor_of_page: Callable[[], Visitor | None] = _no_page


def install_pages(visitor_of_page: Callable[[], Visitor | None]) -> None:
    """Set the function that says whose page a thread runs; None: it runs none."""
    global _visitor_of_page
    _visitor_of_page = visitor_of_page


def of_visitor(visitor: Visitor) -> Source:
    """The source of this process with what the visitor may see."""
    return replace(_granted(visitor.grants), visitor=visitor)


@lru_cache(MOST_GRANTS)
def _granted(grants: tuple[Grant, ...]) -> Source:
    """The same for visitors with the same grants, so that each report is filtered once for them."""
    whole, visitor = installed(), Visitor(grants=grants)
    names = [name for name in whole.feeds if visitor.sees_cluster(name)]
    hidden = [name for name in names if not visitor.sees_all(name)]
    sees = {name: partial(visitor.may, Role.VIEWER, name) for name in hidden}
    clusters = tuple(cluster for cluster in whole.settings.clusters if visitor.sees_cluster(cluster.name))
    return replace(
        whole,
        settings=whole.settings.model_copy(update={"clusters": clusters}),
        feeds={
            name: VisibleFeed(whole.feeds[name], sees[name]) if name in sees else whole.feeds[name] for name in names
        },
        demo=_demo(whole, visitor),
        connections={name: whole.connections[name] for name in names if name in whole.connections},
        changes={
            name: VisibleChanges(whole.changes[name], sees[name]) if name in sees else whole.changes[name]
            for name in names
            if name in whole.changes
        },
        notifier=None if hidden or len(names) < len(whole.feeds) else whole.notifier,
    )


def _demo(whole: Source, visitor: Visitor) -> "Controls | VisibleControls | None":
    """The controls of the demo, whose cluster is the only one, for the groups that the visitor may operate."""
    operators = Visitor(grants=tuple(grant for grant in visitor.grants if grant.role.includes(Role.OPERATOR)))
    names = [name for name in whole.feeds if operators.sees_cluster(name)]
    if whole.demo is None or not operators.grants or all(map(operators.sees_all, names)):
        return whole.demo if operators.grants else None
    return VisibleControls(whole.demo, lambda group_id: any(operators.may(Role.OPERATOR, n, group_id) for n in names))
