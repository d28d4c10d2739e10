"""Expressions have the names and labels of /metrics, and nothing else."""

import re

import pytest

from app.exports.promql import LABELS, increase_rate, over_time, selector, series
from tests.app.exports.names import check
from tests.app.metrics.clusters import small, text, unread


def served() -> dict[str, set[str]]:
    """The labels of each metric in the text of /metrics."""
    lines = [line for line in text(small(), unread()).splitlines() if not line.startswith("#")]
    return {line.partition("{")[0]: set(re.findall(r'[{,](\w+)="', line)) for line in lines}


def test_labels_of_each_metric_are_those_that_are_served() -> None:
    found = served()
    assert {name: set(LABELS[name]) for name in found} == found


def test_series_leaves_out_the_labels_that_prometheus_adds() -> None:
    assert series("groupscope_group_members") == "max by (cluster, group) (groupscope_group_members)"
    assert series("groupscope_poll_age_seconds", aggregate="min") == "min by (cluster) (groupscope_poll_age_seconds)"


def test_selector_has_its_matchers() -> None:
    assert selector("groupscope_groups", 'verdict="ok"', 'cluster=~"a|b"') == (
        'groupscope_groups{verdict="ok",cluster=~"a|b"}'
    )


def test_function_over_a_window_takes_the_selector_and_what_comes_after() -> None:
    expr = over_time("predict_linear", "groupscope_partition_log_end_offset", "1h", after="60")
    assert expr == ("max by (cluster, topic, partition) (predict_linear(groupscope_partition_log_end_offset[1h], 60))")
    check(increase_rate("groupscope_partition_log_end_offset", 'topic="orders"'))


def test_unknown_metric_is_refused() -> None:
    with pytest.raises(KeyError, match="groupscope_group_lags"):
        selector("groupscope_group_lags")


def test_unknown_label_is_refused() -> None:
    with pytest.raises(ValueError, match="groupscope_group_members has no label topic"):
        series("groupscope_group_members", 'topic="orders"')


@pytest.mark.parametrize(
    "expr",
    [
        "groupscope_group_lags > 0",
        'groupscope_group_members{topic="orders"}',
        "sum by (partition) (groupscope_group_members)",
    ],
)
def test_the_check_finds_what_metrics_do_not_have(expr: str) -> None:
    with pytest.raises((AssertionError, KeyError)):
        check(expr)
