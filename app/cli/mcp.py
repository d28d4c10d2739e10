"""`groupscope mcp`: answers the tool calls of agents over stdio."""

import os
from functools import partial
from json import dumps
from typing import Annotated

import anyio
import typer

from app.cli.serve import checked_settings, first_cluster
from app.cli.shared.options import Bootstrap, Config, Plugins, checked_dashboard, new_command
from app.cli.shared.signals import until_stopped
from app.server.settings import missing_package
from lag.errors import ConfigError

command = new_command()


@command.command()
def mcp(
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    dashboard: Annotated[
        str | None, typer.Option(metavar="URL", help="Address of the dashboard, for links in the answers.")
    ] = None,
    interval: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, max=3600, help="Seconds between two polls of the cluster.")
    ] = 10.0,
    plugin: Plugins = None,
) -> None:
    """Answer the tool calls of agents (Model Context Protocol).

    It speaks over stdin and stdout, and only reads from the cluster. Runs until stdin ends.
    """
    if missing := missing_package():
        raise ConfigError(missing)
    if dashboard is not None:
        dashboard = checked_dashboard("--dashboard", dashboard)
    os.environ["GROUPSCOPE_HISTORY"] = os.environ["GROUPSCOPE_NOTICES"] = ""  # a dashboard's task; tools only read
    settings = checked_settings(interval)
    (cluster,) = first_cluster(bootstrap_server, config, optional=False)
    os.environ["GROUPSCOPE_CLUSTERS"] = dumps([cluster.model_dump(mode="json")])
    os.environ["GROUPSCOPE_INTERVAL_S"] = str(interval)
    os.environ["GROUPSCOPE_PLUGINS"] = dumps(plugin or settings.plugins)
    with until_stopped():
        _serve(dashboard)
        return
    os._exit(0)  # a thread still waits for a line of stdin, and Python's own exit would wait for that thread


def _serve(dashboard: str | None) -> None:
    from app.server import asgi, source  # reads the environment that was just set
    from app.server.tools.stdio import serve_stdio

    with asgi.collectors() as running:
        source.install(running)
        anyio.run(partial(serve_stdio, dashboard))
