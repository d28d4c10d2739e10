"""Whatever is wrong with address, file, login or cluster: exit code 1, a sentence with the hint, and no secret."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka.admin import KafkaAdminClient, ResourceType
from kafka.protocol.admin import ListGroupsRequest
from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest

from app.cli.snapshot import read_once
from benchmarks import fill
from lag.embedded.broker import EmbeddedKafka
from lag.errors import ConnectError
from lag.model import Scope
from tests.app.cli.commandline import refused, run
from tests.conftest import USERS
from tests.lag.cluster.connection import strangers
from tests.lag.cluster.connection.certificates import DAY, Authority
from tests.support.acls import let_describe
from tests.support.member import Member
from tests.support.proxy import Proxy, broker_behind_proxy
from tests.support.secure_kafka import SecureKafka
from tests.support.waiting import wait_until

SECRET = "s3cret-Passw0rd"
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required"


def properties(folder: Path, **keys: object) -> str:
    """A client.properties file; `ssl_truststore_location=…` stands for ssl.truststore.location=…"""
    path = folder / "client.properties"
    path.write_text("".join(f"{name.replace('_', '.')}={value}\n" for name, value in keys.items()))
    return str(path)


# -- addresses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["snapshot", "doctor"])
def test_unknown_host(command: str) -> None:
    done = run(command, "--bootstrap-server", "nowhere.invalid:9092")
    assert done.code == 1
    assert "The host name nowhere.invalid is unknown" in done.out + done.err
    assert "Check the spelling" in done.out + done.err


def test_refused_port() -> None:
    port = strangers.free_port()
    assert refused("snapshot", "--bootstrap-server", f"127.0.0.1:{port}") == (
        f"127.0.0.1:{port} refuses the connection. Check that a broker listens on this port and is running."
    )


def test_refused_port_as_json() -> None:
    port = strangers.free_port()
    done = run("snapshot", "--json", "--bootstrap-server", f"127.0.0.1:{port}")
    assert done.code == 1
    assert done.document["error"] == {
        "cause": f"127.0.0.1:{port} refuses the connection",
        "hint": "Check that a broker listens on this port and is running.",
    }


@pytest.mark.parametrize("address", ["broker:kafka", "http://broker:9092/"])
def test_address_that_is_none(address: str) -> None:
    reported = refused("snapshot", "--bootstrap-server", address)
    assert repr(address) in reported
    assert "write host:port" in reported


def test_server_that_answers_garbage() -> None:
    with strangers.serve(strangers.says(b"\x00\x00\x00\x10groupscope!!")) as address:
        reported = refused("snapshot", "--bootstrap-server", str(address))
    assert reported.startswith(f"{address} does not answer as a Kafka broker does. Name a broker's host and port")


# -- files -------------------------------------------------------------------------------------------------------------


def test_file_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path) -> None:
    missing, binary = tmp_path / "none.properties", tmp_path / "store.p12"
    binary.write_bytes(b"\x00\x01\x02\xff")
    assert refused("snapshot", "--config", str(missing)) == (f"There is no file {missing}. Check the path.")
    assert refused("snapshot", "--config", str(tmp_path)).startswith(f"{tmp_path} is a directory. Name the properties")
    assert refused("snapshot", "--config", str(binary)).startswith(f"{binary} is not a text file. Name a client.prop")


def test_file_that_may_not_be_read() -> None:
    """A file that even root may not read: the memory of the process itself, at address 0."""
    assert refused("snapshot", "--config", "/proc/self/mem").startswith("/proc/self/mem could not be read: ")


def test_line_that_cannot_be_parsed_is_named_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text(f"bootstrap.servers=b:9092\n\nsasl.password=C:\\users\\{SECRET}\n")
    reported = refused("snapshot", "--config", str(path))
    assert reported.startswith(
        f"{path}, line 3: \\u is not followed by four hexadecimal digits. Write a literal backslash"
    )
    assert SECRET not in reported


def test_unknown_keys_are_all_named_with_the_nearest(tmp_path: Path) -> None:
    path = properties(tmp_path, bootstrap_servers="b:9092", sasl_pasword=SECRET, ssl_trustore_location="/ca.pem")
    reported = refused("snapshot", "--config", path)
    assert f"'sasl.pasword' ({path}, line 2) is unknown, did you mean sasl.password" in reported
    assert f"'ssl.trustore.location' ({path}, line 3) is unknown, did you mean ssl.truststore.location" in reported
    assert SECRET not in reported


def test_values_that_cannot_be_used_are_named_and_not_shown(tmp_path: Path) -> None:
    path = properties(tmp_path, bootstrap_servers="b:9092", security_protocol=SECRET, request_timeout_ms=SECRET)
    reported = refused("snapshot", "--config", path)
    assert f"security.protocol ({path}, line 2)" in reported
    assert f"request.timeout.ms ({path}, line 3)" in reported
    assert SECRET not in reported


def test_slip_in_a_variable_is_named(tmp_path: Path) -> None:
    reported = refused("snapshot", "--bootstrap-server", "b:9092", env={"GROUPSCOPE_SASL_PASWORD": SECRET})
    assert "GROUPSCOPE_SASL_PASWORD" in reported
    assert "did you mean sasl.password" in reported
    assert SECRET not in reported


@pytest.mark.parametrize("key", ["ssl_truststore_location", "ssl_keystore_location"])
def test_store_that_is_missing_is_named_with_its_key(tmp_path: Path, key: str) -> None:
    keys = {"security_protocol": "SSL", key: tmp_path / "none.p12", key.replace("location", "password"): SECRET}
    reported = refused("snapshot", "--config", properties(tmp_path, bootstrap_servers="127.0.0.1:1", **keys))
    assert key.replace("_", ".") in reported
    assert str(tmp_path / "none.p12") in reported
    assert SECRET not in reported


# -- protocols, certificates, logins -----------------------------------------------------------------------------------


@pytest.mark.broker
def test_ssl_against_plaintext(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    path = properties(tmp_path, bootstrap_servers=kafka.bootstrap_servers, security_protocol="SSL")
    assert refused("snapshot", "--config", path).startswith(
        f"{kafka.bootstrap_servers} does not use TLS, but security.protocol is SSL. Set security.protocol=PLAINTEXT"
    )


@pytest.mark.broker
def test_plaintext_against_ssl(secure_kafka: SecureKafka) -> None:
    servers = secure_kafka.sasl_ssl_bootstrap_servers
    assert refused("snapshot", "--bootstrap-server", servers).startswith(
        f"{servers} uses TLS, but security.protocol is PLAINTEXT. Set security.protocol="
    )


def test_expired_certificate(tmp_path: Path) -> None:
    authority = Authority()
    context = authority.sign("broker", "localhost", since=-3 * DAY, until=-DAY).server_context(tmp_path)
    with strangers.serve(strangers.tls(context)) as address:
        keys = {"security_protocol": "SSL", "ssl_truststore_location": authority.pem_file(tmp_path / "ca.pem")}
        reported = refused("snapshot", "--config", properties(tmp_path, bootstrap_servers=address, **keys))
    assert reported == f"The certificate of {address} has expired. Renew it on the broker."


def login(kafka: SecureKafka, folder: Path, user: str, password: str) -> str:
    return properties(
        folder,
        bootstrap_servers=kafka.sasl_ssl_bootstrap_servers,
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        ssl_truststore_location=kafka.ca_file,
        sasl_jaas_config=f'{LOGIN} username="{user}" password="{password}";',
    )


@pytest.mark.broker
@pytest.mark.parametrize("command", [["snapshot"], ["doctor", "--json"]])
def test_wrong_password(secure_kafka: SecureKafka, tmp_path: Path, command: list[str]) -> None:
    done = run(*command, "--config", login(secure_kafka, tmp_path, "alice", SECRET))
    stated = done.out + done.err
    assert done.code == 1
    assert "rejects user 'alice' (SCRAM-SHA-512)" in stated
    assert "Check user name and password" in stated
    assert SECRET not in stated


# -- what may not be seen ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(secure_kafka: SecureKafka) -> SecureKafka:
    """bob may describe the cluster, group cli-open-00000, cli-shut-00001 and topic cli-open-topic; nothing else."""
    for prefix in ("cli-open", "cli-shut"):
        fill.groups(secure_kafka.bootstrap_servers, prefix, 2, 3)
    allowed = (
        (ResourceType.CLUSTER, "kafka-cluster"),
        (ResourceType.GROUP, "cli-open-00000"),
        (ResourceType.GROUP, "cli-shut-00001"),
        (ResourceType.TOPIC, "cli-open-topic"),
    )
    with KafkaAdminClient(bootstrap_servers=secure_kafka.bootstrap_servers) as admin:
        let_describe(admin, "bob", allowed)
    return secure_kafka


@pytest.fixture
def bob(guarded: SecureKafka, tmp_path: Path) -> str:
    return login(guarded, tmp_path, "bob", USERS["bob"])


@pytest.fixture(scope="module")
def reads_a_hidden_topic(guarded: SecureKafka) -> Iterator[None]:
    """Kafka leaves hidden topics out of a group's commits; a member's assignment still names them."""
    member = Member(guarded.bootstrap_servers, "cli-shut-00001", ["cli-shut-topic"], {})
    wait_until(lambda: len(member.held) == 3)
    yield
    member.leave()


@pytest.mark.broker
@pytest.mark.usefixtures("reads_a_hidden_topic")
def test_missing_acl_on_a_group_or_a_topic_is_named_and_the_rest_is_read(bob: str) -> None:
    done = run("snapshot", "--json", "--config", bob)
    groups = {group["group_id"]: group for group in done.document["groups"]}
    assert done.code == 0
    assert not done.document["complete"]
    assert (groups["cli-open-00000"]["lag"], groups["cli-open-00000"]["problems"]) == (0, [])
    (denied,) = groups["cli-open-00001"]["problems"]
    assert (denied["kind"], denied["hint"]) == ("unauthorized", "Grant DESCRIBE on group cli-open-00001")
    hidden = groups["cli-shut-00001"]
    assert (hidden["lag"], {row["problem"] for row in hidden["partitions"]}) == (None, {"unauthorized"})
    assert USERS["bob"] not in done.out + done.err


@pytest.mark.broker
def test_missing_acl_is_reported_beside_the_table(bob: str) -> None:
    done = run("snapshot", "--config", bob, "--group", "cli-open-00000", "--group", "cli-open-00001")
    assert done.code == 0
    assert done.out.splitlines()[1].startswith("cli-open-00000 ")
    assert "Grant DESCRIBE on group cli-open-00001" in done.err
    assert done.err.splitlines()[-1].endswith(", incomplete")


@pytest.mark.broker
@pytest.mark.usefixtures("reads_a_hidden_topic")
def test_missing_acl_is_reported_by_the_doctor(bob: str) -> None:
    done = run("doctor", "--json", "--config", bob)
    assert done.code == 1
    (authorised,) = [check for check in done.document["checks"] if check["name"] == "authorised"]
    assert (authorised["ok"], authorised["hint"]) == (False, "Grant DESCRIBE on the listed resources")
    assert "cli-open-00001" in authorised["detail"]
    assert "cli-shut-topic" in authorised["detail"]
    (records,) = [check for check in done.document["checks"] if check["name"] == "records"]
    assert records["ok"] is None
    assert records["detail"].endswith("and `pipeline stream` records nothing")
    assert records["hint"].startswith("Grant READ on __consumer_offsets")
    assert USERS["bob"] not in done.out + done.err


@pytest.mark.broker
@pytest.mark.usefixtures("reads_a_hidden_topic")
def test_records_that_may_be_read_are_reported_by_the_doctor(secure_kafka: SecureKafka) -> None:
    done = run("doctor", "--json", "--bootstrap-server", secure_kafka.bootstrap_servers)
    (records,) = [check for check in done.document["checks"] if check["name"] == "records"]
    assert (done.code, records["ok"], records["hint"]) == (0, True, "")


# -- a cluster that vanishes -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def behind_proxy() -> Iterator[Proxy]:
    """A cluster with groups, that can vanish."""
    with broker_behind_proxy() as proxy:
        fill.groups(str(proxy.address), "vanishing", 3, 2)
        yield proxy


@pytest.mark.broker
def test_cluster_that_vanishes_after_any_request_gives_an_error_or_what_was_read_so_far(behind_proxy: Proxy) -> None:
    endings: list[str] = []
    while "complete" not in endings:
        behind_proxy.vanish_after(len(endings) + 1)
        endings.append(ending(str(behind_proxy.address)))
    behind_proxy.come_back()
    assert set(endings) == {"error", "partial", "complete"}


def ending(servers: str) -> str:
    """How one snapshot ends; anything but an error with a hint, or a snapshot that says what is missing, is a bug."""
    try:
        found = read_once(servers, None, 1.0).snapshot
    except ConnectError as error:
        return "error" if servers in error.cause and error.hint else f"unclear: {error}"
    if found.complete:
        return "complete"
    return "partial" if found.problems else "unexplained"


@pytest.mark.broker
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_cluster_that_vanishes_is_reported_by_the_command(behind_proxy: Proxy, as_json: list[str]) -> None:
    behind_proxy.vanish_after(3)
    done = run("snapshot", "--bootstrap-server", str(behind_proxy.address), "--deadline", "1", *as_json)
    behind_proxy.come_back()
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert json.loads(done.out)["error"] if as_json else done.out == ""


@pytest.mark.broker
@pytest.mark.parametrize(
    "request_", [ListGroupsRequest, ListOffsetsRequest, OffsetFetchRequest], ids=lambda request: str(request.__name__)
)
def test_broker_whose_answers_are_spoiled_on_the_way_is_not_called_unreachable(
    behind_proxy: Proxy, request_: Any
) -> None:
    behind_proxy.spoil(request_.API_KEY)
    found = read_once(str(behind_proxy.address), None, 3.0).snapshot
    behind_proxy.come_back()
    (problem,) = [one for one in found.problems if one.scope is Scope.BROKER]
    assert (problem.kind, problem.subject) == ("garbled", "1")
    assert problem.cause.startswith(
        f"broker 1 at {behind_proxy.address} answers something that is not Kafka's protocol: "
    )
    assert problem.hint == "Check that it is a Kafka broker, and that no proxy changes its answers"


@pytest.mark.broker
def test_spoiled_answer_is_reported_by_the_command(behind_proxy: Proxy) -> None:
    behind_proxy.spoil(ListGroupsRequest.API_KEY)
    done = run("snapshot", "--bootstrap-server", str(behind_proxy.address))
    behind_proxy.come_back()
    assert done.code == 0
    assert done.err.splitlines()[0] == (
        f"problem: broker 1 at {behind_proxy.address} answers something that is not Kafka's protocol: "
        "ValueError when decoding its answer. "
        "Check that it is a Kafka broker, and that no proxy changes its answers"
    )
