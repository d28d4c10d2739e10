"""The options of `groupscope serve` that say who may reach the server, and who somebody is."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from app.server.listener import Listener
from app.server.settings import Settings

Host = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Address to listen on; any address but loopback needs a login.")
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-host", metavar="NAME", help="A name under which browsers reach this server, or *.NAME. Repeatable."
    ),
]
Insecure = Annotated[
    bool,
    typer.Option("--insecure", help="Listen on any address without login: everybody who reaches it sees everything."),
]
TlsCert = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Serve https with this certificate (PEM, with its chain).")
]
TlsKey = Annotated[Path | None, typer.Option(metavar="FILE", help="The key of the certificate (PEM).")]
Login = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Browsers log in with the OpenID Connect provider of this secrets.toml."),
]
TrustHeader = Annotated[
    str | None, typer.Option(metavar="NAME", help="The header in which a trusted proxy names the user.")
]
TrustGroupsHeader = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The header in which the proxy lists the user's groups, separated by commas."),
]
TrustedProxies = Annotated[
    list[str] | None,
    typer.Option("--trusted-proxy", metavar="ADDRESS", help="Address or network of a reverse proxy. Repeatable."),
]
Roles = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Who may see and do what, YAML or JSON; read again when it changes."),
]
Tokens = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The file of API tokens; `groupscope token create` makes it.")
]
Audit = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Record logins, refused requests and changes in this file.")
]


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """What these options were given; None: the environment says."""

    insecure: bool
    login: Path | None
    trust_header: str | None
    trust_groups_header: str | None
    trusted_proxy: Sequence[str] | None
    roles: Path | None
    tokens: Path | None
    audit: Path | None

    def set_environment(self) -> None:
        """The server reads its settings from there."""
        given = {
            "INSECURE": "true" if self.insecure else None,
            "LOGIN": self.login,
            "TRUST_HEADER": self.trust_header,
            "TRUST_GROUPS_HEADER": self.trust_groups_header,
            "TRUSTED_PROXIES": ",".join(self.trusted_proxy) if self.trusted_proxy else None,
            "ROLES": self.roles,
            "TOKENS": self.tokens,
            "AUDIT": self.audit,
        }
        os.environ.update({f"GROUPSCOPE_{name}": str(value) for name, value in given.items() if value is not None})


def allow_hosts(settings: Settings, given: Sequence[str] | None, listener: Listener) -> None:
    """Add the names of the options to those of the environment."""
    names = [*settings.allowed_hosts, *(given or ()), *listener.names]
    os.environ["GROUPSCOPE_ALLOWED_HOSTS"] = ",".join(dict.fromkeys(names))


def check_files(settings: Settings) -> None:
    """Raise ConfigError if the settings of the login do not fit each other, or a file that they name is broken."""
    if not settings.has_login:
        return
    from app.server.access.access import Access  # imported here because few commands need them

    Access(settings)
    if settings.login is not None:
        from app.server.compat.login import check_login

        check_login(settings.login)
