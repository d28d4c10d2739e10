"""Flags, environment and file -> settings; what is wrong in them is named, what is secret is not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lag.cluster.connection import settings
from lag.cluster.connection.address import Address
from lag.cluster.connection.credentials import PasswordLogin, TokenLogin, login
from lag.cluster.connection.setting_names import ALIASES, IGNORED, UNSUPPORTED
from lag.cluster.connection.settings import MASK, USED, Settings, load_settings
from lag.errors import ConfigError

JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="ge\\"heim;";'


def write(folder: Path, text: str) -> Path:
    path = folder / "client.properties"
    path.write_text(text)
    return path


def from_file(folder: Path, text: str) -> Settings:
    return load_settings(None, write(folder, text), {})


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        from_file(folder, text)
    return str(caught.value)


def test_a_flag_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "bootstrap.servers=file:1\nclient.id=file\nrequest.timeout.ms=1000\n")
    env = {"GROUPSCOPE_BOOTSTRAP_SERVERS": "env:2", "GROUPSCOPE_CLIENT_ID": "env"}
    settings = load_settings("flag:3", path, env)
    assert settings.bootstrap_servers == (Address("flag", 3),)
    assert (settings.client_id, settings.request_timeout_ms) == ("env", 1000)


@pytest.mark.parametrize("mark", ["true", "TRUE", "yes", "1", "on"])
def test_a_cluster_that_is_marked_read_only_stays_so(tmp_path: Path, mark: str) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"groupscope.read.only={mark}\n")
    assert load_settings("b:1", file, {"GROUPSCOPE_READ_ONLY": "false"}).read_only
    assert load_settings("b:1", None, {"GROUPSCOPE_READ_ONLY": mark}).read_only
    file.write_text("groupscope.read.only=false\n")
    assert load_settings("b:1", file, {"GROUPSCOPE_READ_ONLY": mark}).read_only
    assert not load_settings("b:1", file, {}).read_only


def test_the_environment_can_name_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "bootstrap.servers=file:1\n")
    assert load_settings(None, None, {"GROUPSCOPE_CONFIG": str(path)}).servers == "file:1"


def test_librdkafka_names_are_understood(tmp_path: Path) -> None:
    settings = from_file(tmp_path, "metadata.broker.list=a:1\nssl.ca.location=ca.pem\nsasl.mechanisms=plain\n")
    assert (settings.servers, settings.truststore, settings.sasl_mechanism) == ("a:1", Path("ca.pem"), "PLAIN")


def test_keys_of_other_clients_are_accepted_and_listed(tmp_path: Path) -> None:
    text = "bootstrap.servers=a:1\ngroup.id=g\nacks=all\nvalue.deserializer=X\n"
    assert from_file(tmp_path, text).ignored == ("acks", "group.id", "value.deserializer")


def test_every_unknown_key_is_named_with_its_line_and_the_nearest_known_one(tmp_path: Path) -> None:
    text = "bootstrap.server=a:1\nsasl.jaas.conf=geheim\nwhatever.it.is=1\n"
    path = tmp_path / "client.properties"
    assert refusal(tmp_path, text) == (
        "Unknown or unsupported settings: "
        f"'bootstrap.server' ({path}, line 1) is unknown, did you mean bootstrap.servers; "
        f"'sasl.jaas.conf' ({path}, line 2) is unknown, did you mean sasl.jaas.config; "
        f"'whatever.it.is' ({path}, line 3) is unknown. Correct or remove them."
    )


def test_a_file_with_too_many_settings_is_refused_at_the_first_beyond_the_limit(tmp_path: Path) -> None:
    text = "".join(f"sasl.mechanis{number}=1\n" for number in range(20_000))
    assert refusal(tmp_path, text).endswith(
        "line 2001: there are more than 2,000 settings. Give the properties of one client or broker."
    )


def test_of_many_unknown_keys_the_first_are_named_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def compare(key: str, _known: object) -> None:
        compared.append(key)

    monkeypatch.setattr(settings, "nearest", compare)
    found = refusal(tmp_path, "".join(f"sasl.mechanis{number}=1\n" for number in range(2_000)))
    assert "'sasl.mechanis19' " in found
    assert "; and 1,980 more" in found
    assert len(compared) == 20


def test_a_slip_in_the_name_of_a_variable_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings("a:1", None, {"GROUPSCOPE_SASL_MECHANISMUS": "PLAIN", "GROUPSCOPE_SOMETHING_ELSE": "x"})
    assert str(caught.value) == (
        "Unknown or unsupported settings: 'sasl.mechanismus' (GROUPSCOPE_SASL_MECHANISMUS) is unknown, "
        "did you mean sasl.mechanism. Correct or remove them."
    )


def test_what_is_set_to_nothing_counts_as_not_set(tmp_path: Path) -> None:
    settings = from_file(tmp_path, "bootstrap.servers=a:1\nssl.truststore.location=\nsasl.mechanism= \n")
    assert (settings.truststore, settings.sasl_mechanism) == (None, None)


@pytest.mark.parametrize(("text", "checked"), [("", ""), ("none", ""), ("HTTPS", "https")])
def test_the_check_of_the_host_name_can_be_switched_off(tmp_path: Path, text: str, checked: str) -> None:
    lines = f"bootstrap.servers=a:1\nssl.endpoint.identification.algorithm={text}\n"
    assert from_file(tmp_path, lines).check_host == checked


@pytest.mark.parametrize("url", ["token", "ftp://a/b", "https://", "https://[::1/token", "https://me:geheim@a/token"])
def test_a_token_endpoint_that_is_no_plain_url_is_refused(tmp_path: Path, url: str) -> None:
    reported = refusal(tmp_path, f"bootstrap.servers=a:1\nsasl.oauthbearer.token.endpoint.url={url}\n")
    assert "sasl.oauthbearer.token.endpoint.url" in reported
    assert "geheim" not in reported


def test_a_setting_that_we_cannot_honour_is_refused_with_another_way(tmp_path: Path) -> None:
    text = refusal(tmp_path, "bootstrap.servers=a:1\nconfig.providers=file\n")
    assert "config.providers" in text
    assert "Write the values into the file" in text


def test_all_wrong_values_are_named_at_once_without_the_value(tmp_path: Path) -> None:
    text = refusal(tmp_path, "bootstrap.servers=a:1\nrequest.timeout.ms=soon\nsecurity.protocol=TLS\n")
    assert "request.timeout.ms" in text
    assert "line 2" in text
    assert "security.protocol" in text
    assert "'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT' or 'SASL_SSL'" in text
    assert "soon" not in text


def test_no_broker_at_all_says_where_one_can_be_named() -> None:
    with pytest.raises(ConfigError, match=r"No broker is specified\. Give --bootstrap-server HOST:PORT"):
        load_settings(None, None, {})


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("a:1", [("a", 1)]),
        (" a:1 , b.example.com:65535,,a:1", [("a", 1), ("b.example.com", 65535)]),
        ("[::1]:9092", [("::1", 9092)]),
        ("[fe80::1%eth0]:9092", [("fe80::1%eth0", 9092)]),
        ("SASL_SSL://kafka_1:9092", [("kafka_1", 9092)]),
    ],
)
def test_bootstrap_servers_are_read(text: str, addresses: list[tuple[str, int]]) -> None:
    assert load_settings(text, None, {}).bootstrap_servers == tuple(Address(*a) for a in addresses)


@pytest.mark.parametrize(
    "text", ["a", "a:", ":1", "a:0", "a:65536", "a:x", "::1:9092", "http://a:1/b", "a b:1", "a..b:1"]
)
def test_an_address_without_host_and_port_is_refused_by_name(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(text, None, {})
    assert f"bootstrap.servers (--bootstrap-server): {text!r} is not an address; write host:port" in str(caught.value)


def test_an_ipv6_address_is_shown_in_brackets() -> None:
    assert load_settings("[::1]:9092", None, {}).servers == "[::1]:9092"


def test_no_secret_is_in_repr_str_or_the_masked_listing(tmp_path: Path) -> None:
    keys = [
        "ssl.truststore.password", "ssl.keystore.password", "ssl.key.password", "ssl.keystore.key", "sasl.jaas.config",
        "sasl.password", "sasl.oauthbearer.client.credentials.client.secret",
    ]  # fmt: skip
    settings = from_file(tmp_path, "bootstrap.servers=a:1\n" + "".join(f"{key}=geheim\n" for key in keys))
    masked = settings.masked()
    assert "geheim" not in f"{settings!r} {settings!s} {masked}"
    assert {key: masked[key] for key in keys} == dict.fromkeys(keys, MASK)
    assert masked["bootstrap.servers"] == "a:1"
    assert masked["security.protocol"] == "PLAINTEXT"
    assert "sasl.mechanism" not in masked


def test_a_password_keeps_its_blanks_and_other_values_lose_them(tmp_path: Path) -> None:
    settings = from_file(tmp_path, "bootstrap.servers=a:1\nsasl.password=x \nclient.id=y \n")
    assert settings.sasl_password is not None
    assert (settings.sasl_password.get_secret_value(), settings.client_id) == ("x ", "y")


def test_every_setting_of_the_java_clients_is_known(java_classes: Callable[[str], Any]) -> None:
    classes = ["admin.AdminClientConfig", "consumer.ConsumerConfig", "producer.ProducerConfig"]
    names = {str(n) for c in classes for n in java_classes(f"org.apache.kafka.clients.{c}").configNames()}
    known = USED | IGNORED | set(UNSUPPORTED) | set(ALIASES)
    assert {name for name in names - known if not name.startswith("sasl.oauthbearer.assertion")} == set()


def sasl(tmp_path: Path, *lines: str) -> Settings:
    return from_file(tmp_path, "\n".join(["bootstrap.servers=a:1", "security.protocol=SASL_SSL", *lines]))


def test_user_and_password_come_from_the_jaas_line(tmp_path: Path) -> None:
    path = write(tmp_path, "bootstrap.servers=a:1\nsecurity.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n")
    who = login(load_settings(None, path, {"GROUPSCOPE_SASL_JAAS_CONFIG": JAAS}))
    assert isinstance(who, PasswordLogin)
    assert (who.username, who.password.get_secret_value()) == ("alice", 'ge"heim;')
    assert "heim" not in repr(who)


@pytest.mark.parametrize(
    "jaas",
    [
        "x.PlainLoginModule required username=alice password='geheim';",
        'x.PlainLoginModule  REQUIRED\n  username = "alice"password="geheim" serviceName="kafka" ;\n',
    ],
)
def test_other_spellings_of_the_jaas_line_are_read(jaas: str) -> None:
    env = {"GROUPSCOPE_SECURITY_PROTOCOL": "sasl_ssl", "GROUPSCOPE_SASL_MECHANISM": "PLAIN"}
    who = login(load_settings("a:1", None, {**env, "GROUPSCOPE_SASL_JAAS_CONFIG": jaas}))
    assert isinstance(who, PasswordLogin)
    assert (who.username, who.password.get_secret_value()) == ("alice", "geheim")


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ([], "security.protocol is SASL_SSL, but sasl.mechanism is not set"),
        (["sasl.mechanism=PLAIN"], "No user name is set for PLAIN"),
        (["sasl.mechanism=PLAIN", "sasl.username=a"], "No password is set for PLAIN"),
        (["sasl.mechanism=PLAIN", "sasl.jaas.config=geheim"], "sasl.jaas.config cannot be read"),
        (["sasl.mechanism=PLAIN", 'sasl.jaas.config=M required password="geheim"'], "sasl.jaas.config cannot be read"),
        (["sasl.mechanism=PLAIN", 'sasl.jaas.config=M required password="gehe;'], "sasl.jaas.config cannot be read"),
        (["sasl.mechanism=SCRAM-SHA-256", "sasl.jaas.config=M required tokenauth=true;"], "tokenauth in sasl.jaas"),
        (["sasl.mechanism=OAUTHBEARER"], "OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url"),
        (
            ["sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=https://a/"],
            "OAUTHBEARER needs a client id and a client secret",
        ),
    ],
)
def test_a_login_that_lacks_something_says_what(tmp_path: Path, lines: list[str], cause: str) -> None:
    with pytest.raises(ConfigError) as caught:
        login(sasl(tmp_path, *lines))
    assert str(caught.value).startswith(cause)
    assert "gehe" not in str(caught.value)


def test_the_oauth_login_is_read_from_the_jaas_line(tmp_path: Path) -> None:
    who = login(
        sasl(
            tmp_path,
            "sasl.mechanism=OAUTHBEARER",
            "sasl.oauthbearer.token.endpoint.url=https://id.example/token",
            'sasl.jaas.config=x.OAuthBearerLoginModule required clientId="me" clientSecret="geheim" scope="kafka" '
            'extension_logicalCluster="lkc-1";',
        )
    )
    assert isinstance(who, TokenLogin)
    assert who.client_secret is not None
    assert (who.client_id, who.scope, dict(who.extensions)) == ("me", "kafka", {"logicalCluster": "lkc-1"})
    assert who.client_secret.get_secret_value() == "geheim"
    assert "geheim" not in repr(who)
