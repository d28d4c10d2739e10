"""`groupscope export`: files for Grafana, Prometheus and the Prometheus operator, on stdout."""

from json import dumps
from typing import Annotated, Any

import typer

from app.cli.shared.options import Json, checked_dashboard, new_command
from app.cli.shared.output import emit_json, emit_text
from app.exports.alerts import Thresholds, alerts
from app.exports.dashboard import dashboard
from app.exports.links import DEFAULT_URL
from app.exports.rules import prometheus_rule, rule_file
from app.exports.service_monitor import service_monitor
from app.exports.yaml_text import yaml_text
from app.metrics.options import InvalidOption, name_sets
from lag.errors import ConfigError

NAME = "groupscope"
DEFAULTS = Thresholds()

Url = Annotated[str, typer.Option(metavar="URL", help="Address of the dashboard, for links to its pages.")]

command = new_command(
    name="export", help="Print files for Grafana, Prometheus and the Prometheus operator.", no_args_is_help=True
)


@command.command()
def grafana(url: Url = DEFAULT_URL, json: Json = False) -> None:
    """Print a Grafana dashboard (JSON)."""
    made = dashboard(checked_dashboard("--url", url))
    if json:
        emit_json(made)
    else:
        emit_text(dumps(made, indent=2))


@command.command()
def rules(
    url: Url = DEFAULT_URL,
    time_lag: Annotated[
        int, typer.Option(metavar="SECONDS", min=1, help="Alert when the time lag of a group exceeds this.")
    ] = DEFAULTS.time_lag_s,
    poll_age: Annotated[
        int, typer.Option(metavar="SECONDS", min=1, help="Alert when the last good poll is older than this.")
    ] = DEFAULTS.poll_age_s,
    operator: Annotated[
        bool, typer.Option("--operator", help="As a PrometheusRule of the Prometheus operator.")
    ] = False,
    json: Json = False,
) -> None:
    """Print alerting and recording rules for Prometheus (YAML)."""
    made = alerts(checked_dashboard("--url", url), Thresholds(time_lag, poll_age))
    _emit_yaml(prometheus_rule(NAME, made) if operator else rule_file(made), json)


@command.command()
def servicemonitor(
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The label app.kubernetes.io/name of the Service to scrape.")
    ] = NAME,
    port: Annotated[str, typer.Option(metavar="NAME", help="The name of its port.")] = "http",
    interval: Annotated[int, typer.Option(metavar="SECONDS", min=1, help="How often it is scraped.")] = 30,
    names: Annotated[
        str, typer.Option(metavar="NAMES", help="Sets of metric names, separated by commas, or all.")
    ] = "own",
    json: Json = False,
) -> None:
    """Print a ServiceMonitor of the Prometheus operator (YAML)."""
    try:
        chosen = name_sets(names)
    except InvalidOption as error:
        raise ConfigError(f"--{error}") from None
    _emit_yaml(service_monitor(name, port, interval, chosen), json)


def _emit_yaml(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        emit_json(document)
    else:
        emit_text(yaml_text(document))
