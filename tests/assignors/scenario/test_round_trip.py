"""A scenario survives its file, whatever stands in it."""

import json

from hypothesis import HealthCheck, given

from assignors.scenario import dump, load_scenario
from assignors.scenario.dump import document
from assignors.whatif.events import Scenario
from tests.assignors.scenario.strategies import scenarios
from tests.support.random_examples import random_examples

quick = random_examples(60, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(scenarios())
def test_a_scenario_comes_back_from_its_yaml(scenario: Scenario) -> None:
    text = dump(scenario)
    assert load_scenario(text) == scenario
    assert dump(load_scenario(text)) == text


@quick
@given(scenarios())
def test_a_scenario_comes_back_from_json(scenario: Scenario) -> None:
    assert load_scenario(json.dumps(document(scenario))) == scenario
