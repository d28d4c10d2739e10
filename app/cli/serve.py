"""`groupscope serve`: the dashboard of your clusters."""

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from http.client import HTTPException
from importlib import import_module
from json import dumps
from pathlib import Path
from pkgutil import walk_packages
from typing import Annotated

import typer

from app.cli.shared.access_options import (
    AccessOptions,
    AllowedHosts,
    Audit,
    Host,
    Insecure,
    Login,
    Roles,
    TlsCert,
    TlsKey,
    Tokens,
    TrustedProxies,
    TrustGroupsHeader,
    TrustHeader,
    allow_hosts,
    check_files,
)
from app.cli.shared.options import Bootstrap, Browser, Config, JsonLine, Logs, Plugins, Port, new_command
from app.cli.shared.output import emit, emit_json, open_on_a_desktop, use_log_format, warn
from app.cli.shared.signals import until_stopped
from app.log_format import LogFormat
from app.pages import PAGES, SCRIPT
from app.server.listener import Listener
from app.server.settings import MAX_NAME_LENGTH, ClusterSettings, Settings, read_settings
from lag.audit.log import AuditLog
from lag.cluster.connection.settings import load_settings
from lag.errors import ConfigError

ANNOUNCE_WITHIN_S = 300.0
SERVER = ("app.server.web_app", "lag.cluster.reader", "lag.polling.collector", "app.ui.movement.panel")


command = new_command()


@command.command()
def serve(
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="Another cluster: a name and its client.properties. Repeatable."),
    ] = None,
    port: Port = 8501,
    host: Host = "127.0.0.1",
    allowed_host: AllowedHosts = None,
    insecure: Insecure = False,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    login: Login = None,
    trust_header: TrustHeader = None,
    trust_groups_header: TrustGroupsHeader = None,
    trusted_proxy: TrustedProxies = None,
    roles: Roles = None,
    tokens: Tokens = None,
    audit: Audit = None,
    interval: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, max=3600, help="Seconds between two polls of a cluster.")
    ] = 10.0,
    plugin: Plugins = None,
    follow: Annotated[
        bool,
        typer.Option(help="Read __consumer_offsets, to record every rebalance; otherwise rebalances are inferred."),
    ] = True,
    history: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Keep history in Delta tables: a folder, or a URL of an object store."),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The policy for verdicts, YAML or JSON; read again when it changes."),
    ] = None,
    notices: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Who is sent notices of verdicts, YAML or JSON."),
    ] = None,
    allow_writes: Annotated[
        bool, typer.Option("--allow-writes", help="Allow the page Reset offsets to change committed offsets.")
    ] = False,
    browser: Browser = True,
    log_format: Logs = LogFormat.TEXT,
    json: JsonLine = False,
) -> None:
    """Serve the dashboard of your clusters.

    It only reads from them, unless --allow-writes is given. Runs until Ctrl-C.
    """
    use_log_format(log_format)
    if allow_writes:
        os.environ["GROUPSCOPE_ALLOW_WRITES"] = "true"
    if policy is not None:
        os.environ["GROUPSCOPE_POLICY"] = str(policy)
    if notices is not None:
        os.environ["GROUPSCOPE_NOTICES"] = str(notices)
    AccessOptions(
        insecure, login, trust_header, trust_groups_header, trusted_proxy, roles, tokens, audit
    ).set_environment()
    settings = checked_settings(interval)
    listener = Listener(port, host, tls_cert, tls_key)
    listener.check(settings)
    allow_hosts(settings, allowed_host, listener)
    clusters = [*first_cluster(bootstrap_server, config, bool(cluster)), *map(_further, cluster or ())]
    _refuse_same_names([each.name for each in clusters])
    refuse_taken(host, port)
    if listener.is_open(settings):
        warn(f"everybody who reaches {host} sees all groups of these clusters, without login (--insecure)")
    if not follow:
        os.environ["GROUPSCOPE_FOLLOW"] = "false"
    with until_stopped():
        shown = plugin or settings.plugins
        start(clusters, listener, interval, shown, history, lambda url: _announce(url, browser, json), log_format)


