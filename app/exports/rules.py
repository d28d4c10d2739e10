"""The rule file for Prometheus, or the same rules as a PrometheusRule of the Prometheus operator."""

from collections.abc import Sequence
from typing import Any

from app.exports.alerts import Alert
from app.exports.promql import increase_rate, series

API_VERSION = "monitoring.coreos.com/v1"

RECORDINGS = {
    "cluster_group:groupscope_group_lag_records:max": series("groupscope_group_lag_records"),
    "cluster_group:groupscope_group_time_lag_seconds:max": series("groupscope_group_time_lag_seconds"),
    "cluster_verdict:groupscope_groups:max": series("groupscope_groups"),
    "cluster_group:groupscope_consumed_records:rate5m": (
        f"sum by (cluster, group) ({increase_rate('groupscope_group_partition_committed_offset')})"
    ),
    "cluster_topic:groupscope_produced_records:rate5m": (
        f"sum by (cluster, topic) ({increase_rate('groupscope_partition_log_end_offset')})"
    ),
}
"""Name and expression of each recording rule; they cost little to query over months."""


def rule_file(alerts: Sequence[Alert]) -> dict[str, Any]:
    """What `rule_files` of Prometheus takes."""
    recordings = [{"record": name, "expr": expr} for name, expr in RECORDINGS.items()]
    return {
        "groups": [
            {"name": "groupscope.recordings", "rules": recordings},
            {"name": "groupscope.alerts", "rules": [_alerting(alert) for alert in alerts]},
        ]
    }


def _alerting(alert: Alert) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "expr": alert.expr,
        "for": alert.holds,
        "keep_firing_for": alert.kept,
        "labels": {"severity": alert.severity},
        "annotations": {"summary": alert.summary, "description": alert.description, "dashboard_url": alert.link},
    }


def prometheus_rule(name: str, alerts: Sequence[Alert]) -> dict[str, Any]:
    """The rules for the Prometheus operator."""
    return {
        "apiVersion": API_VERSION,
        "kind": "PrometheusRule",
        "metadata": metadata(name),
        "spec": rule_file(alerts),
    }


def metadata(name: str) -> dict[str, Any]:
    """Name and labels of a Kubernetes resource."""
    return {"name": name, "labels": {"app.kubernetes.io/name": name}}
