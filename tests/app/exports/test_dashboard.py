"""The dashboard asks for metrics that exist, links to the Group page, and its panels do not overlap."""

import json
import re
from itertools import combinations
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from app.exports.dashboard import dashboard, verdict_number
from app.exports.promql import LABELS
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY
from tests.app.exports.names import check, mentions

URL = "https://scope.example"
DASHBOARD = dashboard(URL)
PANELS: dict[str, Any] = {panel["title"]: panel for panel in DASHBOARD["panels"] if panel["type"] != "row"}
VARIABLES: dict[str, Any] = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
QUERIES = [(title, target["expr"]) for title, panel in PANELS.items() for target in panel["targets"]]


@pytest.mark.parametrize(("title", "expr"), QUERIES)
def test_query_names_only_metrics_and_labels_that_are_served(title: str, expr: str) -> None:
    check(expr)


@pytest.mark.parametrize(("title", "expr"), QUERIES)
def test_query_is_limited_to_what_the_variables_choose(title: str, expr: str) -> None:
    for name, labels in mentions(expr):
        assert {"cluster", "group", "topic"} & set(LABELS[name]) <= set(labels), name


@pytest.mark.parametrize("title", PANELS)
def test_legend_uses_only_labels_that_the_series_have(title: str) -> None:
    for target in PANELS[title]["targets"]:
        used = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
        (labels,) = re.findall(r"^(?:topk\(\d+, )?(?:clamp_min\()?\w+ by \(([^)]*)\)", target["expr"]) or [""]
        assert used <= set(labels.split(", ")), target["expr"]


@pytest.mark.parametrize("name", ["cluster", "group", "topic"])
def test_variable_has_the_values_of_a_label_that_is_served(name: str) -> None:
    ((selector, label),) = re.findall(r"^label_values\((.*), (\w+)\)$", VARIABLES[name]["query"]["query"])
    check(selector)
    assert label == name
    assert all(label in LABELS[metric] for metric, _ in mentions(selector))


def test_data_source_is_a_variable_of_every_panel_and_query() -> None:
    assert VARIABLES["datasource"]["query"] == "prometheus"
    uids = re.findall(r'"uid": "([^"]*)"', json.dumps(DASHBOARD["panels"]))
    assert set(uids) == {"${datasource}"}


def test_numbers_of_panels_differ_and_none_overlap() -> None:
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(numbers)) == len(numbers)
    for one, other in combinations((panel["gridPos"] for panel in DASHBOARD["panels"]), 2):
        apart = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert apart or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in DASHBOARD["panels"])


def links() -> set[str]:
    return set(re.findall(r'"url": "([^"]*)"', json.dumps(PANELS)))


def test_links_open_the_group_at_the_address_of_the_variable() -> None:
    assert VARIABLES["groupscope"]["current"]["value"] == URL
    assert len(links()) == 2
    for link in links():
        assert link.startswith("${groupscope:raw}/group?")
        assert set(parse_qs(urlsplit(link).query)) == {"cluster", "group"}
        assert link.count(":percentencode}") == 2


def test_verdicts_have_their_words_and_numbers_in_the_order_of_urgency() -> None:
    (mapping,) = PANELS["Verdicts over time"]["fieldConfig"]["defaults"]["mappings"]
    assert [mapping["options"][str(place)]["text"] for place in range(len(URGENCY))] == [
        VERDICTS[status].word for status in URGENCY
    ]
    places = re.findall(r'verdict="(\w+)"}\)\) \* 0 \+ (\d+)', verdict_number())
    assert places == [(status, str(place)) for place, status in enumerate(URGENCY)]


def test_columns_of_the_table_are_its_queries() -> None:
    table = PANELS["Groups"]
    renamed = table["transformations"][1]["options"]["renameByName"]
    assert list(renamed) == [f"Value #{target['refId']}" for target in table["targets"]]
    assert all(target["instant"] and target["format"] == "table" for target in table["targets"])


def test_a_gap_stays_a_gap() -> None:
    """Unknown is never drawn as 0, nor as the line between two known values."""
    assert PANELS["Lag"]["fieldConfig"]["defaults"]["custom"]["spanNulls"] is False
    assert not any("vector(0)" in expr for _, expr in QUERIES)
