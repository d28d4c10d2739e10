"""Kerberos tickets for SASL GSSAPI, by MIT Kerberos (the package `gssapi`).

With a keytab each login has its own ticket cache, in memory, so that two clusters may have two principals. MIT
Kerberos waits for the KDC and for the name server: tickets are fetched on a separate thread before a login, and
again after 80 % of their lifetime, as Kafka's clients do (`sasl.kerberos.ticket.renew.window.factor`). A login then
finds its ticket in the cache. KRB5_CONFIG names the krb5.conf, if it is not /etc/krb5.conf.
"""

import itertools
import os
import queue
import threading
import time
from types import ModuleType
from typing import Any

from lag.cluster.connection.kerberos_login import KerberosLogin
from lag.errors import AddressError, AuthenticationError, ConfigError, ConnectError

REFRESH_AT = 0.8
_ERRORS = 2_529_638_912
"""MIT Kerberos's first error code (krb5.h: -1765328384) as the unsigned number that GSS-API reports."""
_CLOCKS = "Synchronize the clocks of this machine, the KDC and the brokers: they must agree within 5 minutes."
_HINTS = {
    6: "Check principal in sasl.jaas.config, and that the KDC of its realm has it.",  # KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN
    7: "Check sasl.kerberos.service.name, and name brokers as in their principals (service/host@REALM).",
    18: "Ask the KDC's administrator to unlock the principal.",  # KRB5KDC_ERR_CLIENT_REVOKED
    23: "Renew the principal's password and export its keytab again.",  # KRB5KDC_ERR_KEY_EXP
    24: "The key in the keytab is not the principal's current one: export the keytab again.",
    31: "The key in the keytab is not the principal's current one: export the keytab again.",
    32: "Run kinit again, or give a keytab (useKeyTab=true keyTab=… principal=…).",  # KRB5KRB_AP_ERR_TKT_EXPIRED
    37: _CLOCKS,
    141: "Run kinit, or give a keytab (useKeyTab=true keyTab=… principal=…).",  # KRB5_CC_NOTFOUND
    148: _CLOCKS,  # KRB5_KDCREP_SKEW
    154: "Check the realm of the principal, and krb5.conf (KRB5_CONFIG).",  # KRB5_REALM_UNKNOWN
    156: "Check kdc in krb5.conf (KRB5_CONFIG), and that its port can be reached from here.",  # KRB5_KDC_UNREACH
    181: "Export the keytab of this principal, or set principal to one that klist -kt shows.",  # KRB5_KT_NOTFOUND
    195: "Run kinit, or give a keytab (useKeyTab=true keyTab=… principal=…).",  # KRB5_FCC_NOFILE
    220: "Check kdc in krb5.conf (KRB5_CONFIG): its host name is unknown.",  # KRB5_REALM_CANT_RESOLVE
}
_NO_CACHE = (141, 195)
_NOT_INSTALLED = (
    "Install groupscope[kerberos]; building it takes a C compiler and the Kerberos headers (Debian: gcc libkrb5-dev)."
)
_number = itertools.count(1)


