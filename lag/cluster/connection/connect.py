"""Settings -> an open connection to a cluster, or a ConnectError with the cause and a hint."""

import logging
import ssl
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from kafka.errors import KafkaConnectionError, KafkaTimeoutError, MetadataEmptyBrokerList
from kafka.future import Future
from kafka.net.selector import NetworkSelector
from kafka.protocol.metadata import MetadataRequest

from lag.cluster.compat.connection_manager import ConnectionManager, Tokens
from lag.cluster.compat.gssapi_mechanism import use_our_gssapi
from lag.cluster.compat.message_classes import build_one_at_a_time
from lag.cluster.connection import diagnose
from lag.cluster.connection.address import Address
from lag.cluster.connection.credentials import PasswordLogin, TokenLogin, login, wire_mechanism
from lag.cluster.connection.kerberos import Tickets
from lag.cluster.connection.kerberos_login import KerberosLogin
from lag.cluster.connection.msk import signer
from lag.cluster.connection.msk_login import MskLogin
from lag.cluster.connection.oauth import TokenProvider, fetch_token
from lag.cluster.connection.settings import Settings
from lag.cluster.connection.tls import ssl_context, web_context
from lag.version import VERSION

MAX_ANSWER_BYTES = 512_000_000
MAX_IN_FLIGHT = 64
RECONNECT_MAX_MS = 2_000
KERBEROS_SHARE = 0.8
"""The part of `connect_timeout_ms` in which the KDC must answer: with all of it, the cause would come too late."""


class Connection:
    """An open connection: `manager` sends requests, `manager.run(coroutine_function, ...)` waits for them.

    The next request to a lost broker connects again. After a change of addresses or credentials, close this connection
    and open another.
    """

    def __init__(self, settings: Settings, net: NetworkSelector, manager: ConnectionManager) -> None:
        self.settings = settings
        self.manager = manager
        self._net = net

    @property
    def cluster_id(self) -> str | None:
        """The id of the cluster."""
        cluster_id: str | None = self.manager.cluster.cluster_id
        return cluster_id

    def close(self) -> None:
        """Stop the I/O thread and close every socket; calls of `manager.run` fail with KafkaConnectionError."""
        self._net.stop()
        self.manager.close_with(KafkaConnectionError("closed by us"))
        self._net.close()

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_manager(settings: Settings) -> Connection:
    """Connect: ask all bootstrap servers at once for the brokers of the cluster, then connect to one of these.

    Each of the two steps may take `connect_timeout_ms`. Raises ConfigError for unusable settings, ConnectError with
    cause and hint if the cluster cannot be reached.
    """
    silence_client()
    build_one_at_a_time()
    context = ssl_context(settings) if settings.uses_tls else None
    tokens = _tokens(settings)
    net = NetworkSelector(client_id=settings.client_id)
    connection = Connection(settings, net, ConnectionManager(net, tokens, **_config(settings, context)))
    net.start()
    try:
        _bootstrap(connection, context)
    except BaseException:
        connection.close()
        raise
    if tokens is not None:
        connection.manager.call_soon(connection.manager.keep_token_fresh)
    return connection


