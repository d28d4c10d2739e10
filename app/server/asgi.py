"""The server with the real clusters: one collector per cluster, started and stopped with it.

uvicorn app.server.asgi:app --host 127.0.0.1 --port 8501
python -m streamlit run app/server/asgi.py
app.server.asgi.serve(port=8501, address="127.0.0.1")       # what the command line calls
"""

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import metadata

from app.server import server
from app.server.settings import ClusterSettings, Settings, read_settings
from app.server.source import Source
from lag.cluster.offsets_log import open_offsets_log
from lag.cluster.reader import open_reader
from lag.cluster.settings import load_settings
from lag.embedded.workload import Controls
from lag.errors import ConfigError
from lag.generations.tail import OffsetsReader, Tail
from lag.polling.collector import ClusterReader, Collector, Collectors
from lag.verdict.health import Health

SWITCH_S = 0.0005
"""A page that draws while a large cluster is read waits this long for its turn, some hundred times; Python's own 5 ms
would add up to half a second."""
Record = Callable[[Health], None]
PARTS = ("groupscope", "kafka-python", "streamlit", "plotly", "pandas", "numpy")


def _give_pages_their_turn() -> None:
    """Keep what stops a page for long small: a turn of the poll, and a walk of the collector over all modules."""
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()  # what is imported by now stays; else each poll of 5,000 groups has it walked, some 0.3 s each time


@contextmanager
def collectors() -> Iterator[Source]:
    """Start one collector per configured cluster; stop them all at the end."""
    _give_pages_their_turn()
    settings = read_settings()
    envs = {c.name: os.environ if c.from_environment else {} for c in settings.clusters}
    connections = {c.name: masked(c, envs[c.name]) for c in settings.clusters}
    versions = {part: metadata.version(part) for part in PARTS}
    with recording(settings.history) as record:
        running = Collectors({c.name: collector(c, envs[c.name], settings, record) for c in settings.clusters})
        with running:
            yield Source(settings, running, Controls.from_environment(), versions=versions, connections=connections)


@contextmanager
def recording(history: str | None) -> Iterator[Record | None]:
    """What the collectors hand what they read to, while the block runs; None when no history is kept."""
    if history is None:
        yield None
        return
    from lag.history.recorder import Recorder
    from lag.history.store import History  # late: half a second that only those wait who keep one

    with Recorder(History(history)) as recorder:
        yield recorder.see


def collector(cluster: ClusterSettings, env: Mapping[str, str], settings: Settings, record: Record | None) -> Collector:
    """What polls that cluster, hands snapshots to `record`, and follows its groups' records unless that is off."""
    tail = Tail(cluster.name, follow(cluster, env)) if settings.follow else None
    return Collector(cluster.name, connect(cluster, env), settings.interval_s, tail=tail, record=record)


def connect(cluster: ClusterSettings, env: Mapping[str, str]) -> Callable[[], ClusterReader]:
    """What makes a reader of that cluster; settings are read again each time, so a corrected file takes effect."""

    def opened() -> ClusterReader:
        return open_reader(load_settings(cluster.bootstrap_servers, cluster.config, env), cluster.name)

    return opened


def follow(cluster: ClusterSettings, env: Mapping[str, str]) -> Callable[[], OffsetsReader]:
    """What makes a reader of that cluster's `__consumer_offsets`, in the same way."""

    def opened() -> OffsetsReader:
        return open_offsets_log(load_settings(cluster.bootstrap_servers, cluster.config, env))

    return opened


def masked(cluster: ClusterSettings, env: Mapping[str, str]) -> Mapping[str, str]:
    """The client settings of that cluster for the About page; what is wrong with them, if they cannot be read."""
    try:
        return load_settings(cluster.bootstrap_servers, cluster.config, env).masked()
    except ConfigError as error:
        return {"settings": str(error)}


app = server.build(collectors)
serve = partial(server.serve, app)
