"""Alerts that fire, and when, on 75 minutes of /metrics, as Prometheus evaluates them.

One poll a minute. Topic `orders` gets 60 records a minute, and its log start moves as fast; `idle` gets none. Group
`fine` keeps up; `a b&c` commits half of what arrives; `stuck` stops after 5 minutes. Two servers read the cluster
and keep 12 polls, as they do with very many partitions.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from app.exports.alerts import Thresholds, alerts
from app.exports.dashboard import dashboard
from app.exports.rules import rule_file
from app.metrics.view import Polled
from lag.model import ClusterSnapshot
from lag.polling.report import CollectorStatus
from tests.app.exports.promtool import evaluate, input_series, needs_promtool, promtool, values
from tests.app.metrics.clusters import report, text, unread
from tests.lag.make import cluster, end, group

pytestmark = needs_promtool

URL = "https://scope.example"
RULES = rule_file(alerts(URL, Thresholds()))
MINUTES = 75
LAST = f"{MINUTES}m"
SLOW = "a b&c"
FIRING = 'count by (alertname, group) (ALERTS{alertstate="firing"})'


def poll(minute: int) -> ClusterSnapshot:
    groups = {
        "fine": group({"orders-0": 10_000 + 60 * minute, "idle-0": 5}),
        "stuck": group({"orders-0": 10_000 + 60 * min(minute, 5)}),
        SLOW: group({"orders-0": 10_000 + 30 * minute}),
    }
    ends = {"orders-0": end(10_000 + 60 * minute, start=5_000 + 60 * minute), "idle-0": end(5)}
    return cluster(groups, ends, minute + 1, 60_000 * (minute + 1))


@cache
def scrapes(names: str = "own") -> Sequence[str]:
    polls = [poll(minute) for minute in range(MINUTES + 1)]
    seen = [polls[max(0, minute - 11) : minute + 1] for minute in range(MINUTES + 1)]
    return [text(_polled(made), names=(names,)) for made in seen]


def _polled(polls: Sequence[ClusterSnapshot]) -> Polled:
    return Polled("prod", report(polls), CollectorStatus(60.0, polls=len(polls)), polls[-1].at_ms + 1_000)


def of_two_servers() -> list[dict[str, str]]:
    return [*input_series(scrapes(), 'instance="a"'), *input_series(scrapes(), 'instance="b"')]


def firing(*found: tuple[str, str]) -> dict[str, float]:
    return {f'{{alertname="{name}",group="{group_id}"}}': 1 for name, group_id in found}


def test_rules_are_valid(tmp_path: Path) -> None:
    evaluate(tmp_path, RULES, [], {})
    promtool(tmp_path, "check", "rules", "rules.yml")


def test_alerts_fire_once_for_the_groups_in_trouble_and_no_other(tmp_path: Path) -> None:
    trouble = [
        ("ConsumerGroupStopped", "stuck"),
        ("ConsumerGroupNeverDrains", "stuck"),
        ("ConsumerGroupTimeLagHigh", "stuck"),
        ("ConsumerGroupFallingBehind", SLOW),
        ("ConsumerGroupNeverDrains", SLOW),
        ("ConsumerGroupTimeLagHigh", SLOW),
    ]
    evaluate(
        tmp_path,
        RULES,
        of_two_servers(),
        {
            "promql_expr_test": [
                values(FIRING, "4m", {}),
                values(FIRING, "40m", firing(*trouble)),
                values(FIRING, LAST, firing(*trouble, ("ConsumerGroupRecordsDeletedUnread", "stuck"))),
            ]
        },
    )


def test_alert_goes_on_while_the_server_is_restarted(tmp_path: Path) -> None:
    """The restarted server polls for some minutes before it has a verdict again."""
    before, again = scrapes()[:31], range(32, 60)
    after = [text(_polled([poll(minute) for minute in range(max(32, at - 11), at + 1)])) for at in again]
    expr = 'count by (group) (ALERTS{alertname="ConsumerGroupStopped",alertstate="firing"})'
    expected = [values(expr, f"{minute}m", {'{group="stuck"}': 1}) for minute in range(15, 60)]
    evaluate(tmp_path, RULES, input_series([*before, "", *after]), {"promql_expr_test": expected})


def test_alert_has_its_texts_and_a_link_that_is_encoded(tmp_path: Path) -> None:
    labels = {"severity": "warning", "cluster": "prod", "group": SLOW}
    (alert,) = [alert for alert in alerts(URL, Thresholds()) if alert.name == "ConsumerGroupNeverDrains"]
    annotations = {
        "summary": "The lag does not shrink: group a b&c of prod",
        "description": alert.description,
        "dashboard_url": f"{URL}/group?cluster=prod&group=a+b%26c",
    }
    only_slow = [made for made in of_two_servers() if SLOW in made["series"]]
    expected = {"alertname": alert.name, "eval_time": LAST}
    evaluate(
        tmp_path,
        RULES,
        only_slow,
        {"alert_rule_test": [{**expected, "exp_alerts": [{"exp_labels": labels, "exp_annotations": annotations}]}]},
    )


def test_transaction_marker_at_the_end_of_an_idle_topic_fires_nothing(tmp_path: Path) -> None:
    polls = [cluster({"a": group({"t-0": 99})}, {"t-0": end(100)}, n, 60_000 * n) for n in range(1, MINUTES)]
    made = input_series([text(_polled(polls[max(0, at - 11) : at + 1])) for at in range(len(polls))])
    evaluate(tmp_path, RULES, made, {"promql_expr_test": [values("ALERTS", "70m", {})]})


def test_queries_of_the_dashboard_are_valid_and_have_data(tmp_path: Path) -> None:
    """Nothing is wrong with the cluster itself, so there are no problems."""
    panels = dashboard(URL)["panels"]
    targets = [
        (f"panel_{panel['id']}_{target['refId']}", target) for panel in panels for target in panel.get("targets", ())
    ]
    rules = [{"record": name, "expr": re.sub(r"\$\w+", ".*", target["expr"])} for name, target in targets]
    (empty,) = [f"panel_{panel['id']}_A" for panel in panels if panel["title"] == "Problems"]
    drawn = {f'{{panel="{name}"}}': 1 for name, _ in targets if name != empty}
    found = (
        'count by (panel) (count by (panel) (label_replace({__name__=~"panel_.+"}, "panel", "$1", "__name__", "(.+)")))'
    )
    whole = {"groups": [{"name": "panels", "rules": rules}]}
    evaluate(tmp_path, whole, of_two_servers(), {"promql_expr_test": [values(found, "10m", drawn)]})


def test_time_lag_beyond_the_samples_of_the_server_fires_all_the_same(tmp_path: Path) -> None:
    """It keeps 60 polls at most, which is 10 minutes at an interval of 10 s."""
    without = [made for made in of_two_servers() if "time_lag_seconds" not in made["series"]]
    expr = 'count by (group) (ALERTS{alertname="ConsumerGroupTimeLagHigh",alertstate="firing"})'
    expected = [values(expr, "14m", {}), values(expr, "25m", {'{group="stuck"}': 1, f'{{group="{SLOW}"}}': 1})]
    evaluate(tmp_path, RULES, without, {"promql_expr_test": expected})


def test_recordings_count_records_once(tmp_path: Path) -> None:
    lag = "cluster_group:groupscope_group_lag_records:max"
    consumed, produced = (f"{name}:rate5m" for name in ("consumed_records", "produced_records"))
    evaluate(
        tmp_path,
        RULES,
        of_two_servers(),
        {
            "promql_expr_test": [
                values(f'{lag}{{group="stuck"}}', LAST, {f'{lag}{{cluster="prod",group="stuck"}}': 60 * 70}),
                values(
                    f'sum by (group) (cluster_group:groupscope_{consumed}{{group="fine"}})', LAST, {'{group="fine"}': 1}
                ),
                values(
                    f"sum by (topic) (cluster_topic:groupscope_{produced})",
                    LAST,
                    {'{topic="orders"}': 1, '{topic="idle"}': 0},
                ),
            ]
        },
    )


def test_cluster_that_is_never_read_is_unreadable(tmp_path: Path) -> None:
    expected = [
        values(
            "count by (alertname, cluster) (ALERTS)", "10m", {'{alertname="KafkaClusterUnreadable",cluster="dark"}': 1}
        )
    ]
    evaluate(tmp_path, RULES, input_series([text(unread())] * 11), {"promql_expr_test": expected})


def test_old_and_incomplete_poll_and_series_left_out_fire(tmp_path: Path) -> None:
    incomplete = cluster({"a": group({"orders-0": 1}, complete=False)}, {"orders-0": end(1)}, complete=False)
    old = Polled("prod", report([incomplete]), CollectorStatus(10.0, polls=1), incomplete.at_ms + 121_000)
    names = ("GroupscopePollTooOld", "GroupscopeSnapshotIncomplete", "GroupscopeSeriesLeftOut")
    samples = {f'{{alertname="{name}"}}': 1 for name in names}
    expr = 'count by (alertname) (sum by (alertname, cluster) (ALERTS{alertname=~"Groupscope.*",alertstate="firing"}))'
    series = input_series([text(old, max_series=1)] * 21)
    evaluate(tmp_path, RULES, series, {"promql_expr_test": [values(expr, "20m", samples)]})


def test_no_server_that_is_scraped_fires(tmp_path: Path) -> None:
    expected = [values("count by (alertname) (ALERTS)", "10m", {'{alertname="GroupscopeDown"}': 1})]
    evaluate(tmp_path, RULES, [], {"promql_expr_test": expected})


def community_rules() -> dict[str, Any]:
    """Rules in use with kafka_exporter: on the lag, on its sum, and Strimzi's on a topic without traffic."""
    rules = [
        {"alert": "TooManyMessages", "expr": "kafka_consumergroup_lag > 1000"},
        {"alert": "NoMessage", "expr": "changes(kafka_topic_partition_current_offset[10m]) == 0"},
        {"alert": "ConsumersLag", "expr": "sum(kafka_consumergroup_lag) by (consumergroup) > 50"},
    ]
    return {"groups": [{"name": "kafka", "rules": rules}]}