def silence_client() -> None:
    """Silence kafka-python's loggers: at DEBUG they print requests with credentials; we report errors ourselves."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL)


def _bootstrap(connection: Connection, context: ssl.SSLContext | None) -> None:
    manager, settings = connection.manager, connection.settings
    servers = {broker.node_id: Address(broker.host, broker.port) for broker in manager.cluster.bootstrap_brokers()}
    answer, failures = manager.run(_first, manager, _fetch_metadata, list(servers), settings.connect_timeout_ms)
    for node in servers:
        manager.call_soon(manager.disconnect, node, KafkaConnectionError("bootstrap is over"))
    if answer is None:
        raise diagnose.bootstrap(settings, context, _by_address(servers, failures))
    manager.cluster.update_metadata(answer)
    brokers = {broker.node_id: Address(broker.host, broker.port) for broker in manager.cluster.brokers()}
    reached, failures = manager.run(_first, manager, _connect, list(brokers), settings.connect_timeout_ms)
    if reached is None:
        raise diagnose.advertised(settings, context, _by_address(brokers, failures))


Attempt = Callable[[ConnectionManager, Any], Coroutine[Any, Any, Any]]


async def _first(
    manager: ConnectionManager, attempt: Attempt, nodes: Sequence[Any], timeout_ms: int
) -> tuple[Any, Mapping[Any, BaseException | None]]:
    """The first result of `attempt(manager, node)` over all nodes, or None; and the failures (None: no answer)."""
    attempts = {node: manager.call_soon(attempt, manager, node) for node in nodes}
    decided = Future()

    def check(_: object) -> None:
        over = all(one.is_done for one in attempts.values()) or any(one.succeeded() for one in attempts.values())
        if over and not decided.is_done:
            decided.success(None)

    for one in attempts.values():
        one.add_both(check)
    with suppress(KafkaTimeoutError):
        await manager.wait_for(decided, timeout_ms)
    result = next((one.value for one in attempts.values() if one.succeeded()), None)
    return result, {node: one.exception for node, one in attempts.items()}


async def _fetch_metadata(manager: ConnectionManager, node: str) -> Any:
    connection = await manager.get_connection(node, pop_on_close=False)
    request = MetadataRequest(topics=MetadataRequest.NO_TOPICS, allow_auto_topic_creation=False)
    answer = await connection.send_request(request)
    if not answer.brokers:
        raise MetadataEmptyBrokerList
    return answer


async def _connect(manager: ConnectionManager, node: int) -> int:
    await manager.get_connection(node)
    return 1


def _by_address(
    addresses: Mapping[Any, Address], failures: Mapping[Any, BaseException | None]
) -> dict[Address, BaseException | None]:
    return {address: failures[node] for node, address in addresses.items()}


def _config(settings: Settings, context: ssl.SSLContext | None) -> dict[str, Any]:
    return {
        "bootstrap_servers": [str(address) for address in settings.bootstrap_servers],
        "client_id": settings.client_id,
        "client_software_name": "groupscope",
        "client_software_version": VERSION,
        "security_protocol": settings.security_protocol,
        "ssl_context": context,
        "request_timeout_ms": settings.request_timeout_ms,
        "socket_connection_setup_timeout_ms": settings.connect_timeout_ms,
        "socket_connection_setup_timeout_max_ms": settings.connect_timeout_ms,
        "receive_message_max_bytes": MAX_ANSWER_BYTES,
        "max_in_flight_requests_per_connection": MAX_IN_FLIGHT,
        "reconnect_backoff_max_ms": RECONNECT_MAX_MS,
        **_sasl(settings),
    }


def _sasl(settings: Settings) -> dict[str, Any]:
    who = login(settings)
    if who is None:
        return {}
    if not isinstance(who, PasswordLogin):
        return {"sasl_mechanism": wire_mechanism(settings)}
    return {
        "sasl_mechanism": settings.sasl_mechanism,
        "sasl_plain_username": _sasl_name(settings, who),
        "sasl_plain_password": who.password.get_secret_value(),
    }


def _sasl_name(settings: Settings, who: PasswordLogin) -> str:
    """SCRAM user names escape comma and equals sign (RFC 5802, 5.1); kafka-python does not."""
    if settings.sasl_mechanism == "PLAIN":
        return who.username
    return who.username.replace("=", "=3D").replace(",", "=2C")


def _tokens(settings: Settings) -> Tokens | None:
    """What is fetched before a login. Raises ConfigError, also for an extra that is not installed."""
    timeout_s = settings.connect_timeout_ms / 1000
    who = login(settings)
    if isinstance(who, TokenLogin):
        return TokenProvider(partial(fetch_token, who, web_context(settings), timeout_s), who.extensions)
    if isinstance(who, MskLogin):
        return TokenProvider(signer(who))
    if isinstance(who, KerberosLogin):
        use_our_gssapi()
        return Tickets(who, timeout_s * KERBEROS_SHARE)
    return None
