"""The ASGI app: one collector per configured cluster, started and stopped with the server.

uvicorn app.server.asgi:app --host 127.0.0.1 --port 8501
python -m streamlit run app/server/asgi.py
app.server.asgi.serve(Listener(8501))       # called by the command line
"""

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING

from app.server import web_app
from app.server.open_access import open_access
from app.server.settings import ClusterSettings, Settings, read_settings
from app.server.source import Source
from lag.audit.log import AuditLog
from lag.cluster.connection.settings import load_settings
from lag.cluster.offsets_log import open_offsets_log
from lag.cluster.reader import open_reader
from lag.embedded.workload import Controls
from lag.errors import ConfigError
from lag.generations.tail import OffsetsReader, Tail
from lag.polling.collector import Collector
from lag.polling.collectors import Collectors
from lag.polling.evaluation import ClusterReader, LastVerdicts, ReadPolicy, default_policy, no_verdicts
from lag.polling.policy_file import load_policy
from lag.polling.verdict_changes import VerdictChanges
from lag.verdict.health import Health
from lag.watched_file import WatchedFile

if TYPE_CHECKING:
    from app.notices.notifier import Notifier
    from lag.history.recorder import RecorderStatus

SWITCH_INTERVAL_S = 0.0005
"""A page waits this long for the GIL, about a hundred times while a large cluster is polled. Python's default of 5 ms
would add up to half a second."""
PACKAGES = ("groupscope", "kafka-python", "streamlit", "plotly", "pandas", "numpy")


def _keep_pages_responsive() -> None:
    """Shorten what blocks pages during a poll: the GIL's switch interval, and garbage collections."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.collect()
    gc.freeze()  # otherwise each poll of 5,000 groups scans all imported modules, which takes about 0.3 s


@contextmanager
def collectors() -> Iterator[Source]:
    """Start one collector per configured cluster; stop them all at the end."""
    _keep_pages_responsive()
    settings = read_settings()
    envs = {c.name: os.environ if c.from_environment else {} for c in settings.clusters}
    connections = {c.name: masked(c, envs[c.name]) for c in settings.clusters}
    versions = {package: metadata.version(package) for package in PACKAGES}
    read_policy = _policy(settings)
    changes = {c.name: VerdictChanges() for c in settings.clusters}
    audit = AuditLog(settings.audit)
    audit.check()
    access = open_access(settings, audit)
    with recording(settings.history, audit) as past, closing(audit), notifying(settings) as notifier:
        polled = {
            c.name: collector(c, envs[c.name], settings, past, changes[c.name], read_policy, notifier)
            for c in settings.clusters
        }
        with Collectors(polled) as running:
            demo = Controls.from_environment()
            yield Source(settings, running, demo, versions, connections, changes, notifier, past.status, access, audit)


@dataclass(frozen=True, slots=True)
class StoredHistory:
    """How a collector stores each poll, and the verdicts stored before its first. `status`: whether writing works."""

    record: Callable[[Health], None] | None = None
    last_verdicts: LastVerdicts = no_verdicts
    status: "Callable[[], RecorderStatus] | None" = None


@contextmanager
def recording(history: str | None, audit: AuditLog) -> Iterator[StoredHistory]:
    """Stores the health of each poll, and the audit log, during the block; nothing without a history."""
    if history is None:
        yield StoredHistory()
        return
    from lag.audit.recorder import AuditRecorder
    from lag.history.recorder import SnapshotRecorder
    from lag.history.resume.last_verdicts import last_verdicts_or_none
    from lag.history.store import History  # imported here because it takes half a second

    stored = History(history)
    with SnapshotRecorder(stored) as recorder, AuditRecorder(audit, stored) as audits:

        def status() -> "RecorderStatus":
            its = recorder.status()
            return its if audits.problem is None else replace(its, problems=(*its.problems, audits.problem))

        yield StoredHistory(recorder.observe, partial(last_verdicts_or_none, stored), status)


@contextmanager
def notifying(settings: Settings) -> Iterator["Notifier | None"]:
    """Sends notices during the block; None without a notices file. Raises ConfigError."""
    if settings.notices is None:
        yield None
        return
    from app.notices.notifier import Notifier
    from app.notices.targets import load_notices  # imported here because few send notices

    read = WatchedFile(settings.notices, load_notices).read
    with Notifier(read, [c.name for c in settings.clusters]) as notifier:
        yield notifier


def _policy(settings: Settings) -> ReadPolicy:
    if settings.policy is None:
        return default_policy
    return WatchedFile(settings.policy, partial(load_policy, interval_s=settings.interval_s)).read


def collector(
    cluster: ClusterSettings,
    env: Mapping[str, str],
    settings: Settings,
    past: StoredHistory,
    changes: VerdictChanges,
    read_policy: ReadPolicy = default_policy,
    notifier: "Notifier | None" = None,
) -> Collector:
    """Polls the cluster and follows `__consumer_offsets` if that is configured.

    What it finds is stored in `past`, the changes of verdicts are kept in `changes`, and `notifier` sends notices.
    """

    def record(health: Health) -> None:
        changes.observe(health)
        if notifier is not None:
            notifier.observe(cluster.name, health)
        if past.record is not None:
            past.record(health)

    tail = Tail(cluster.name, follow(cluster, env)) if settings.follow else None
    return Collector(
        cluster.name,
        connect(cluster, env),
        settings.interval_s,
        follower=tail,
        read_policy=read_policy,
        record=record,
        last_verdicts=past.last_verdicts,
    )


def connect(cluster: ClusterSettings, env: Mapping[str, str]) -> Callable[[], ClusterReader]:
    """A function that opens a reader; it reads the settings each time, so a corrected file takes effect."""

    def opened() -> ClusterReader:
        return open_reader(load_settings(cluster.bootstrap_servers, cluster.config, env), cluster.name)

    return opened


def follow(cluster: ClusterSettings, env: Mapping[str, str]) -> Callable[[], OffsetsReader]:
    """A function that opens a reader of the cluster's `__consumer_offsets`."""

    def opened() -> OffsetsReader:
        return open_offsets_log(load_settings(cluster.bootstrap_servers, cluster.config, env))

    return opened


def masked(cluster: ClusterSettings, env: Mapping[str, str]) -> Mapping[str, str]:
    """The cluster's client settings for the About page, secrets masked; the error if they cannot be read."""
    try:
        return load_settings(cluster.bootstrap_servers, cluster.config, env).masked()
    except ConfigError as error:
        return {"settings": str(error)}


app = web_app.build_app(collectors)
serve = partial(web_app.serve, app)
