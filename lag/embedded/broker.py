"""A throw-away Apache Kafka cluster of one or three brokers on this machine's loopback address."""

import logging
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from lag.embedded import config, storage
from lag.embedded.jars import kafka_classpath
from lag.embedded.java import Java, find_java
from lag.embedded.supervisor_client import Companion, Keeper, log_tail, read_log
from lag.embedded.user_cache import cache_dir
from lag.errors import EmbeddedError
from lag.whole_file import write_whole

log = logging.getLogger(__name__)

_READY = "Kafka Server started"  # BrokerServer's "to STARTED" is also logged when it could not bind its port
_PORT_TAKEN = "java.net.BindException"
_START_WITHIN_S = 60.0
_LOOK_EVERY_S = 0.05
_PORT_ATTEMPTS = 4
_LOG_LINES = 15


class PortTaken(Exception):
    """Another process took a port before the broker could bind it."""


class Broker:
    """One broker of an embedded cluster. Its node id is its number, from 1."""

    def __init__(self, node_id: int, keeper: Keeper, folder: Path, command: Sequence[str]) -> None:
        self.node_id = node_id
        self.pid: int | None = None
        self._name = f"broker-{node_id}"
        self._keeper = keeper
        self._log = folder / f"{self._name}.log"
        self._command = [*command, "kafka.Kafka", str(folder / f"{self._name}.properties")]
        self._log_from = 0

    def spawn(self, *options: str) -> None:
        """Start the process without waiting until it serves."""
        self._log_from = self._log.stat().st_size if self._log.exists() else 0
        self.pid = self._keeper.start(self._name, [*self._command, *options], self._log)

    def serves(self) -> bool:
        """Whether the broker is ready, according to its log.

        Raises EmbeddedError with the last log lines if its process has ended, PortTaken if a port was taken.
        """
        code = self._keeper.poll(self._name)
        output = read_log(self._log, self._log_from)
        if _PORT_TAKEN in output:
            raise PortTaken(f"A port of broker {self.node_id} is taken by another process")
        if code is not None:
            raise self.refusal(f"ended with exit code {code} before it was ready")
        return _READY in output

    def running(self) -> bool:
        """Whether the process exists (paused or not)."""
        return self.pid is not None and self._keeper.poll(self._name) is None

    def ended(self) -> EmbeddedError | None:
        """How the process ended, with the last log lines; None while it runs (paused or not)."""
        code = self._keeper.poll(self._name)
        if code is None:
            return None
        if code < 0:  # it could not write why
            return self.refusal(f"was killed ({signal.Signals(-code).name})", "Its last log lines:")
        return self.refusal(f"ended with exit code {code}")

    def pause(self) -> None:
        """Freeze the process (SIGSTOP): connections stay open without answers."""
        self._keeper.signal(self._name, signal.SIGSTOP)

    def resume(self) -> None:
        """Resume a paused process (SIGCONT)."""
        self._keeper.signal(self._name, signal.SIGCONT)

    def kill(self) -> None:
        """End the process at once (SIGKILL) and wait until it is gone; its data stays for `restart`."""
        self._keeper.signal(self._name, signal.SIGKILL)
        while self.running():
            time.sleep(_LOOK_EVERY_S)

    def restart(self) -> None:
        """Kill the process if it exists, start it on the same ports and data, and wait until it is ready."""
        if self.running():
            self.kill()
        # The controller does not accept it until its previous session has ended.
        self.spawn("--override", f"{config.SESSION_MS}={config.DEFAULT_SESSION_MS}")
        try:
            _wait_until_all_serve([self])
        except PortTaken as error:
            raise EmbeddedError(str(error), "Start the cluster again: it will use other ports.") from error

    def log_tail(self, lines: int = _LOG_LINES) -> list[str]:
        """The last lines that the broker wrote since its last start; frames of stack traces are left out."""
        return log_tail(self._log, lines, self._log_from)

    def refusal(self, what: str, introduction: str = "Its last log lines say why:") -> EmbeddedError:
        """The error `what`, with the last log lines."""
        tail = "\n".join(self.log_tail()) or "(no output)"
        return EmbeddedError(f"Broker {self.node_id} {what}", f"{introduction}\n{tail}")


def _wait_until_all_serve(brokers: Sequence[Broker]) -> None:
    # Every round checks all brokers, so that one that has ended is reported at once.
    deadline = time.monotonic() + _START_WITHIN_S
    while waiting := [broker for broker in brokers if not broker.serves()]:
        if time.monotonic() > deadline:
            raise waiting[0].refusal(f"was not ready within {_START_WITHIN_S:.0f} s")
        time.sleep(_LOOK_EVERY_S)


