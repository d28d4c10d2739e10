"""`groupscope serve`: several clusters, some of them down or refusing us; an error clears when its cause is gone."""

import http.client
import json
import signal
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from lag.embedded.broker import EmbeddedKafka
from lag.history.store import History
from tests.app.cli.commandline import Running, refused, running
from tests.lag.cluster.connection import strangers
from tests.lag.cluster.connection.certificates import Authority
from tests.lag.pipeline.broker_side import commit, create_topic
from tests.support.known import known
from tests.support.proxy import Proxy, broker_behind_proxy
from tests.support.secure_kafka import SecureKafka
from tests.support.waiting import wait_until

SECRET = "s3cret-Passw0rd"
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required"


@pytest.fixture(scope="module")
def fragile() -> Iterator[Proxy]:
    """A cluster that can vanish."""
    with broker_behind_proxy() as proxy:
        yield proxy


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines))
    return path


def clusters(dashboard: str) -> dict[str, dict[str, Any]]:
    """What /api/ready says of each cluster."""
    try:
        with urllib.request.urlopen(f"{dashboard}/api/ready") as answer:
            body = answer.read()
    except urllib.error.HTTPError as error:
        with error:
            body = error.read()
    found: dict[str, dict[str, Any]] = json.loads(body)["clusters"]
    return found


def addresses(command: Running) -> set[str]:
    """Where the server listens."""
    sockets = psutil.Process(command.process.pid).net_connections("inet")
    return {one.laddr.ip for one in sockets if one.status == psutil.CONN_LISTEN}


@pytest.mark.broker
def test_clusters_that_are_up_down_and_closed_to_us(
    kafka: EmbeddedKafka, fragile: Proxy, secure_kafka: SecureKafka, tmp_path: Path
) -> None:
    up = write(tmp_path / "up.properties", f"bootstrap.servers={kafka.bootstrap_servers}")
    down = write(tmp_path / "down.properties", f"bootstrap.servers={fragile.address}")
    closed = write(
        tmp_path / "closed.properties",
        f"bootstrap.servers={secure_kafka.sasl_ssl_bootstrap_servers}",
        "security.protocol=SASL_SSL",
        "sasl.mechanism=SCRAM-SHA-512",
        f"ssl.truststore.location={secure_kafka.ca_file}",
        f'sasl.jaas.config={LOGIN} username="alice" password="{SECRET}";',
    )
    named = [f"--cluster={path.stem}={path}" for path in (up, down, closed)]
    meant_for_another = {"GROUPSCOPE_SECURITY_PROTOCOL": "SSL"}  # the one of --bootstrap-server, and there is none
    fragile.vanish_after(0)
    args = ["serve", "--json", "--port", "0", "--interval", "1", *named]
    with running(tmp_path, *args, env=meant_for_another) as command:
        line = command.first_line()
        assert list(line) == ["dashboard"]
        url = line["dashboard"]
        assert addresses(command) == {"127.0.0.1"}

        found = clusters(url)
        assert list(found) == ["up", "down", "closed"]
        assert (found["up"]["error"], found["up"]["complete"]) == (None, True)
        assert (found["down"]["number"], found["closed"]["number"]) == (None, None)
        assert found["down"]["error"].startswith(f"{fragile.address} does not answer as a Kafka broker does")
        assert "rejects user 'alice'" in found["closed"]["error"]

        fragile.come_back()
        number = wait_until(lambda: clusters(url)["down"]["number"], within_s=60)
        fragile.vanish_after(0)
        lost = wait_until(lambda: one if (one := clusters(url)["down"])["error"] else None, within_s=60)
        assert known(lost)["number"] >= number
        fragile.come_back()
        wait_until(lambda: clusters(url)["down"]["error"] is None, within_s=60)
        assert clusters(url)["down"]["number"] > known(lost)["number"]

        assert command.ends(signal.SIGINT) == 0
        assert command.out.count("\n") == 1
        assert SECRET not in command.out + command.err + json.dumps(found)
        assert list(command.temp.iterdir()) == []


@pytest.mark.process
def test_with_a_certificate_the_server_speaks_https_only(tmp_path: Path) -> None:
    authority = Authority()
    key = authority.sign("dashboard", "localhost").pem_file(tmp_path / "dashboard.pem")
    trusting = ssl.create_default_context(cafile=authority.pem_file(tmp_path / "ca.pem"))
    certificate = ["--tls-cert", str(key), "--tls-key", str(key), "--allowed-host", "localhost"]
    nowhere = ["--bootstrap-server", "127.0.0.1:1", "--json", "--port", "0"]
    with running(tmp_path, "serve", *nowhere, *certificate) as command:
        url = command.first_line()["dashboard"].replace("127.0.0.1", "localhost")
        assert url.startswith("https://")
        with urllib.request.urlopen(f"{url}/api/live", context=trusting) as answer:
            assert answer.status == 200
        with urllib.request.urlopen(f"{url}/", context=trusting) as page:
            assert all("Secure" in cookie for cookie in page.headers.get_all("Set-Cookie", []))
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(f"{url}/api/live", context=ssl.create_default_context())
        with pytest.raises((urllib.error.URLError, ConnectionError, http.client.HTTPException)):
            urllib.request.urlopen(f"{url}/api/live".replace("https", "http"))
        assert command.ends(signal.SIGINT) == 0