def test_rules_for_kafka_exporter_go_on_under_its_names(tmp_path: Path) -> None:
    expr = 'count by (alertname, consumergroup, topic) (ALERTS{alertstate="firing"})'
    idle = '{alertname="NoMessage",topic="idle"}'
    summed = {f'{{alertname="ConsumersLag",consumergroup="{name}"}}': 1 for name in ("stuck", SLOW)}
    high = {f'{{alertname="TooManyMessages",consumergroup="{name}",topic="orders"}}': 1 for name in ("stuck", SLOW)}
    evaluate(
        tmp_path,
        community_rules(),
        input_series(scrapes("kafka-exporter")),
        {
            "promql_expr_test": [
                values(expr, "15m", {idle: 1, **summed}),
                values(expr, LAST, {idle: 1, **summed, **high}),
            ]
        },
    )


def test_partition_without_a_commit_or_with_one_beyond_the_log_end_fires_no_rule_for_kafka_exporter(
    tmp_path: Path,
) -> None:
    ends = {"t-0": end(10_000), "t-1": end(10_000)}
    groups = {"half": group({"t-0": 9_960, "t-1": None}), "beyond": group({"t-0": 12_000, "t-1": 9_960})}
    polls = [cluster(groups, ends, number, 60_000 * number) for number in range(1, 12)]
    made = input_series([text(_polled([made]), names=("kafka-exporter",)) for made in polls])
    lag_rules = 'ALERTS{alertname!="NoMessage"}'
    evaluate(tmp_path, community_rules(), made, {"promql_expr_test": [values(lag_rules, "10m", {})]})