def start(
    clusters: Sequence[ClusterSettings],
    listener: Listener,
    interval_s: float,
    plugins: Sequence[str],
    history: str | None,
    announce: Callable[[str], None],
    log_format: LogFormat = LogFormat.TEXT,
) -> None:
    """Serve `clusters`, and call `announce` with the address once the server answers."""
    listener = replace(listener, port=listener.port or _bound(listener.host, 0))
    os.environ["GROUPSCOPE_CLUSTERS"] = dumps([c.model_dump(mode="json") for c in clusters])
    os.environ["GROUPSCOPE_INTERVAL_S"] = str(interval_s)
    os.environ["GROUPSCOPE_PLUGINS"] = dumps(plugins)
    if history is not None:
        os.environ["GROUPSCOPE_HISTORY"] = history
    import_server(log_format)
    from app.server import asgi  # reads the environment that was just set

    threading.Thread(target=_announce_when_ready, args=(listener, announce), daemon=True).start()
    asgi.serve(listener)


def import_server(log_format: LogFormat = LogFormat.TEXT) -> None:
    """Import the server and the modules of all pages, which takes seconds: the first visit of a page would wait.

    Never beside another import of the same packages: two threads that import them in different orders fail.
    """
    from app.server.compat.streamlit_logs import leave_out_noise, log_through_root

    leave_out_noise()
    if log_format is LogFormat.JSON:
        log_through_root()
    for name in SERVER:
        import_module(name)
    for info in PAGES:
        package = import_module(f"app.views.{info.folder.replace('/', '.')}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if module.name != f"{package.__name__}.{SCRIPT}":
                import_module(module.name)


def checked_settings(interval_s: float) -> Settings:
    """The settings in the environment. Raises ConfigError, also if a file that they name is broken.

    `interval_s` is that of the polls.
    """
    settings = read_settings()
    if settings.policy is not None:
        from lag.polling.policy_file import load_policy  # imported here because NumPy takes a tenth of a second

        load_policy(settings.policy, interval_s)
    if settings.notices is not None:
        from app.notices.store import check_state
        from app.notices.targets import load_notices

        check_state(load_notices(settings.notices).state)
    AuditLog(settings.audit).check()
    check_files(settings)
    return settings


def refuse_taken(host: str, port: int) -> None:
    """Raise ConfigError when the address cannot be bound; port 0 stands for any free port."""
    try:
        _bound(host, port)
    except OSError as error:
        hint = "Choose another --port (0: any free port)" if port else "Choose another --host"
        raise ConfigError(f"{host}:{port} cannot be used: {error.strerror}", hint) from None


def _bound(host: str, port: int) -> int:
    """A port that could be bound; port 0 stands for any free one."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])


def first_cluster(bootstrap: str | None, config: Path | None, optional: bool) -> list[ClusterSettings]:
    """The cluster of flags and environment; optional where `--cluster` names others."""
    if optional and bootstrap is None and config is None:
        return []
    settings = load_settings(bootstrap, config, os.environ)
    servers = settings.servers.replace(" ", "")
    name = settings.name[:MAX_NAME_LENGTH]
    return [ClusterSettings(name=name, bootstrap_servers=servers, config=config, from_environment=True)]


def _further(named: str) -> ClusterSettings:
    name, _, file = named.partition("=")
    if not name or not file or len(name) > MAX_NAME_LENGTH:
        raise ConfigError(
            f"--cluster {named} is not NAME=FILE with a name of at most {MAX_NAME_LENGTH} characters",
            "For example: --cluster prod=prod.properties",
        )
    settings = load_settings(None, Path(file), {})
    return ClusterSettings(name=name, bootstrap_servers=settings.servers.replace(" ", ""), config=Path(file))


def _refuse_same_names(names: Sequence[str]) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"More than one cluster is named {', '.join(twice)}", "Give each --cluster a NAME of its own")


def _announce_when_ready(listener: Listener, announce: Callable[[str], None]) -> None:
    """Announce the dashboard once every cluster was read or has failed; the pages show the error."""
    deadline = time.monotonic() + ANNOUNCE_WITHIN_S
    while time.monotonic() < deadline and not _ready(listener):
        time.sleep(0.1)
    announce(listener.url)


def _ready(listener: Listener) -> bool:
    with closing(listener.connect(timeout_s=5)) as server:
        try:
            server.request("GET", "/api/ready")
            answer = server.getresponse()
            return answer.status == 200 or _all_tried()
        except (OSError, HTTPException):
            return False


def _all_tried() -> bool:
    """Whether every cluster was read or has failed; the server runs in this process."""
    from app.server import source  # imported here because NumPy takes a tenth of a second

    feeds = source.installed().feeds.values()
    return bool(feeds) and all(feed.latest() is not None or feed.status().error is not None for feed in feeds)


def _announce(url: str, browser: bool, as_json: bool) -> None:
    if as_json:
        emit_json({"dashboard": url})
        return
    emit(f"Dashboard  {url}")
    if browser:
        open_on_a_desktop(url)