@pytest.mark.broker
def test_what_is_read_is_kept_in_the_history_that_is_named(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    servers = kafka.bootstrap_servers
    create_topic(servers, "kept", 1)
    commit(servers, "kept-group", {("kept", 0): 0})
    history = History(tmp_path / "history")
    args = ["serve", "--json", "--port", "0", "--bootstrap-server", servers, "--history", history.root]
    with running(tmp_path, *args) as command:
        command.first_line()
        assert command.ends(signal.SIGINT) == 0
    groups = history.query("SELECT DISTINCT group_id, lag FROM group_snapshots", "group_snapshots").to_pylist()
    assert {"group_id": "kept-group", "lag": 0} in groups
    ends = history.query("SELECT DISTINCT log_end FROM end_offsets WHERE topic = 'kept'", "end_offsets").to_pylist()
    assert ends == [{"log_end": 0}]


@pytest.mark.broker
def test_settings_from_the_environment_and_a_line_for_people(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    env = {"GROUPSCOPE_BOOTSTRAP_SERVERS": kafka.bootstrap_servers, "http_proxy": "http://127.0.0.1:1"}
    with running(tmp_path, "serve", "--port", "0", env=env) as command:
        wait_until(lambda: command.out, within_s=60)
        label, url = command.out.split()
        assert label == "Dashboard"
        (found,) = clusters(url).values()
        assert found["error"] is None
        assert command.ends(signal.SIGTERM) == 0
        assert command.err.splitlines()[-1] == "stopped"


@pytest.mark.process
def test_silent_connections_that_arrive_while_it_stops_do_not_hold_it(tmp_path: Path) -> None:
    """A browser opens connections ahead of need; uvicorn waits without end for one accepted at the wrong moment."""
    args = ["serve", "--json", "--port", "0", "--bootstrap-server", "127.0.0.1:1"]
    with running(tmp_path, *args) as command, ExitStack() as silent:
        _, _, port = command.first_line()["dashboard"].rpartition(":")
        threading.Timer(0.05, command.process.send_signal, (signal.SIGINT,)).start()
        with suppress(OSError):
            while True:
                silent.enter_context(socket.create_connection(("127.0.0.1", int(port))))
        assert command.ends() == 0
        assert command.err.splitlines()[-1] == "stopped"


@pytest.mark.parametrize(
    ("cluster", "reported"),
    [
        (lambda folder: "prod", "--cluster prod is not NAME=FILE"),
        (lambda folder: "=prod.properties", "--cluster =prod.properties is not NAME=FILE"),
        (lambda folder: f"{'x' * 81}=prod.properties", "a name of at most 80 characters"),
        (lambda folder: f"prod={folder / 'none'}", "There is no file "),
        (lambda folder: f"prod={write(folder / 'empty', '# nothing')}", "No broker is specified"),
    ],
)
def test_cluster_that_cannot_be_used(tmp_path: Path, cluster: Callable[[Path], str], reported: str) -> None:
    assert reported in refused("serve", "--port", "0", "--cluster", cluster(tmp_path))


def test_two_clusters_of_one_name(tmp_path: Path) -> None:
    same = f"--cluster=prod={write(tmp_path / 'prod.properties', 'bootstrap.servers=b:9092')}"
    assert refused("serve", "--port", "0", same, same) == (
        "More than one cluster is named prod. Give each --cluster a NAME of its own"
    )


def test_audit_log_and_state_of_the_notices_that_cannot_be_written(tmp_path: Path) -> None:
    serve = ("serve", "--bootstrap-server", "127.0.0.1:1", "--port", "0")
    (tmp_path / "no-folder").write_text("")
    assert refused(*serve, "--audit", str(tmp_path / "no-folder" / "audit")) == (
        f"The audit log {tmp_path}/no-folder/audit cannot be used: Not a directory. Name another file with --audit"
    )
    notices = write(
        tmp_path / "notices.yaml", f"state: {tmp_path}/no-folder/state\nslack: [{{name: a, url: 'http://x/y'}}]"
    )
    assert refused(*serve, "--notices", str(notices)).endswith("Name another file as `state`")


def test_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        reported = refused("serve", "--bootstrap-server", "b:9092", "--port", str(port))
    assert (
        reported == f"127.0.0.1:{port} cannot be used: Address already in use. Choose another --port (0: any free port)"
    )


def test_address_that_is_not_of_this_machine() -> None:
    reported = refused("serve", "--bootstrap-server", "b:9092", "--host", "192.0.2.1", "--insecure", "--port", "0")
    assert reported.startswith("192.0.2.1:0 cannot be used: ")
    assert reported.endswith("Choose another --host")


@pytest.mark.process
def test_ctrl_c_twice_while_a_request_is_being_answered(tmp_path: Path) -> None:
    """The second does not wait for open connections; neither shows a traceback."""
    down = f"127.0.0.1:{strangers.free_port()}"
    with running(tmp_path, "serve", "--json", "--port", "0", "--bootstrap-server", down) as command:
        _, _, port = command.first_line()["dashboard"].rpartition(":")
        with socket.create_connection(("127.0.0.1", int(port))) as slow:
            slow.sendall(b"POST /_stcore/upload_file/a/b HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
            command.process.send_signal(signal.SIGINT)
            assert command.ends(signal.SIGINT) == 0
        assert command.err.splitlines()[-1] == "stopped"
