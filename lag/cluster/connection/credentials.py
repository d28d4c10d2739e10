"""Settings -> credentials: user name and password, or the source of the bearer token or of the Kerberos tickets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import SecretStr

from lag.cluster.connection.jaas import Login, parse_jaas
from lag.cluster.connection.kerberos_login import KerberosLogin, kerberos_login
from lag.cluster.connection.msk_login import MECHANISM as MSK
from lag.cluster.connection.msk_login import MskLogin, is_msk, msk_login
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
_OWN_MODULE = {"GSSAPI": "Krb5LoginModule", MSK: "IAMLoginModule"}
_MECHANISM_OF = {module: mechanism for mechanism, module in _OWN_MODULE.items()}


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


Credentials = PasswordLogin | TokenLogin | KerberosLogin | MskLogin


def login(settings: Settings) -> Credentials | None:
    """None without SASL (PLAINTEXT, SSL). Raises ConfigError if a setting is missing or contradicts another."""
    if not settings.uses_sasl:
        return None
    if settings.sasl_mechanism is None:
        raise ConfigError(
            f"security.protocol is {settings.security_protocol}, but sasl.mechanism is not set",
            "Set sasl.mechanism to PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, GSSAPI or AWS_MSK_IAM.",
        )
    jaas = parse_jaas(settings.jaas.get_secret_value()) if settings.jaas else None
    _refuse_other_module(settings.sasl_mechanism, jaas)
    options = jaas.options if jaas else {}
    if is_msk(settings):
        return msk_login(settings, options)
    if settings.sasl_mechanism == "GSSAPI":
        return kerberos_login(settings, jaas)
    if settings.sasl_mechanism == "OAUTHBEARER":
        return _token_login(settings, options)
    return _password_login(settings, options)


def wire_mechanism(settings: Settings) -> str | None:
    """The mechanism that the broker is asked for."""
    return "OAUTHBEARER" if settings.sasl_mechanism == MSK else settings.sasl_mechanism


def _refuse_other_module(mechanism: str, jaas: Login | None) -> None:
    """Kerberos and IAM have their own options, which another mechanism's module would ignore."""
    if jaas is None:
        return
    wanted, meant = _OWN_MODULE.get(mechanism), _MECHANISM_OF.get(jaas.module)
    if jaas.module != wanted and (wanted or meant):
        raise ConfigError(
            f"sasl.jaas.config has {jaas.module}, but sasl.mechanism is {mechanism}",
            f"Set sasl.mechanism={meant}." if meant else f"Use {wanted} in sasl.jaas.config.",
        )


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
