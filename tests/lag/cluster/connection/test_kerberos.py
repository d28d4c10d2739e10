"""SASL GSSAPI at a real broker, with tickets of a real KDC; and the error when there is no ticket.

Needs Debian's packages krb5-kdc, krb5-admin-server, krb5-user and faketime, and the extra `kerberos`; skipped without.
"""

import logging
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kafka.protocol.metadata import MetadataRequest

from lag.cluster.connection.connect import Connection, open_manager
from lag.cluster.connection.kerberos import Tickets
from lag.cluster.connection.settings import Settings, load_settings
from lag.embedded.broker import EmbeddedKafka
from lag.embedded.config import HOST
from lag.embedded.jars import kafka_classpath
from lag.embedded.storage import kept_checkpoint
from lag.embedded.user_cache import cache_dir
from lag.errors import AddressError, AuthenticationError, ConfigError, ConnectError
from tests.support.kerberos import REALM, Realm, broker_properties, missing
from tests.support.secure_kafka import some_ports
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.long, pytest.mark.timeout(600)]
MODULE = "com.sun.security.auth.module.Krb5LoginModule"
BROKER = f"kafka/{HOST}@{REALM}"
ALICE = f"alice@{REALM}"


class Scene(NamedTuple):
    """A realm with a running KDC, and a broker of which a listener takes its tickets."""

    realm: Realm
    krb5_conf: Path
    server: str
    keytab: Path