def of_group(group_id: str) -> str:
    return f'{{consumergroup="{group_id}",topic="orders"}}'


def test_queries_of_the_kafka_exporter_dashboard_have_their_values(tmp_path: Path) -> None:
    """Grafana's dashboard 7589; a topic gets 60 records a minute, of which `a b&c` commits half."""
    chosen = 'instance=~"a",topic=~"orders"'
    of_topic, slow = '{topic="orders"}', of_group(SLOW)
    expected = [
        values(f"sum(rate(kafka_topic_partition_current_offset{{{chosen}}}[2m])) by (topic)", LAST, {of_topic: 1}),
        values(f"sum(delta(kafka_topic_partition_current_offset{{{chosen}}}[5m])/5) by (topic)", LAST, {of_topic: 60}),
        values(
            f"sum(kafka_consumergroup_lag{{{chosen}}}) by (consumergroup, topic)",
            LAST,
            {slow: 30 * MINUTES, of_group("stuck"): 60 * (MINUTES - 5), of_group("fine"): 0},
        ),
        values(
            f"sum(delta(kafka_consumergroup_current_offset{{{chosen}}}[5m])/5) by (consumergroup, topic)",
            LAST,
            {slow: 30, of_group("stuck"): 0, of_group("fine"): 60},
        ),
        values(f"sum by(topic) (kafka_topic_partitions{{{chosen}}})", LAST, {of_topic: 1}),
    ]
    made = input_series(scrapes("kafka-exporter"), 'instance="a"')
    evaluate(tmp_path, {"groups": []}, made, {"promql_expr_test": expected})
