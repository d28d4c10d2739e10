"""A ServiceMonitor selects the Service by its label, and asks /metrics for the wanted names."""

from starlette.routing import Route

from app.exports.service_monitor import service_monitor
from app.metrics.options import Options, name_sets
from app.server.routes import ROUTES


def test_service_monitor_scrapes_the_metrics_of_the_service() -> None:
    made = service_monitor("scope", "web", 15, ("own", "kafka-exporter"))
    (endpoint,) = made["spec"]["endpoints"]
    assert made["kind"] == "ServiceMonitor"
    assert made["spec"]["selector"]["matchLabels"] == {"app.kubernetes.io/name": "scope"}
    assert (endpoint["port"], endpoint["interval"]) == ("web", "15s")
    assert endpoint["path"] in {route.path for route in ROUTES if isinstance(route, Route)}
    (names,) = endpoint["params"]["names"]
    assert Options().with_query([("names", names)]).names == name_sets("own,kafka-exporter")
