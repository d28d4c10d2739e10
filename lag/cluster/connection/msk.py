"""Tokens for Amazon MSK with IAM: a URL that AWS credentials sign, by AWS's own signer.

The package `aws-msk-iam-sasl-signer-python` signs for 15 minutes; AWS's library botocore finds the credentials
(environment, files, profile, metadata of the machine).
"""

import logging
import os
import time
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from lag.cluster.connection.msk_login import MskLogin
from lag.cluster.connection.oauth import Token
from lag.deadline import DeadlinePassed, within
from lag.errors import AuthenticationError, ConfigError

WITHIN_S = 30.0
"""AWS gives the credentials within this time: botocore alone waits a minute for each part of an answer."""

_INSTALL = "Install groupscope[msk]."
_REGION_HINT = "Set AWS_REGION, or name the brokers as AWS does (….kafka.REGION.amazonaws.com)."


def signer(login: MskLogin) -> Callable[[], Token]:
    """A function that signs a token; it blocks, and raises AuthenticationError without a secret.

    Raises ConfigError without the signer's package, without the profile or without a region.
    """
    signing = _library()
    session = _session(login)
    region = login.region or os.environ.get("AWS_REGION") or session.get_config_variable("region")
    if not region:
        raise ConfigError("The AWS region of the cluster is not known", _REGION_HINT)
    return partial(_in_time, partial(_signed, signing, session, login, region), login)


def _in_time(sign: Callable[[], Token], login: MskLogin) -> Token:
    try:
        return within(WITHIN_S, lambda _limit: sign())
    except DeadlinePassed:
        raise AuthenticationError(
            f"AWS gives no credentials for {login.who} within {WITHIN_S:g} s",
            "Check with `aws sts get-caller-identity` whether this machine reaches AWS.",
        ) from None


def _library() -> ModuleType:
    try:
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
    except ImportError:
        what = "Amazon MSK with IAM needs the package aws-msk-iam-sasl-signer-python, which is not installed"
        raise ConfigError(what, _INSTALL) from None
    for name in ("botocore", "boto3"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # at DEBUG they print what they sign, with session tokens
    library: ModuleType = MSKAuthTokenProvider
    return library


def _session(login: MskLogin) -> Any:
    from botocore.exceptions import BotoCoreError, ProfileNotFound
    from botocore.session import Session

    session = Session(profile=login.profile)
    try:
        session.get_config_variable("region")
    except ProfileNotFound:
        raise ConfigError(
            f"There is no AWS profile {login.profile!r}", "Check awsProfileName in sasl.jaas.config."
        ) from None
    except BotoCoreError as error:
        raise ConfigError(f"AWS's configuration cannot be read: {error}", "Correct ~/.aws/config.") from None
    return session


def _signed(signing: ModuleType, session: Any, login: MskLogin, region: str) -> Token:
    from botocore.credentials import CredentialProvider
    from botocore.exceptions import BotoCoreError, ClientError

    class Provider(CredentialProvider):
        def load(self) -> Any:
            return _credentials(session, login, region)

    try:
        text, expires_ms = signing.generate_auth_token_from_credentials_provider(region, Provider())
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown error")
        raise AuthenticationError(
            f"AWS refuses {login.who} ({code})",
            "Check awsRoleArn, its trust policy and the credentials that assume it.",
        ) from None
    except (BotoCoreError, ValueError) as error:  # ValueError: keys that are set to nothing
        raise AuthenticationError(
            f"No token can be signed with {login.who}: {error}",
            "Check AWS_ACCESS_KEY_ID, the profile or the role of this machine with `aws sts get-caller-identity`.",
        ) from None
    return Token(text, max(1.0, expires_ms / 1000 - time.time()))


def _credentials(session: Any, login: MskLogin, region: str) -> Any:
    from botocore.credentials import Credentials
    from botocore.exceptions import NoCredentialsError

    if login.role_arn is None:
        found = session.get_credentials()
        if found is None:
            raise NoCredentialsError
        return found.get_frozen_credentials()
    external = {"ExternalId": login.external_id} if login.external_id else {}
    sts = session.create_client("sts", region_name=login.sts_region or region)
    answer = sts.assume_role(RoleArn=login.role_arn, RoleSessionName=login.session_name, **external)["Credentials"]
    return Credentials(answer["AccessKeyId"], answer["SecretAccessKey"], answer["SessionToken"])
