"""Who makes a request, and what they may see and do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase


class Role(StrEnum):
    """What somebody may do, in ascending order: each role may do what those before it may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Whether this role may do what the other may."""
        return _RANK[self] >= _RANK[other]


_RANK = {role: rank for rank, role in enumerate(Role)}
EVERYTHING = ("*",)


@dataclass(frozen=True, slots=True)
class Grant:
    """A role for the groups of some clusters. Names match patterns with `*`, `?` and `[abc]`, case included."""

    role: Role
    clusters: tuple[str, ...] = EVERYTHING
    groups: tuple[str, ...] = EVERYTHING

    def covers_cluster(self, cluster: str) -> bool:
        """Whether the grant is for groups of that cluster."""
        return any(fnmatchcase(cluster, pattern) for pattern in self.clusters)

    def covers(self, cluster: str, group_id: str) -> bool:
        """Whether the grant is for that group."""
        return self.covers_cluster(cluster) and any(fnmatchcase(group_id, pattern) for pattern in self.groups)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who makes a request: the name of the user or token (None without login), the address, and the grants."""

    name: str | None = None
    address: str = ""
    grants: tuple[Grant, ...] = ()

    @property
    def client(self) -> str:
        """What limits count by."""
        return f"address {self.address}" if self.name is None else f"user {self.name}"

    @property
    def is_admin(self) -> bool:
        """Whether a grant is for admins."""
        return any(grant.role is Role.ADMIN for grant in self.grants)

    def sees_cluster(self, cluster: str) -> bool:
        """Whether any group of the cluster may be seen."""
        return any(grant.covers_cluster(cluster) for grant in self.grants)

    def sees_all(self, cluster: str) -> bool:
        """Whether every group of the cluster may be seen."""
        return any("*" in grant.groups for grant in self.grants if grant.covers_cluster(cluster))

    def may(self, role: Role, cluster: str, group_id: str) -> bool:
        """Whether a grant gives that role, or a higher one, for the group."""
        return any(grant.role.includes(role) and grant.covers(cluster, group_id) for grant in self.grants)


Again = Callable[[], Visitor]
"""Returns the visitor as they are when it is called: roles and tokens change."""


def anyone(address: str = "") -> Visitor:
    """Somebody without login, where none is needed: everything is allowed."""
    return Visitor(None, address, (Grant(Role.ADMIN),))


_visitor: ContextVar[Visitor | None] = ContextVar("visitor", default=None)
_again: ContextVar[Again | None] = ContextVar("again", default=None)


def of_request() -> Visitor | None:
    """Who makes the request that is being answered; None outside of requests."""
    return _visitor.get()


@contextmanager
def answering(visitor: Visitor, again: Again | None = None) -> Iterator[None]:
    """In the block, and in threads that anyio starts from it, `of_request` returns the visitor.

    `again` returns the visitor as they are by then; None: nothing about them can change.
    """
    tokens = _visitor.set(visitor), _again.set(again)
    try:
        yield
    finally:
        _visitor.reset(tokens[0])
        _again.reset(tokens[1])


def same_grants() -> Callable[[], bool]:
    """A function that returns whether who makes this request has the same grants as now: for answers that go on."""
    visitor, again = _visitor.get(), _again.get()
    return lambda: visitor is None or again is None or again().grants == visitor.grants