class EmbeddedKafka:
    """A cluster that runs while this object is open, and not longer than this process.

        with EmbeddedKafka(brokers=1) as kafka:
            connect(kafka.bootstrap_servers)

    `properties` are broker properties that override ours, `node_properties` those of single nodes, by node id. Internal
    topics have one replica per broker. `heap_mb` is a broker's largest heap in MiB.
    """

    def __init__(
        self,
        brokers: int = 1,
        *,
        properties: Mapping[str, str] | None = None,
        node_properties: Mapping[int, Mapping[str, str]] | None = None,
        heap_mb: int = 512,
        offsets_partitions: int = 50,
        initial_rebalance_delay_ms: int = 500,
        java: Java | None = None,
        classpath: Sequence[Path] | None = None,
    ) -> None:
        self._brokers = brokers
        self._heap_mb = heap_mb
        self._java = java
        self._classpath = classpath
        self._asked = dict(properties or {})
        self._node_properties = dict(node_properties or {})
        self._defaults = {
            "offsets.topic.num.partitions": str(offsets_partitions),
            "group.initial.rebalance.delay.ms": str(initial_rebalance_delay_ms),
        }
        self._keeper: Keeper | None = None
        self._ports: dict[int, config.Ports] = {}
        self._nodes: dict[int, Broker] = {}

    def start(self) -> Self:
        """Fetch missing jars, start the brokers and wait until they are ready. Raises EmbeddedError.

        If it is interrupted, nothing is left running. Does nothing if the cluster runs already.
        """
        if self._keeper is not None:
            return self
        java = self._java or find_java()
        classpath = list(self._classpath or kafka_classpath())
        for _ in range(_PORT_ATTEMPTS):
            try:
                self._start_once(java, classpath)
                return self
            except PortTaken as error:
                self.stop()
                taken = str(error)
            except BaseException:
                self.stop()
                raise
        raise EmbeddedError(
            f"{taken}, on {_PORT_ATTEMPTS} attempts in a row", "Free some ports between 20000 and 32000."
        )

    def stop(self) -> None:
        """End the brokers and remove their data. May be called at any time, and again."""
        keeper, self._keeper = self._keeper, None
        self._nodes = {}
        if keeper is not None:
            keeper.close()

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` of the PLAINTEXT listeners."""
        return ",".join(f"{config.HOST}:{ports.plaintext}" for ports in self._ports.values())

    @property
    def brokers(self) -> list[Broker]:
        """The brokers, by node id."""
        return list(self._nodes.values())

    @property
    def folder(self) -> Path:
        """Where data and logs are while the cluster runs."""
        if self._keeper is None or self._keeper.folder is None:
            raise EmbeddedError("The embedded Kafka is not running", "Start it first.")
        return self._keeper.folder

    def run_beside(self, name: str, command: list[str]) -> Companion:
        """Start a process that ends with the cluster, together with all that it starts. Raises EmbeddedError."""
        folder = self.folder
        assert self._keeper is not None
        return Companion(name, self._keeper, folder, command)

    def ended(self) -> Mapping[int, EmbeddedError]:
        """The brokers whose processes have ended, by node id, and how; none of a cluster that was stopped."""
        found = {}
        for node, broker in self._nodes.items():
            try:
                how = broker.ended()
            except EmbeddedError as error:  # the supervisor, and with it every broker
                how = error
            if how is not None:
                found[node] = how
        return found if self._nodes else {}

    def broker(self, node_id: int) -> Broker:
        """The broker with this node id, from 1."""
        return self._nodes[node_id]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start_once(self, java: Java, classpath: list[Path]) -> None:
        began = time.monotonic()
        self._keeper = Keeper()
        self._ports = config.free_ports(self._brokers)
        command = config.java_command(java.executable, self._heap_mb, classpath, self.folder)
        self._write_files()
        self._format(command, classpath)
        self._nodes = {node: Broker(node, self._keeper, self.folder, command) for node in self._ports}
        for broker in self._nodes.values():
            broker.spawn()
        _wait_until_all_serve(self.brokers)
        log.info("Kafka is ready at %s after %.1f s", self.bootstrap_servers, time.monotonic() - began)

    def _write_files(self) -> None:
        (self.folder / "log4j2.properties").write_text(config.LOGGING)
        shared = self._defaults | self._asked
        for node in self._ports:
            own = config.node_properties(node, self._ports, self.folder / f"data-{node}") | shared
            own |= self._node_properties.get(node, {})
            (self.folder / f"broker-{node}.properties").write_text(config.to_file(own))

    def _format(self, command: list[str], classpath: list[Path]) -> None:
        assert self._keeper is not None
        checkpoint = storage.kept_checkpoint(cache_dir(), classpath, self._asked)
        if not checkpoint.exists():
            write_whole(checkpoint, storage.make_checkpoint(self._keeper, self.folder, command).read_bytes())
        storage.format_nodes(self.folder, list(self._ports), checkpoint)
