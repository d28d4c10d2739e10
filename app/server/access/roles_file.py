"""The roles file: YAML or JSON, read again when it changes.

    user_claim: email                 # of the login: who somebody is
    groups_claim: groups              # of the login: the groups that they belong to
    grants:
      - role: admin
        users: [ann@example.com]
      - role: operator
        members: [payments-oncall]    # groups of the login
        clusters: ["prod-*"]
        groups: ["payments-*"]        # Kafka consumer groups
      - role: viewer
        members: ["*"]                # everybody who can log in
        groups: ["orders-*", "payments-*"]

A user has all grants that name them or one of their groups.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from app.server.access.visitor import EVERYTHING, Grant, Role
from lag.settings_file import load_settings_file

MOST_NAME_CHARS = 1000
Pattern = Annotated[str, Field(min_length=1, max_length=MOST_NAME_CHARS)]
EVERYBODY = "*"


class GrantFile(BaseModel):
    """One grant: a role, who has it, and for which groups of which clusters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Role
    users: tuple[Pattern, ...] = ()
    members: tuple[Pattern, ...] = ()
    clusters: Annotated[tuple[Pattern, ...], Field(min_length=1)] = EVERYTHING
    groups: Annotated[tuple[Pattern, ...], Field(min_length=1)] = EVERYTHING

    @model_validator(mode="after")
    def _names_somebody(self) -> "GrantFile":
        if not self.users and not self.members:
            hint = 'Name users, or members of groups of the login; members: ["*"] is everybody'
            raise PydanticCustomError("sentence", "{text}", {"text": hint})
        return self

    def is_for(self, user: "User") -> bool:
        """Whether the user has the grant."""
        return (
            EVERYBODY in self.members
            or any(fnmatchcase(user.name, pattern) for pattern in self.users)
            or any(fnmatchcase(group, pattern) for group in user.member_of for pattern in self.members)
        )


class RolesFile(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_claim: Annotated[str, Field(min_length=1)] = "email"
    groups_claim: Annotated[str, Field(min_length=1)] = "groups"
    grants: tuple[GrantFile, ...] = ()

    def grants_of(self, user: "User") -> tuple[Grant, ...]:
        """The user's grants, in the order of the file."""
        return tuple(Grant(one.role, one.clusters, one.groups) for one in self.grants if one.is_for(user))

    def user_of(self, claims: Mapping[str, Any]) -> "User | None":
        """Who the claims of a login name; None if nobody, or an address that the provider has not verified.

        Only the value true says that it has: some providers send texts. Others, whose addresses are those of their
        directory, send no `email_verified` at all.
        """
        name = claims.get(self.user_claim)
        if not is_name(name) or (self.user_claim == "email" and claims.get("email_verified", True) is not True):
            return None
        return User(name, tuple(names_in(claims.get(self.groups_claim))))


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who is logged in, and the groups of the login that they belong to."""

    name: str
    member_of: tuple[str, ...] = ()


def is_name(claim: object) -> TypeGuard[str]:
    """Whether it can name somebody: control characters and halves of surrogate pairs would get into pages and logs."""
    return isinstance(claim, str) and 0 < len(claim) <= MOST_NAME_CHARS and claim.isprintable()


def names_in(claim: object) -> Collection[str]:
    """The names in a claim, which is a list, or one text with commas."""
    if isinstance(claim, str):
        claim = [part.strip() for part in claim.split(",")]
    return list(filter(is_name, claim)) if isinstance(claim, list) else []


def load_roles(path: Path) -> RolesFile:
    """The roles in the file. Raises ConfigError, which names the lines of what is wrong."""
    return load_settings_file(path, RolesFile, "roles file")
