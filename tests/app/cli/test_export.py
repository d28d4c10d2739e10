"""`groupscope export`: valid files on stdout, the same as JSON, and wrong options refused."""

from typing import Any

import pytest
import yaml

from tests.app.cli.commandline import refused, run

URL = "https://scope.example/kafka/"


def printed(*args: str) -> Any:
    """The document that the command prints; as JSON it is the same one."""
    done = run("export", *args)
    assert (done.code, done.err) == (0, "")
    document = yaml.safe_load(done.out)
    assert run("export", *args, "--json").document == document
    return document


def test_rules_have_the_address_and_the_thresholds() -> None:
    groups = printed("rules", "--url", URL, "--time-lag", "60", "--poll-age", "45")["groups"]
    named = {rule["alert"]: rule for rule in groups[1]["rules"]}
    assert named["ConsumerGroupStopped"]["annotations"]["dashboard_url"].startswith(
        "https://scope.example/kafka/group?cluster="
    )
    assert "> 60\n" in named["ConsumerGroupTimeLagHigh"]["expr"]
    assert named["GroupscopePollTooOld"]["expr"].endswith("> 45")


def test_rules_for_the_operator_are_the_same_rules() -> None:
    made = printed("rules", "--operator")
    assert made["kind"] == "PrometheusRule"
    assert made["spec"] == printed("rules")


def test_yaml_has_no_aliases_and_expressions_of_several_lines_as_blocks() -> None:
    text = run("export", "servicemonitor").out + run("export", "rules").out
    assert "&id" not in text
    assert "expr: |-\n" in text
    assert "\\n" not in text


def test_service_monitor_has_what_was_asked() -> None:
    made = printed("servicemonitor", "--name", "scope", "--port", "web", "--interval", "10", "--names", "own,burrow")
    (endpoint,) = made["spec"]["endpoints"]
    assert made["metadata"]["name"] == "scope"
    assert (endpoint["port"], endpoint["interval"], endpoint["params"]) == ("web", "10s", {"names": ["own,burrow"]})


def test_grafana_dashboard_links_to_the_address() -> None:
    variables = {variable["name"]: variable for variable in printed("grafana", "--url", URL)["templating"]["list"]}
    assert variables["groupscope"]["current"]["value"] == "https://scope.example/kafka"


def test_unknown_set_of_names_is_refused_with_the_nearest_one() -> None:
    assert refused("export", "servicemonitor", "--names", "kminions") == "--names: unknown; did you mean kminion?"


@pytest.mark.parametrize(
    "url", ["groupscope:8501", "javascript:alert(1)", "", "http://", "https://a b/", "http://a/?x=1"]
)
@pytest.mark.parametrize("kind", ["rules", "grafana"])
def test_address_that_is_no_web_page_is_refused(kind: str, url: str) -> None:
    assert "--url http://localhost:8501" in refused("export", kind, "--url", url)
