"""Client properties -> the login at Amazon MSK with IAM; what is missing or contradicts is named by its key."""

import sys

import pytest

from lag.cluster.connection.connect import open_manager
from lag.cluster.connection.credentials import login
from lag.cluster.connection.msk_login import MskLogin
from lag.cluster.connection.settings import Settings, load_settings
from lag.errors import ConfigError

PACKAGE = "software.amazon.msk.auth.iam"
HOST = "b-1.demo.abc123.c2.kafka.eu-central-1.amazonaws.com:9098"


def settings(options: str = "", server: str = HOST, **keys: str) -> Settings:
    env = {
        "GROUPSCOPE_SECURITY_PROTOCOL": "SASL_SSL",
        "GROUPSCOPE_SASL_MECHANISM": "AWS_MSK_IAM",
        "GROUPSCOPE_SASL_JAAS_CONFIG": f"{PACKAGE}.IAMLoginModule required {options};",
        "GROUPSCOPE_SASL_CLIENT_CALLBACK_HANDLER_CLASS": f"{PACKAGE}.IAMClientCallbackHandler",
        **{f"GROUPSCOPE_{name.upper()}": value for name, value in keys.items()},
    }
    return load_settings(server, None, env)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("", MskLogin("eu-central-1")),
        ('awsProfileName="ops"', MskLogin("eu-central-1", "ops")),
        (
            'awsRoleArn="arn:x" awsRoleSessionName="me" awsRoleExternalId="42" awsStsRegion="us-east-1"',
            MskLogin("eu-central-1", None, "arn:x", "me", "42", "us-east-1"),
        ),
    ],
)
def test_the_options_of_awss_login_module_are_read(options: str, wanted: MskLogin) -> None:
    assert login(settings(options)) == wanted


def test_the_token_is_also_signed_for_oauthbearer_with_awss_handler() -> None:
    wanted = settings(
        sasl_mechanism="OAUTHBEARER",
        sasl_jaas_config="org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
        sasl_client_callback_handler_class="",
        sasl_login_callback_handler_class=f"{PACKAGE}.IAMOAuthBearerLoginCallbackHandler",
    )
    assert login(wanted) == MskLogin("eu-central-1")


@pytest.mark.parametrize(
    ("server", "region"),
    [
        ("boot-abc.c1.kafka-serverless.us-west-2.amazonaws.com:9098", "us-west-2"),
        ("b-1.demo.abc123.c2.kafka.cn-north-1.amazonaws.com.cn:9098", "cn-north-1"),
        ("own.example.com:9098", None),
        ("kafka.us-west-2.amazonaws.com.example.com:9098", None),
        (f"own.example.com:9098,{HOST}", "eu-central-1"),
    ],
)
def test_the_region_is_that_of_the_brokers_host_names(server: str, region: str | None) -> None:
    assert login(settings(server=server)) == MskLogin(region)


def test_a_connection_without_tls_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        login(settings(security_protocol="SASL_PLAINTEXT"))
    assert caught.value.cause == "Amazon MSK with IAM needs TLS, but security.protocol is SASL_PLAINTEXT"


def test_a_profile_and_a_role_are_refused_together() -> None:
    with pytest.raises(ConfigError) as caught:
        login(settings("awsProfileName=a awsRoleArn=b"))
    assert caught.value.cause == "awsProfileName and awsRoleArn in sasl.jaas.config are mutually exclusive"


def test_a_key_in_the_jaas_line_is_refused_without_its_value() -> None:
    with pytest.raises(ConfigError) as caught:
        login(settings('awsRoleArn="x" awsRoleSecretAccessKey="geheim"'))
    assert caught.value.cause == "awsRoleSecretAccessKey in sasl.jaas.config is not supported"
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"sasl_client_callback_handler_class": "com.example.Handler"},
            "sasl.client.callback.handler.class is Handler, which groupscope does not have. "
            f"Set {PACKAGE}.IAMClientCallbackHandler, or leave it out.",
        ),
        (
            {"sasl_mechanism": "SCRAM-SHA-512", "sasl_jaas_config": "x.ScramLoginModule required username=a;"},
            "sasl.client.callback.handler.class is IAMClientCallbackHandler, but sasl.mechanism is SCRAM-SHA-512. "
            "Set sasl.mechanism=AWS_MSK_IAM.",
        ),
    ],
)
def test_the_callback_handler_of_another_mechanism_is_refused(keys: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        login(settings(**keys))
    assert str(caught.value) == message


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer", None)
    with pytest.raises(ConfigError) as caught:
        open_manager(settings())
    assert str(caught.value) == (
        "Amazon MSK with IAM needs the package aws-msk-iam-sasl-signer-python, which is not installed. "
        "Install groupscope[msk]."
    )
