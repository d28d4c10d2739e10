"""The scenario file: a group and the events that happen to it, as YAML or JSON (`docs/scenarios.md`)."""

from assignors.scenario.dump import dump
from assignors.scenario.examples import examples
from assignors.scenario.load import Checked, check_bytes, check_file, load_scenario
from assignors.scenario.problems import Problem, ScenarioError
from assignors.scenario.schema import schema

__all__ = [
    "Checked",
    "Problem",
    "ScenarioError",
    "check_bytes",
    "check_file",
    "dump",
    "examples",
    "load_scenario",
    "schema",
]