class KerberosKafka(EmbeddedKafka):
    """A broker that reads the realm's krb5.conf."""

    def __init__(self, krb5_conf: Path, properties: dict[str, str]) -> None:
        super().__init__(properties=properties, heap_mb=256)
        self._krb5_conf = krb5_conf

    def _format(self, command: list[str], classpath: list[Path]) -> None:
        super()._format(command, classpath)
        command.insert(1, f"-Djava.security.krb5.conf={self._krb5_conf}")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    if reason := missing():
        pytest.skip(reason)
    realm = Realm(tmp_path_factory.mktemp("realm"))
    keytab = realm.keytab("alice", "alice.keytab")
    properties = {
        **_listeners(),
        **broker_properties(realm.keytab(f"kafka/{HOST}", "broker.keytab"), BROKER, "kerberos"),
    }
    server = re.findall(r"KERBEROS://([^,]+)", properties["listeners"])[0]
    try:
        with realm.kdc() as krb5_conf, KerberosKafka(krb5_conf, properties):
            yield Scene(realm, krb5_conf, server, keytab)
    finally:  # other ports have another checkpoint
        kept_checkpoint(cache_dir(), kafka_classpath(), properties).unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def client(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is a client of the realm."""
    monkeypatch.setenv("KRB5_CONFIG", str(scene.krb5_conf))


def _listeners() -> dict[str, str]:
    plain, controller, kerberos = (f"{HOST}:{port}" for port in some_ports(3))
    return {
        "controller.quorum.voters": f"1@{controller}",
        "listeners": f"PLAINTEXT://{plain},KERBEROS://{kerberos},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{plain},KERBEROS://{kerberos}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,KERBEROS:SASL_PLAINTEXT",
    }


def settings(server: str, jaas: str, **keys: str) -> Settings:
    env = {
        "GROUPSCOPE_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "GROUPSCOPE_SASL_MECHANISM": "GSSAPI",
        "GROUPSCOPE_SASL_JAAS_CONFIG": f"{MODULE} required {jaas};",
        "GROUPSCOPE_SOCKET_CONNECTION_SETUP_TIMEOUT_MS": "30000",
        **{f"GROUPSCOPE_{name.upper()}": value for name, value in keys.items()},
    }
    return load_settings(server, None, env)


def with_keytab(keytab: Path, principal: str = ALICE) -> str:
    return f'useKeyTab=true storeKey=true keyTab="{keytab}" principal="{principal}"'


def topics(connection: Connection) -> list[str]:
    request = MetadataRequest(topics=MetadataRequest.ALL_TOPICS, allow_auto_topic_creation=False)
    return [topic.name for topic in connection.manager.run(connection.manager.send, request, 1).topics]


def refusal(wanted: Settings, kind: type[ConnectError]) -> str:
    with pytest.raises(ConnectError) as caught:
        open_manager(wanted).close()
    assert type(caught.value) is kind, caught.value
    return str(caught.value)


class TestLogin:
    def test_the_broker_takes_a_ticket_of_the_keytab(self, scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        with open_manager(settings(scene.server, with_keytab(scene.keytab))) as connection:
            assert topics(connection) == []
        assert caplog.text == ""

    def test_the_names_of_librdkafka_work_without_a_jaas_line(self, scene: Scene) -> None:
        env = {
            "GROUPSCOPE_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
            "GROUPSCOPE_SASL_MECHANISM": "GSSAPI",
            "GROUPSCOPE_SASL_KERBEROS_KEYTAB": str(scene.keytab),
            "GROUPSCOPE_SASL_KERBEROS_PRINCIPAL": ALICE,
        }
        with open_manager(load_settings(scene.server, None, env)) as connection:
            assert topics(connection) == []

    def test_the_broker_takes_a_ticket_of_kinit(self, scene: Scene, tmp_path: Path) -> None:
        cache = tmp_path / "cache"
        subprocess.run(["kinit", "-k", "-t", scene.keytab, "-c", cache, ALICE], check=True, timeout=60)
        with open_manager(settings(scene.server, f'useTicketCache=true ticketCache="{cache}"')) as connection:
            assert topics(connection) == []

    def test_a_login_is_repeated_when_the_broker_asks_for_it(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        logins, start = list[str](), Tickets.start

        def counted(tickets: Tickets, host: str) -> tuple[Any, bytes]:
            logins.append(host)
            return start(tickets, host)

        monkeypatch.setattr(Tickets, "start", counted)
        with open_manager(settings(scene.server, with_keytab(scene.keytab))) as connection:
            wait_until(lambda: len(logins) > 3)  # two are for the bootstrap server and the broker
            assert topics(connection) == []


class TestRefusals:
    def test_a_keytab_with_an_old_key_is_named_as_such(self, scene: Scene) -> None:
        old = scene.realm.keytab("bob", "bob-old.keytab")
        scene.realm.keytab("bob", "bob.keytab")
        reported = refusal(settings(scene.server, with_keytab(old, f"bob@{REALM}")), AuthenticationError)
        assert reported == (
            f"Kerberos gives no ticket for principal bob@{REALM}: Preauthentication failed. "
            "The key in the keytab is not the principal's current one: export the keytab again."
        )

    def test_a_keytab_of_another_principal_is_named_as_such(self, scene: Scene) -> None:
        reported = refusal(settings(scene.server, with_keytab(scene.keytab, f"bob@{REALM}")), AuthenticationError)
        assert reported == (
            f"The keytab {scene.keytab} has no key for principal bob@{REALM}. "
            "Export the keytab of this principal, or set principal to one that klist -kt shows."
        )

    def test_a_principal_that_the_kdc_does_not_have(self, scene: Scene) -> None:
        keytab = scene.realm.keytab("carol", "carol.keytab")
        scene.realm.delete("carol")
        assert refusal(settings(scene.server, with_keytab(keytab, f"carol@{REALM}")), AuthenticationError) == (
            f"Kerberos gives no ticket for principal carol@{REALM}: "
            f"Client 'carol@{REALM}' not found in Kerberos database. "
            "Check principal in sasl.jaas.config, and that the KDC of its realm has it."
        )

    def test_a_service_that_the_kdc_does_not_have(self, scene: Scene) -> None:
        wanted = settings(scene.server, with_keytab(scene.keytab), sasl_kerberos_service_name="broker")
        assert refusal(wanted, AuthenticationError) == (
            f"Kerberos gives no ticket for principal {ALICE}: "
            f"Server broker/{HOST}@{REALM} not found in Kerberos database. "
            "Check sasl.kerberos.service.name, and name brokers as in their principals (service/host@REALM)."
        )

    def test_a_service_of_which_the_broker_has_no_key(self, scene: Scene) -> None:
        scene.realm.keytab(f"other/{HOST}", "other.keytab")
        wanted = settings(scene.server, with_keytab(scene.keytab), sasl_kerberos_service_name="other")
        assert refusal(wanted, AuthenticationError) == (
            f"{scene.server} rejects the Kerberos ticket of principal {ALICE}. "
            f"Check that the broker's keytab has the current key of other/{HOST}, "
            "and that the clocks of broker, KDC and this machine agree within 5 minutes."
        )

    def test_a_kdc_that_is_not_there(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        (port,) = some_ports(1)
        monkeypatch.setenv("KRB5_CONFIG", str(scene.realm.krb5_conf("nobody.conf", port)))
        assert refusal(settings(scene.server, with_keytab(scene.keytab)), AddressError) == (
            f"Kerberos gives no ticket for principal {ALICE}: Cannot contact any KDC for realm '{REALM}'. "
            "Check kdc in krb5.conf (KRB5_CONFIG), and that its port can be reached from here."
        )

    def test_no_ticket_in_the_cache(self, scene: Scene, tmp_path: Path) -> None:
        cache = f'useTicketCache=true ticketCache="{tmp_path / "none"}"'
        reported = refusal(settings(scene.server, cache), AuthenticationError)
        assert reported.startswith("Kerberos gives no ticket for the principal of the ticket cache: No ")
        assert reported.endswith("Run kinit, or give a keytab (useKeyTab=true keyTab=… principal=…).")

    def test_a_keytab_that_does_not_exist(self, scene: Scene, tmp_path: Path) -> None:
        with pytest.raises(ConfigError) as caught:
            open_manager(settings(scene.server, with_keytab(tmp_path / "none")))
        assert str(caught.value) == f"The keytab {tmp_path / 'none'} does not exist. Check keyTab in sasl.jaas.config."


class TestClocks:
    def test_a_kdc_whose_clock_is_an_hour_ahead(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        with scene.realm.kdc(ahead="+1h", kdc_timesync="0") as krb5_conf:
            monkeypatch.setenv("KRB5_CONFIG", str(krb5_conf))
            reported = refusal(settings(scene.server, with_keytab(scene.keytab)), AuthenticationError)
        assert reported == (
            f"Kerberos gives no ticket for principal {ALICE}: Clock skew too great. "
            "Synchronize the clocks of this machine, the KDC and the brokers: they must agree within 5 minutes."
        )

    def test_a_broker_whose_clock_is_an_hour_behind_the_kdc(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With `kdc_timesync = 1`, MIT Kerberos's default, we follow the KDC's clock, and the broker refuses us."""
        with scene.realm.kdc(ahead="+1h") as krb5_conf:
            monkeypatch.setenv("KRB5_CONFIG", str(krb5_conf))
            reported = refusal(settings(scene.server, with_keytab(scene.keytab)), AuthenticationError)
        assert reported == (
            f"{scene.server} rejects the Kerberos ticket of principal {ALICE}. "
            f"Check that the broker's keytab has the current key of kafka/{HOST}, "
            "and that the clocks of broker, KDC and this machine agree within 5 minutes."
        )