class Tickets:
    """The tickets of one login. Thread safe."""

    def __init__(self, login: KerberosLogin, timeout_s: float) -> None:
        """`timeout_s` limits each wait for the KDC. Raises ConfigError without `gssapi`, or without the keytab."""
        self._gssapi = _library()
        self._login = login
        self._timeout_s = timeout_s
        self._store = _store(login)
        self._hosts: dict[str, Any] = {}
        self._renew_at_s = time.monotonic()

    def prepare(self, host: str) -> None:
        """Get the ticket for the broker at `host` into the cache. Blocks; raises ConnectError."""
        done: queue.SimpleQueue[ConnectError | None] = queue.SimpleQueue()

        def fetch() -> None:
            try:
                self._fetch(host)
            except ConnectError as error:
                done.put(error)
            else:
                done.put(None)

        threading.Thread(target=fetch, name="groupscope-kerberos", daemon=True).start()
        try:
            error = done.get(timeout=self._timeout_s)
        except queue.Empty:
            cause = f"No KDC answers within {self._timeout_s:g} s for {self._login.who}"
            raise AddressError(cause, _HINTS[156]) from None
        if error is not None:
            raise error

    def renew_when_due(self) -> None:
        """Get new tickets for all hosts if they are due. Blocks; raises ConnectError."""
        if self.due_in_s() <= 0:
            for host in list(self._hosts):
                self.prepare(host)

    def due_in_s(self) -> float:
        """Seconds until the next renewal; 0 or less if it is due."""
        return self._renew_at_s - time.monotonic()

    def start(self, host: str) -> tuple[Any, bytes]:
        """A security context with the broker at `host`, and its first token. Raises ConnectError.

        Waits for nothing if `prepare` has been called for this host and the ticket is still valid.
        """
        try:
            return self._first_step(host, self._credentials())
        except self._gssapi.exceptions.GSSError as error:
            raise self._explained(error) from None

    def _fetch(self, host: str) -> None:
        try:
            self._hosts[host] = self._name_of(host)
            credentials = self._credentials()
            self._first_step(host, credentials)
            self._renew_at_s = time.monotonic() + credentials.lifetime * REFRESH_AT
        except self._gssapi.exceptions.GSSError as error:
            raise self._explained(error) from None

    def _first_step(self, host: str, credentials: Any) -> tuple[Any, bytes]:
        gss, name = self._gssapi, self._hosts.get(host) or self._name_of(host)
        context = gss.SecurityContext(name=name, creds=credentials, mech=gss.MechType.kerberos, usage="initiate")
        return context, context.step()

    def _name_of(self, host: str) -> Any:
        gss = self._gssapi
        name = gss.Name(f"{self._login.service}@{host}", gss.NameType.hostbased_service)
        return name.canonicalize(gss.MechType.kerberos)

    def _credentials(self) -> Any:
        """MIT Kerberos fetches a ticket with the keytab as needed, and a new one in the second half of its life."""
        gss, principal = self._gssapi, self._login.principal
        name = gss.Name(principal, gss.NameType.kerberos_principal) if principal else None
        return gss.Credentials(name=name, mechs=[gss.MechType.kerberos], usage="initiate", store=self._store or None)

    def _explained(self, error: Any) -> ConnectError:
        code, keytab = error.min_code - _ERRORS, self._login.keytab
        if keytab is not None and code in _NO_CACHE:  # what MIT Kerberos says when the keytab is of no use
            return AuthenticationError(f"The keytab {keytab} has no key for {self._login.who}", _HINTS[181])
        reason = " ".join(error.get_all_statuses(error.min_code, False)) or str(error)
        kind = AddressError if code in (154, 156, 220) else AuthenticationError
        return kind(
            f"Kerberos gives no ticket for {self._login.who}: {reason}",
            _HINTS.get(code, "Check krb5.conf (KRB5_CONFIG)."),
        )


def _library() -> ModuleType:
    try:
        import gssapi
    except (ImportError, OSError):  # OSError: without the C library
        raise ConfigError("GSSAPI needs the package gssapi, which is not installed", _NOT_INSTALLED) from None
    library: ModuleType = gssapi
    return library


def _store(login: KerberosLogin) -> dict[str, str]:
    """Where MIT Kerberos has keytab and tickets (krb5 "cred store"). Raises ConfigError for an unreadable keytab."""
    if login.keytab is None:
        return {"ccache": login.ticket_cache} if login.ticket_cache else {}
    if not os.access(login.keytab, os.R_OK):
        state = "cannot be read" if login.keytab.exists() else "does not exist"
        raise ConfigError(f"The keytab {login.keytab} {state}", "Check keyTab in sasl.jaas.config.")
    return {"client_keytab": str(login.keytab), "ccache": f"MEMORY:groupscope-{next(_number)}"}
