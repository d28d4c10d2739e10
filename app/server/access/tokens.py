"""Bearer tokens of programs: a file with their hashes, and the check of a token that a request shows.

A token is `gs_`, its id and 256 random bits. The file has its SHA-256, which is enough for a secret that nobody can
guess. The file is read again when it changes.
"""

import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.server.access.roles_file import Pattern
from app.server.access.visitor import EVERYTHING, Grant, Role
from lag.errors import ConfigError
from lag.locked_file import locked_file
from lag.settings_file import load_settings_file
from lag.whole_file import write_whole

KIND = "file of tokens; `groupscope token create` makes one"
SECRET_BYTES, ID_BYTES = 32, 4

_TOKEN = re.compile(r"gs_([0-9a-f]{8})_[A-Za-z0-9_-]{43}")


class Token(BaseModel):
    """A token without its secret. Times in ms since 1970; `expires_ms` None: never."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern="^[0-9a-f]{8}$")]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    role: Role
    clusters: tuple[Pattern, ...] = EVERYTHING
    groups: tuple[Pattern, ...] = EVERYTHING
    created_ms: int
    expires_ms: int | None = None
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]

    @property
    def grant(self) -> Grant:
        """What the owner of the token may see and do."""
        return Grant(self.role, self.clusters, self.groups)

    def has_expired(self, now_ms: int) -> bool:
        """Whether the token is no longer valid."""
        return self.expires_ms is not None and now_ms >= self.expires_ms


class TokensFile(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token with its secret, which is not stored."""

    token: Token
    secret: str


def load_tokens(path: Path) -> TokensFile:
    """The tokens in the file. Raises ConfigError, which names the lines of what is wrong."""
    return load_settings_file(path, TokensFile, KIND)


def find(tokens: Sequence[Token], shown: str, now_ms: int) -> Token | None:
    """The valid token that a request shows; None if there is none."""
    match = _TOKEN.fullmatch(shown)
    if match is None:
        return None
    digest = sha256(shown.encode()).hexdigest()
    found = [token for token in tokens if token.id == match[1] and hmac.compare_digest(token.sha256, digest)]
    return found[0] if found and not found[0].has_expired(now_ms) else None


def create(
    path: Path,
    name: str,
    role: Role,
    clusters: Sequence[str] = EVERYTHING,
    groups: Sequence[str] = EVERYTHING,
    *,
    now_ms: int,
    expires_ms: int | None = None,
) -> NewToken:
    """Add a token to the file, which is made if it is not there. Raises ConfigError."""
    token_id = secrets.token_hex(ID_BYTES)
    secret = f"gs_{token_id}_{secrets.token_urlsafe(SECRET_BYTES)}"
    made = Token(
        id=token_id,
        name=name,
        role=role,
        clusters=tuple(clusters),
        groups=tuple(groups),
        created_ms=now_ms,
        expires_ms=expires_ms,
        sha256=sha256(secret.encode()).hexdigest(),
    )
    with _locked(path, os.O_CREAT) as old:
        tokens = load_tokens(path).tokens if old.st_size else ()  # it was made just now
        if any(token.name == name for token in tokens):
            raise ConfigError(f"{path} already has a token {name!r}", "Choose another --name, or revoke that token")
        _write(path, TokensFile(tokens=(*tokens, made)), old)
    return NewToken(made, secret)


def revoke(path: Path, named: str) -> Token:
    """Remove the token with that id or name from the file. Raises ConfigError."""
    with _locked(path) as old:
        tokens = load_tokens(path).tokens
        found = [token for token in tokens if named in (token.id, token.name)]
        if not found:
            raise ConfigError(f"{path} has no token {named!r}", "`groupscope token list` lists all")
        _write(path, TokensFile(tokens=tuple(token for token in tokens if token not in found)), old)
    return found[0]


@contextmanager
def _locked(path: Path, flags: int = 0) -> Iterator[os.stat_result]:
    """The file while no other command changes it: a token that it revokes would come back. Raises ConfigError."""
    try:
        with locked_file(path, os.O_RDWR | flags) as file:
            yield os.fstat(file)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> ConfigError:
    """Advice for the owner of a file is not to run the command as its owner."""
    if isinstance(error, PermissionError) and (mode := _own_mode(path)) is not None and not mode & stat.S_IWUSR:
        return ConfigError(f"{path} cannot be written: its mode is {mode:04o}", f"Run chmod u+w {quote(str(path))}")
    hint = "Run the command as the owner of the file or as root, or name another file with --tokens"
    return ConfigError(f"{path} cannot be written: {error.strerror}", hint)


def _own_mode(path: Path) -> int | None:
    """The mode of the user's own file; None: it is another's, or cannot be seen."""
    try:
        its = path.stat()
    except OSError:
        return None
    return stat.S_IMODE(its.st_mode) if its.st_uid == os.geteuid() else None


def _write(path: Path, file: TokensFile, old: os.stat_result) -> None:
    """Replace the old file; the server, often another user than the one who runs the command, reads the new one too."""
    write_whole(path, f"{json.dumps(file.model_dump(mode='json'), indent=1)}\n".encode(), like=old)
