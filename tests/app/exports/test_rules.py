"""The rules name metrics that exist, and every verdict that needs somebody has an alert that links to its group."""

import re
from urllib.parse import urlsplit

import pytest

from app.exports.alerts import Alert, Thresholds, alert_name, alerts
from app.exports.rules import RECORDINGS, prometheus_rule, rule_file
from app.ui.verdicts import needs_attention
from lag.verdict.catalogue import CALM, INCIDENTS, VERDICTS
from lag.verdict.status import Status
from tests.app.exports.names import check, mentions

URL = "https://scope.example"
ALERTS = alerts(URL, Thresholds())
NAMED = {alert.name: alert for alert in ALERTS}
of_each_alert = pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)


@of_each_alert
def test_alert_names_only_metrics_and_labels_that_are_served(alert: Alert) -> None:
    check(alert.expr)


@pytest.mark.parametrize("name", RECORDINGS)
def test_recording_names_only_metrics_and_labels_that_are_served(name: str) -> None:
    check(RECORDINGS[name])
    labels, _, _ = name.partition(":")
    assert RECORDINGS[name].split(" by (")[1].startswith(labels.replace("_", ", ") + ")")


@of_each_alert
def test_alert_has_a_summary_a_description_a_severity_and_a_link(alert: Alert) -> None:
    assert alert.summary
    assert alert.description.endswith(".")
    assert alert.severity in ("critical", "warning", "info")
    assert re.fullmatch(r"\d+[mh]", alert.holds)
    assert alert.link.startswith(URL)


@of_each_alert
def test_texts_of_an_alert_use_only_labels_that_its_series_have(alert: Alert) -> None:
    used = set(re.findall(r"\$labels\.(\w+)", alert.summary + alert.description + alert.link))
    by = re.match(r"\s*(?:\w+ )?by \(([^)]*)\)|\w+ by \(([^)]*)\)", alert.expr)
    labels = set() if by is None else set(re.split(r",\s*", by[1] or by[2]))
    assert used <= labels


def test_every_verdict_has_an_alert_or_needs_no_attention() -> None:
    with_alert = {status for status in Status if alert_name(status) in NAMED}
    assert with_alert | CALM == set(Status)
    assert not with_alert & CALM
    assert not any(map(needs_attention, CALM))


def test_alerts_and_notices_are_as_serious() -> None:
    """No members was a warning for Prometheus and an info for Slack."""
    found = {status: NAMED[alert_name(status)].severity for status in INCIDENTS if status not in CALM}
    assert found == {status: INCIDENTS[status].word for status in found}
    assert found[Status.NO_MEMBERS] == "warning"


@pytest.mark.parametrize("status", [status for status in Status if status not in CALM])
def test_alert_of_a_verdict_is_about_that_verdict_and_opens_the_group(status: Status) -> None:
    alert = NAMED[alert_name(status)]
    assert f'{{verdict="{status}"}}' in alert.expr
    assert alert.summary.startswith(f"{VERDICTS[status].word}: group")
    link = urlsplit(alert.link)
    assert link.path == "/group"
    assert link.query == "cluster={{ $labels.cluster | urlquery }}&group={{ $labels.group | urlquery }}"


def test_names_of_alerts_differ() -> None:
    assert len(NAMED) == len(ALERTS)


def test_thresholds_are_those_that_were_given() -> None:
    given = {alert.name: alert for alert in alerts(URL, Thresholds(time_lag_s=77, poll_age_s=88))}
    assert "> 77\n" in given["ConsumerGroupTimeLagHigh"].expr
    assert "offset 77s" in given["ConsumerGroupTimeLagHigh"].expr
    assert given["GroupscopePollTooOld"].expr.endswith("> 88")


def test_rule_file_has_every_recording_and_every_alert() -> None:
    recordings, alerting = (group["rules"] for group in rule_file(ALERTS)["groups"])
    assert {rule["record"]: rule["expr"] for rule in recordings} == RECORDINGS
    assert [rule["alert"] for rule in alerting] == list(NAMED)
    assert alerting[0]["for"] == "5m"
    assert alerting[0]["labels"] == {"severity": "critical"}
    assert set(alerting[0]["annotations"]) == {"summary", "description", "dashboard_url"}


def test_prometheus_rule_has_the_same_groups() -> None:
    made = prometheus_rule("groupscope", ALERTS)
    assert (made["apiVersion"], made["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert made["metadata"]["name"] == "groupscope"
    assert made["spec"] == rule_file(ALERTS)


def test_several_servers_of_one_cluster_make_one_alert() -> None:
    """Prometheus adds `instance` and others: every metric is aggregated over them."""
    for alert in ALERTS:
        for name, _ in mentions(alert.expr):
            assert re.search(rf"(max|min) by \([^)]*\) \((\w+\()?{name}|absent\({name}", alert.expr), name
