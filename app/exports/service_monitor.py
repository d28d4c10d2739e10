"""A ServiceMonitor of the Prometheus operator, which scrapes /metrics of a Service."""

from collections.abc import Sequence
from typing import Any

from app.exports.rules import API_VERSION, metadata

PATH = "/metrics"


def service_monitor(name: str, port: str, interval_s: int, names: Sequence[str]) -> dict[str, Any]:
    """`name` is the Service's label `app.kubernetes.io/name`, `port` the name of its port; `names` of NAME_SETS."""
    endpoint = {"port": port, "path": PATH, "interval": f"{interval_s}s", "params": {"names": [",".join(names)]}}
    made = metadata(name)
    return {
        "apiVersion": API_VERSION,
        "kind": "ServiceMonitor",
        "metadata": made,
        "spec": {"selector": {"matchLabels": made["labels"]}, "endpoints": [endpoint]},
    }
