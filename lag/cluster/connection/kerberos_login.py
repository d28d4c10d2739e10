"""Settings -> the Kerberos login (SASL GSSAPI): whose tickets, and where they come from.

The options are those of Java's `com.sun.security.auth.module.Krb5LoginModule`; librdkafka's `sasl.kerberos.keytab` and
`sasl.kerberos.principal` work as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lag.cluster.connection.jaas import Login
from lag.cluster.connection.settings import Settings
from lag.errors import ConfigError

DEFAULT_SERVICE = "kafka"
_MODULE = "com.sun.security.auth.module.Krb5LoginModule"
_HINT = (
    f'Set sasl.jaas.config={_MODULE} required useKeyTab=true keyTab="/path" principal="name@REALM"; '
    "or useTicketCache=true for the tickets from kinit."
)


@dataclass(frozen=True, slots=True)
class KerberosLogin:
    """Tickets for `principal` from `keytab`; without a keytab, those of `ticket_cache` (None: MIT Kerberos's default).

    `service` is the first part of the brokers' principals: service/host@REALM.
    """

    service: str
    principal: str | None = None
    keytab: Path | None = None
    ticket_cache: str | None = None

    @property
    def who(self) -> str:
        """The client, for messages."""
        return f"principal {self.principal}" if self.principal else "the principal of the ticket cache"


def kerberos_login(settings: Settings, jaas: Login | None) -> KerberosLogin:
    """Raises ConfigError, which names the key, for options that are missing or exclude each other."""
    options = jaas.options if jaas else {}
    _refuse_unused(options)
    service = _service(settings, options)
    principal = settings.kerberos_principal or options.get("principal")
    keytab = settings.kerberos_keytab or _keytab(options)
    if keytab is not None and principal:
        return KerberosLogin(service, principal, keytab)
    if keytab is not None:
        raise ConfigError(f"No principal is set for the keytab {keytab}", _HINT)
    if not _is_true(options, "useTicketCache"):
        raise ConfigError("GSSAPI needs a keytab with its principal, or a ticket cache", _HINT)
    return KerberosLogin(service, principal, None, options.get("ticketCache"))


def _refuse_unused(options: Mapping[str, str]) -> None:
    """As Krb5LoginModule does: a file without the option that switches it on."""
    for name, switch in (("keyTab", "useKeyTab"), ("ticketCache", "useTicketCache")):
        if name in options and not _is_true(options, switch):
            raise ConfigError(f"sasl.jaas.config has {name}, but not {switch}=true", f"Add {switch}=true.")


def _service(settings: Settings, options: Mapping[str, str]) -> str:
    here, there = settings.kerberos_service_name, options.get("serviceName")
    if here and there and here != there:
        raise ConfigError(
            f"sasl.kerberos.service.name is {here!r}, but serviceName in sasl.jaas.config is {there!r}",
            "Set only one of them, to the first part of the brokers' principals.",
        )
    return here or there or DEFAULT_SERVICE


def _keytab(options: Mapping[str, str]) -> Path | None:
    if not _is_true(options, "useKeyTab"):
        return None
    if not options.get("keyTab"):
        raise ConfigError("sasl.jaas.config has useKeyTab=true, but no keyTab", _HINT)
    return Path(options["keyTab"].removeprefix("file:").removeprefix("FILE:"))


def _is_true(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "").lower() == "true"
