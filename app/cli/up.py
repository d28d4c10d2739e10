"""`groupscope up`: a real Apache Kafka on this machine, a demo workload on it, the dashboard, and its history."""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from threading import Thread
from typing import Annotated

import typer

from app.cli import serve
from app.cli.shared.options import Browser, JsonLine, Logs, Plugins, Port, new_command
from app.cli.shared.output import emit, emit_json, note, open_on_a_desktop, use_log_format, warn
from app.cli.shared.signals import until_stopped
from app.log_format import LogFormat
from app.plugins import worked_examples
from app.server.listener import Listener
from app.server.settings import ClusterSettings
from lag.embedded.broker import EmbeddedKafka
from lag.embedded.workload import BROKER_PROPERTIES, START_AGAIN, Workload
from lag.errors import EmbeddedError

NAME = "demo"
HOST = "127.0.0.1"
INTERVAL_S = 5.0
READY_WITHIN_S = 120.0
LOOK_EVERY_S = 1.0
ENDS_AFTER_S = 10.0
"""How long pages can still say that Kafka has ended: two polls."""


command = new_command()


@command.command()
def up(
    brokers: Annotated[int, typer.Option(metavar="1|3", help="How many brokers.")] = 1,
    workload: Annotated[bool, typer.Option(help="Run the demo producers and consumers.")] = True,
    dashboard: Annotated[bool, typer.Option(help="Serve the dashboard.")] = True,
    pipeline: Annotated[bool, typer.Option(help="Fill the dashboard's history with Spark, once it is up.")] = True,
    plugin: Plugins = None,
    port: Port = 8501,
    browser: Browser = True,
    log_format: Logs = LogFormat.TEXT,
    json: JsonLine = False,
) -> None:
    """Start a real Kafka with demo groups, and the dashboard.

    Everything runs on this machine until Ctrl-C, which leaves nothing behind.
    """
    if brokers not in (1, 3):
        raise typer.BadParameter("1 or 3 brokers", param_hint="--brokers")
    use_log_format(log_format)
    settings = serve.checked_settings(INTERVAL_S)
    if dashboard:
        serve.refuse_taken(HOST, port)
        imports = Thread(target=serve.import_server, args=(log_format,), daemon=True)  # while Kafka starts
        imports.start()
    watch = _Watch()
    with until_stopped(), ExitStack() as stack:
        note("Apache Kafka is starting")
        kafka = stack.enter_context(EmbeddedKafka(brokers, properties=BROKER_PROPERTIES))
        Thread(target=watch.run, args=(kafka, ENDS_AFTER_S if dashboard else 0.0), name="watch", daemon=True).start()
        servers, history = kafka.bootstrap_servers, str(kafka.folder / "history")
        if workload:
            _workload(stack, kafka, watch, wait=json or not dashboard)
        if dashboard:
            clusters = [ClusterSettings(name=NAME, bootstrap_servers=servers)]
            shown = [*worked_examples(), *(plugin or settings.plugins)]
            announce = partial(_announce, servers, browser=browser, as_json=json)
            begin = partial(_record, kafka, history) if pipeline else None
            imports.join()
            its_up = partial(_dashboard_is_up, announce, begin)
            serve.start(clusters, Listener(port, HOST), INTERVAL_S, shown, history, its_up, log_format)
        else:
            _announce(servers, None, False, json)
            signal.pause()
    if watch.error is not None:
        raise watch.error


class _Watch:
    """Looks whether the brokers and the workload run. `error`: why the command had to end; None: it had not."""

    def __init__(self) -> None:
        self.error: EmbeddedError | None = None
        self.workload: Workload | None = None
        self._reported: set[object] = set()

    def run(self, kafka: EmbeddedKafka, ends_after_s: float) -> None:
        """Until all brokers have ended, or the cluster is stopped. Then end the command, as Ctrl-C does."""
        while kafka.brokers:
            ended = kafka.ended()
            if ended and len(ended) == len(kafka.brokers):
                self._end(next(iter(ended.values())), ends_after_s)
                return
            left = f"{len(kafka.brokers) - len(ended)} of {len(kafka.brokers)} brokers run"
            for node, why in ended.items():
                self._report(node, f"{why.cause}; {left}")
            if self.workload is not None and (gone := self.workload.ended()) is not None:
                self._report(Workload, f"{gone.cause}\n{START_AGAIN}")
            time.sleep(LOOK_EVERY_S)

    def _report(self, what: object, sentence: str) -> None:
        if what not in self._reported:
            self._reported.add(what)
            for line in sentence.splitlines():
                warn(line)

    def _end(self, why: EmbeddedError, after_s: float) -> None:
        from app.server import source

        self.error = EmbeddedError(why.cause, f"Start `groupscope up` again. {why.hint}")
        source.end(why)
        if after_s:
            note(f"{why.cause}; the dashboard says so, and ends in {after_s:.0f} s")
            time.sleep(after_s)
        os.kill(os.getpid(), signal.SIGINT)


def _workload(stack: ExitStack, kafka: EmbeddedKafka, watch: _Watch, wait: bool) -> None:
    """Start the demo; with `wait`, until all of it runs."""
    note("The demo workload is starting")
    demo = Workload(kafka.bootstrap_servers, kafka.folder)
    stack.callback(demo.stop)  # before it starts: Ctrl-C may come at any time
    demo.start()
    watch.workload = demo
    os.environ.update(demo.controls.environment)
    if wait:
        demo.wait_ready(READY_WITHIN_S)


def _announce(bootstrap_servers: str, url: str | None, browser: bool, as_json: bool) -> None:
    if as_json:
        emit_json({"bootstrap_servers": bootstrap_servers, "dashboard": url})
        return
    emit(f"Kafka      {bootstrap_servers}")
    emit(f"Dashboard  {url or '-'}")
    emit("Ctrl-C stops everything and leaves nothing behind.")
    if browser and url:
        open_on_a_desktop(url)


def _dashboard_is_up(announce: Callable[[str], None], begin: Callable[[], None] | None, url: str) -> None:
    """Announce the dashboard, then start what nobody has to wait for."""
    announce(url)
    if begin is not None:
        Thread(target=begin, name="pipeline", daemon=True).start()


def _record(kafka: EmbeddedKafka, history: str) -> None:
    """Run the pipeline beside the brokers; if it fails, say why and go on without it."""
    if find_spec("pyspark") is None:
        note(
            "PySpark is not installed, so the demo records no history of commits. Install it: uv sync --extra pipeline"
        )
        return
    command = [sys.executable, "-P", "-m", "lag.pipeline"]
    try:
        its = kafka.run_beside(
            "pipeline", [*command, "--bootstrap-server", kafka.bootstrap_servers, "--history", history]
        )
        while (last_line := its.last_line()) is None:
            time.sleep(LOOK_EVERY_S)
    except EmbeddedError:  # the brokers are being stopped, and the pipeline with them
        return
    warn(f"the demo's history is no longer recorded: {last_line}")
