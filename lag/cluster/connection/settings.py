"""How to connect to a cluster: from flags, environment (`GROUPSCOPE_…`) and a client.properties file, in this order.

Settings have Kafka's names; those of librdkafka are accepted. Secrets are `SecretStr`: repr, str and `masked()` do not
show them, and no error quotes a value that may be secret.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from lag.cluster.connection.address import Address, parse_addresses
from lag.cluster.connection.properties import read_properties
from lag.cluster.connection.setting_names import ALIASES, IGNORED, UNSUPPORTED, nearest
from lag.errors import ConfigError

MASK = "••••"
ENV_PREFIX = "GROUPSCOPE_"
READ_ONLY = "groupscope.read.only"
"""Marks a cluster that groupscope never changes."""


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _servers(value: Any) -> Any:
    return parse_addresses(value) if isinstance(value, str) else value


def _host_check(value: Any) -> Any:
    """librdkafka's `none` is Kafka's empty value."""
    return value.lower().replace("none", "") if isinstance(value, str) else value


def _endpoint(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("https", "http", "file") or (parts.scheme != "file" and not parts.hostname):
        raise ValueError("not a URL of the form https://host/path or file:///path")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL must not contain credentials; set a client id and secret")
    return value


Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI", "AWS_MSK_IAM"]
Milliseconds = Annotated[int, Field(ge=1, le=3_600_000)]


class Settings(BaseModel):
    """Connection settings of one cluster; the alias of each field is its name in Kafka.

    `ignored` lists keys of Kafka that have no effect here. File names are relative to the working directory, as in
    Kafka's tools.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_by_name=True)

    bootstrap_servers: Annotated[tuple[Address, ...], BeforeValidator(_servers)] = Field(
        alias="bootstrap.servers", min_length=1
    )
    cluster_name: str | None = Field(None, alias="groupscope.cluster.name")
    read_only: bool = Field(False, alias="groupscope.read.only")
    client_id: str = Field("groupscope", alias="client.id")
    request_timeout_ms: Milliseconds = Field(30_000, alias="request.timeout.ms")
    connect_timeout_ms: Milliseconds = Field(5_000, alias="socket.connection.setup.timeout.ms")
    security_protocol: Annotated[Protocol, BeforeValidator(_upper)] = Field("PLAINTEXT", alias="security.protocol")

    truststore: Path | None = Field(None, alias="ssl.truststore.location")
    truststore_password: SecretStr | None = Field(None, alias="ssl.truststore.password")
    truststore_type: str | None = Field(None, alias="ssl.truststore.type")
    truststore_pem: SecretStr | None = Field(None, alias="ssl.truststore.certificates")
    keystore: Path | None = Field(None, alias="ssl.keystore.location")
    keystore_password: SecretStr | None = Field(None, alias="ssl.keystore.password")
    keystore_type: str | None = Field(None, alias="ssl.keystore.type")
    keystore_key_pem: SecretStr | None = Field(None, alias="ssl.keystore.key")
    keystore_chain_pem: SecretStr | None = Field(None, alias="ssl.keystore.certificate.chain")
    certificate_file: Path | None = Field(None, alias="ssl.certificate.location")
    key_file: Path | None = Field(None, alias="ssl.key.location")
    key_password: SecretStr | None = Field(None, alias="ssl.key.password")
    check_host: Annotated[Literal["https", ""], BeforeValidator(_host_check)] = Field(
        "https", alias="ssl.endpoint.identification.algorithm"
    )

    sasl_mechanism: Annotated[Mechanism, BeforeValidator(_upper)] | None = Field(None, alias="sasl.mechanism")
    jaas: SecretStr | None = Field(None, alias="sasl.jaas.config")
    sasl_username: str | None = Field(None, alias="sasl.username")
    sasl_password: SecretStr | None = Field(None, alias="sasl.password")
    token_endpoint: Annotated[str, AfterValidator(_endpoint)] | None = Field(
        None, alias="sasl.oauthbearer.token.endpoint.url"
    )
    oauth_client_id: str | None = Field(None, alias="sasl.oauthbearer.client.credentials.client.id")
    oauth_client_secret: SecretStr | None = Field(None, alias="sasl.oauthbearer.client.credentials.client.secret")
    oauth_scope: str | None = Field(None, alias="sasl.oauthbearer.scope")
    kerberos_service_name: str | None = Field(None, alias="sasl.kerberos.service.name")
    kerberos_keytab: Path | None = Field(None, alias="sasl.kerberos.keytab")
    kerberos_principal: str | None = Field(None, alias="sasl.kerberos.principal")
    client_callback_handler: str | None = Field(None, alias="sasl.client.callback.handler.class")
    login_callback_handler: str | None = Field(None, alias="sasl.login.callback.handler.class")

    ignored: tuple[str, ...] = ()

    @property
    def uses_tls(self) -> bool:
        """Whether the connection is encrypted."""
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def uses_sasl(self) -> bool:
        """Whether the connection authenticates with SASL."""
        return self.security_protocol.startswith("SASL_")

    @property
    def servers(self) -> str:
        """The bootstrap servers as one line."""
        return ", ".join(map(str, self.bootstrap_servers))

    @property
    def name(self) -> str:
        """The name of the cluster before its id is known."""
        return self.cluster_name or str(self.bootstrap_servers[0])

    def masked(self) -> dict[str, str]:
        """Kafka's name of each setting with a value -> the value as text; secrets as ••••."""
        return {alias: _shown(value) for alias, value in _by_alias(self) if value is not None}


