"""Settings -> credentials: user name and password, or the source of the bearer token."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import SecretStr

from lag.cluster.connection.jaas import parse_jaas
from lag.cluster.connection.settings import Settings
from lag.errors import ConfigError

_EXTENSION = "extension_"
_PASSWORD_HINT = (
    'Set sasl.jaas.config=org.apache.kafka.common.security.{module} required username="…" password="…"; '
    "or GROUPSCOPE_SASL_USERNAME and GROUPSCOPE_SASL_PASSWORD."
)
_OAUTH_HINT = (
    "Set sasl.oauthbearer.token.endpoint.url, and clientId and clientSecret in sasl.jaas.config "
    "(…OAuthBearerLoginModule); or a file:// URL of a file with a token."
)


@dataclass(frozen=True, slots=True)
class PasswordLogin:
    """PLAIN and SCRAM."""

    username: str
    password: SecretStr


@dataclass(frozen=True, slots=True)
class TokenLogin:
    """OAUTHBEARER: `endpoint` is an http(s) address of a token endpoint, or a file:// URL of a token."""

    endpoint: str
    client_id: str | None = None
    client_secret: SecretStr | None = None
    scope: str | None = None
    extensions: Mapping[str, str] = field(default_factory=dict)


def login(settings: Settings) -> PasswordLogin | TokenLogin | None:
    """None without SASL (PLAINTEXT, SSL). Raises ConfigError if a setting is missing."""
    if not settings.uses_sasl:
        return None
    if settings.sasl_mechanism is None:
        raise ConfigError(
            f"security.protocol is {settings.security_protocol}, but sasl.mechanism is not set",
            "Set sasl.mechanism to PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER (Kerberos is not supported).",
        )
    options = parse_jaas(settings.jaas.get_secret_value()).options if settings.jaas else {}
    if settings.sasl_mechanism == "OAUTHBEARER":
        return _token_login(settings, options)
    return _password_login(settings, options)


def _password_login(settings: Settings, options: Mapping[str, str]) -> PasswordLogin:
    if options.get("tokenauth", "").lower() == "true":
        raise ConfigError("tokenauth in sasl.jaas.config (delegation tokens) is not supported", "Log in as a user.")
    username = settings.sasl_username or options.get("username")
    password = settings.sasl_password or SecretStr(options.get("password", ""))
    if not username or not password.get_secret_value():
        module = "plain.PlainLoginModule" if settings.sasl_mechanism == "PLAIN" else "scram.ScramLoginModule"
        what = "user name" if not username else "password"
        raise ConfigError(f"No {what} is set for {settings.sasl_mechanism}", _PASSWORD_HINT.format(module=module))
    return PasswordLogin(username, password)


def _token_login(settings: Settings, options: Mapping[str, str]) -> TokenLogin:
    client_id = settings.oauth_client_id or options.get("clientId")
    secret = settings.oauth_client_secret or (SecretStr(s) if (s := options.get("clientSecret")) else None)
    endpoint = settings.token_endpoint
    if endpoint is None:
        raise ConfigError("OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url (https://… or file://…)", _OAUTH_HINT)
    if not endpoint.startswith("file://") and not (client_id and secret):
        raise ConfigError("OAUTHBEARER needs a client id and a client secret", _OAUTH_HINT)
    extensions = {k.removeprefix(_EXTENSION): v for k, v in options.items() if k.startswith(_EXTENSION)}
    return TokenLogin(endpoint, client_id, secret, settings.oauth_scope or options.get("scope"), extensions)
