"""Settings -> the login at Amazon MSK with IAM: which AWS credentials, for which region.

The options are those of `software.amazon.msk.auth.iam.IAMLoginModule` (aws/aws-msk-iam-auth). The brokers take the
signed token over OAUTHBEARER on the same port.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lag.cluster.connection.settings import Settings
from lag.errors import ConfigError

MECHANISM = "AWS_MSK_IAM"
CLIENT_HANDLER = "IAMClientCallbackHandler"
LOGIN_HANDLER = "IAMOAuthBearerLoginCallbackHandler"
_SESSION = "groupscope"
_HOST = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\.?$", re.IGNORECASE)
_UNSUPPORTED = ("awsRoleAccessKeyId", "awsRoleSecretAccessKey", "awsRoleSessionToken")


@dataclass(frozen=True, slots=True)
class MskLogin:
    """AWS's default credentials, those of `profile`, or those of `role_arn`.

    `region` is the one in the brokers' host names; None: AWS's configuration has it.
    """

    region: str | None
    profile: str | None = None
    role_arn: str | None = None
    session_name: str = _SESSION
    external_id: str | None = None
    sts_region: str | None = None

    @property
    def who(self) -> str:
        """The client, for messages."""
        if self.role_arn:
            return f"the AWS role {self.role_arn}"
        return f"the AWS profile {self.profile}" if self.profile else "the default AWS credentials"


def msk_login(settings: Settings, options: Mapping[str, str]) -> MskLogin:
    """Raises ConfigError, which names the key, for what is not supported or excludes each other."""
    if not settings.uses_tls:
        raise ConfigError(
            f"Amazon MSK with IAM needs TLS, but security.protocol is {settings.security_protocol}",
            "Set security.protocol=SASL_SSL and use the port for IAM (9098).",
        )
    for name in _UNSUPPORTED:
        if name in options:
            hint = "Give AWS credentials as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or by awsProfileName."
            raise ConfigError(f"{name} in sasl.jaas.config is not supported", hint)
    if options.get("awsProfileName") and options.get("awsRoleArn"):
        raise ConfigError(
            "awsProfileName and awsRoleArn in sasl.jaas.config are mutually exclusive",
            "Set one of them; an AWS profile can name the role itself (role_arn).",
        )
    return MskLogin(
        _region(settings),
        options.get("awsProfileName"),
        options.get("awsRoleArn"),
        options.get("awsRoleSessionName", _SESSION),
        options.get("awsRoleExternalId"),
        options.get("awsStsRegion"),
    )


def is_msk(settings: Settings) -> bool:
    """Whether the token is one that IAM credentials sign. Raises ConfigError for a handler of another mechanism."""
    client, login = (_class(name) for name in (settings.client_callback_handler, settings.login_callback_handler))
    if settings.sasl_mechanism == MECHANISM:
        if client not in ("", CLIENT_HANDLER):
            raise ConfigError(
                f"sasl.client.callback.handler.class is {client}, which groupscope does not have",
                f"Set software.amazon.msk.auth.iam.{CLIENT_HANDLER}, or leave it out.",
            )
        return True
    if client == CLIENT_HANDLER:
        raise ConfigError(
            f"sasl.client.callback.handler.class is {client}, but sasl.mechanism is {settings.sasl_mechanism}",
            f"Set sasl.mechanism={MECHANISM}.",
        )
    return settings.sasl_mechanism == "OAUTHBEARER" and login == LOGIN_HANDLER


def _class(name: str | None) -> str:
    return (name or "").rpartition(".")[2]


def _region(settings: Settings) -> str | None:
    found = (_HOST.search(address.host) for address in settings.bootstrap_servers)
    return next((match[1].lower() for match in found if match), None)