def load_settings(bootstrap_servers: str | None, config: Path | None, env: Mapping[str, str]) -> Settings:
    """Settings from flags (the first two arguments), then `env`, then the file of `config` or GROUPSCOPE_CONFIG.

    Raises ConfigError, which lists every wrong key with its source; of values, it quotes only wrong broker addresses.
    """
    path = config or (Path(env[ENV_CONFIG]) if env.get(ENV_CONFIG) else None)
    entries = [*_from_file(path), *_from_env(env)]
    if bootstrap_servers is not None:
        entries.append(_Entry("bootstrap.servers", bootstrap_servers, "--bootstrap-server"))
    _refuse_unknown(entries)
    return _validated(entries)


class _Entry(NamedTuple):
    key: str
    value: str
    where: str


def _by_alias(settings: Settings) -> Iterator[tuple[str, Any]]:
    for name, info in Settings.model_fields.items():
        if info.alias is not None:
            yield info.alias, getattr(settings, name)


def _shown(value: Any) -> str:
    if isinstance(value, SecretStr):
        return MASK
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


USED = frozenset(info.alias for info in Settings.model_fields.values() if info.alias is not None)
_SECRET = frozenset(info.alias for info in Settings.model_fields.values() if info.annotation == SecretStr | None)
_KNOWN = USED | IGNORED | frozenset(UNSUPPORTED) | frozenset(ALIASES)
_ENV_KEYS = {ENV_PREFIX + key.removeprefix("groupscope.").replace(".", "_").upper(): key for key in USED | set(ALIASES)}
_ENV_FAMILIES = tuple(f"{ENV_PREFIX}{family}_" for family in ("BOOTSTRAP", "SASL", "SECURITY", "SSL"))
_NO = frozenset({"false", "f", "no", "n", "off", "0"})
_MAY_BE_EMPTY = _SECRET | {"ssl.endpoint.identification.algorithm"}
MOST_NAMED = 20
"""How many unusable settings an error names; each is compared with all known ones, which takes 0.2 ms."""
ENV_CONFIG = f"{ENV_PREFIX}CONFIG"


def _from_file(path: Path | None) -> list[_Entry]:
    if path is None:
        return []
    return [_Entry(p.key, p.value, f"{path}, line {p.line}") for p in read_properties(path)]


def _from_env(env: Mapping[str, str]) -> list[_Entry]:
    """Our variables, and those that look like a misspelt one: GROUPSCOPE_SSL_…."""
    names = sorted(name for name in env if name in _ENV_KEYS or name.startswith(_ENV_FAMILIES))
    return [_Entry(_ENV_KEYS.get(name) or _as_key(name), env[name], name) for name in names]


def _as_key(name: str) -> str:
    return name.removeprefix(ENV_PREFIX).lower().replace("_", ".")


def _refuse_unknown(entries: list[_Entry]) -> None:
    wrong = [entry for entry in entries if entry.key in UNSUPPORTED or entry.key not in _KNOWN]
    if wrong:
        named = "; ".join(map(_complaint, wrong[:MOST_NAMED]))
        more = f"; and {len(wrong) - MOST_NAMED:,} more" if len(wrong) > MOST_NAMED else ""
        raise ConfigError(f"Unknown or unsupported settings: {named}{more}", "Correct or remove them.")


def _complaint(entry: _Entry) -> str:
    if entry.key in UNSUPPORTED:
        return f"{entry.key} ({entry.where}) is not supported: {UNSUPPORTED[entry.key].rstrip('.')}"
    near = nearest(entry.key, _KNOWN)
    hint = f", did you mean {ALIASES.get(near, near)}" if near else ""
    return f"{entry.key!r} ({entry.where}) is unknown{hint}"


def _validated(entries: list[_Entry]) -> Settings:
    values: dict[str, Any] = {"ignored": tuple(sorted({e.key for e in entries if e.key in IGNORED}))}
    where: dict[str, str] = {}
    for entry in entries:
        key = ALIASES.get(entry.key, entry.key)
        if key == READ_ONLY and values.get(key, "false").lower() not in _NO:
            continue  # a read-only mark is never overruled
        if key in USED and (entry.value.strip() or key in _MAY_BE_EMPTY):
            values[key] = entry.value if key in _SECRET else entry.value.strip()
            where[key] = entry.where
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise _config_error(error, where) from None


def _config_error(error: ValidationError, where: Mapping[str, str]) -> ConfigError:
    keys = [(str(e["loc"][0]), e["msg"].removeprefix("Value error, ")) for e in error.errors(include_input=False)]
    if any(key == "bootstrap.servers" and key not in where for key, _ in keys):
        return ConfigError(
            "No broker is specified",
            "Give --bootstrap-server HOST:PORT, or bootstrap.servers in the file, or GROUPSCOPE_BOOTSTRAP_SERVERS.",
        )
    listed = "; ".join(f"{key} ({where[key]}): {message}" for key, message in keys)
    return ConfigError(f"Invalid settings: {listed}", "Correct them.")
