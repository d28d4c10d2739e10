"""kafka-python's SASL GSSAPI with the tickets of one login.

Replaces `__init__` of `SaslMechanismGSSAPI`, and sets its `_client_ctx`, `_next_token`, `auth_id`, `_is_done` and
`_is_authenticated` (kafka-python 3.0.12), because kafka-python uses the default ticket cache of the process for every
cluster, waits for the KDC on the I/O thread, and asks to act as the broker (`auth_id`; empty stands for ourselves).
"""

from typing import Any, Protocol

from kafka.net.sasl import register_sasl_mechanism
from kafka.net.sasl.gssapi import SaslMechanismGSSAPI


class Tickets(Protocol):
    """The tickets of one login (`lag.cluster.connection.kerberos`)."""

    def start(self, host: str) -> tuple[Any, bytes]:
        """A GSS-API security context with the broker at `host`, and its first token. Raises ConnectError."""


class GssapiMechanism(SaslMechanismGSSAPI):
    """One login at one broker."""

    def __init__(self, *, host: str, sasl_oauth_token_provider: Tickets, **_: object) -> None:
        self._is_done = self._is_authenticated = False
        self.auth_id = ""
        self._client_ctx, self._next_token = sasl_oauth_token_provider.start(host)


def use_our_gssapi() -> None:
    """From now on kafka-python logs in with GssapiMechanism."""
    register_sasl_mechanism("GSSAPI", GssapiMechanism, overwrite=True)
