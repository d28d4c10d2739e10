"""Client properties -> the Kerberos login; what is missing or contradicts is named by its key."""

import sys
from pathlib import Path

import pytest

from lag.cluster.connection.connect import open_manager
from lag.cluster.connection.credentials import login
from lag.cluster.connection.kerberos_login import KerberosLogin
from lag.cluster.connection.settings import Settings, load_settings
from lag.errors import ConfigError

KEYTAB = 'useKeyTab=true storeKey=true keyTab="/etc/me.keytab" principal="me@EXAMPLE.COM"'
ALL = KerberosLogin("kafka", "me@EXAMPLE.COM", Path("/etc/me.keytab"))


def settings(jaas: str | None, module: str = "com.sun.security.auth.module.Krb5LoginModule", **keys: str) -> Settings:
    env = {
        "GROUPSCOPE_SECURITY_PROTOCOL": "SASL_SSL",
        "GROUPSCOPE_SASL_MECHANISM": "GSSAPI",
        **({"GROUPSCOPE_SASL_JAAS_CONFIG": f"{module} required {jaas};"} if jaas is not None else {}),
        **{f"GROUPSCOPE_{name.upper()}": value for name, value in keys.items()},
    }
    return load_settings("a:1", None, env)


@pytest.mark.parametrize(
    ("jaas", "wanted"),
    [
        (KEYTAB, ALL),
        (f'{KEYTAB} serviceName="broker"', KerberosLogin("broker", ALL.principal, ALL.keytab)),
        (KEYTAB.replace("/etc", "file:/etc"), ALL),
        (f"{KEYTAB} useTicketCache=true", ALL),
        ("useTicketCache=true", KerberosLogin("kafka")),
        ("useTicketCache=TRUE ticketCache=/tmp/x principal=me", KerberosLogin("kafka", "me", None, "/tmp/x")),
    ],
)
def test_the_options_of_javas_login_module_are_read(jaas: str, wanted: KerberosLogin) -> None:
    assert login(settings(jaas)) == wanted


def test_the_names_of_librdkafka_are_read() -> None:
    keys = {"sasl_kerberos_keytab": "/etc/me.keytab", "sasl_kerberos_principal": "me@EXAMPLE.COM"}
    assert login(settings(None, **keys)) == ALL


def test_the_service_name_is_a_setting_of_its_own() -> None:
    assert login(settings(KEYTAB, sasl_kerberos_service_name="broker")) == KerberosLogin(
        "broker", ALL.principal, ALL.keytab
    )


@pytest.mark.parametrize(
    ("jaas", "cause"),
    [
        (None, "GSSAPI needs a keytab with its principal, or a ticket cache"),
        ("", "GSSAPI needs a keytab with its principal, or a ticket cache"),
        ("useKeyTab=true principal=me", "sasl.jaas.config has useKeyTab=true, but no keyTab"),
        ("useKeyTab=true keyTab=/etc/me.keytab", "No principal is set for the keytab /etc/me.keytab"),
        ("keyTab=/etc/me.keytab principal=me", "sasl.jaas.config has keyTab, but not useKeyTab=true"),
        ("ticketCache=/tmp/x", "sasl.jaas.config has ticketCache, but not useTicketCache=true"),
    ],
)
def test_what_is_missing_is_named(jaas: str | None, cause: str) -> None:
    with pytest.raises(ConfigError) as caught:
        login(settings(jaas))
    assert caught.value.cause == cause


def test_two_service_names_are_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        login(settings(f"{KEYTAB} serviceName=kafka", sasl_kerberos_service_name="broker"))
    assert caught.value.cause == (
        "sasl.kerberos.service.name is 'broker', but serviceName in sasl.jaas.config is 'kafka'"
    )


@pytest.mark.parametrize(
    ("mechanism", "module", "message"),
    [
        ("GSSAPI", "PlainLoginModule", "Use Krb5LoginModule in sasl.jaas.config."),
        ("PLAIN", "Krb5LoginModule", "Set sasl.mechanism=GSSAPI."),
        ("OAUTHBEARER", "IAMLoginModule", "Set sasl.mechanism=AWS_MSK_IAM."),
        ("GSSAPI", "IAMLoginModule", "Set sasl.mechanism=AWS_MSK_IAM."),
        ("AWS_MSK_IAM", "ScramLoginModule", "Use IAMLoginModule in sasl.jaas.config."),
    ],
)
def test_the_login_module_of_another_mechanism_is_refused(mechanism: str, module: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        login(settings('username="me" password="geheim"', f"x.{module}", sasl_mechanism=mechanism))
    assert str(caught.value) == f"sasl.jaas.config has {module}, but sasl.mechanism is {mechanism}. {message}"


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(ConfigError) as caught:
        open_manager(settings(KEYTAB))
    assert str(caught.value) == (
        "GSSAPI needs the package gssapi, which is not installed. Install groupscope[kerberos]; "
        "building it takes a C compiler and the Kerberos headers (Debian: gcc libkrb5-dev)."
    )
