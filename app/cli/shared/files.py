"""Scenario files on the command line: read, or refused with every problem and its line."""

import sys
from pathlib import Path

from app.cli.shared.options import STDIN
from app.cli.shared.output import warn
from assignors.scenario import Checked, Problem, ScenarioError, check_bytes, check_file
from assignors.scenario.syntax import MOST_BYTES
from assignors.whatif.events import Scenario
from lag.errors import ConfigError


def read(file: str) -> Checked:
    """The scenario of a file, `-` being stdin. Raises ScenarioError."""
    if file == STDIN:
        return check_bytes(sys.stdin.buffer.read(MOST_BYTES + 1), "")
    return check_file(Path(file))


def read_or_refuse(file: str) -> Scenario:
    """The scenario of a file, its warnings on stderr. Raises ConfigError with a line for each problem."""
    try:
        checked = read(file)
    except ScenarioError as error:
        raise ConfigError("\n".join(placed(file, problem) for problem in error.problems)) from None
    for warning in checked.warnings:
        warn(f"{placed(file, warning)}")
    return checked.scenario


def placed(file: str, problem: Problem) -> str:
    """`FILE:LINE: path: sentence`, which editors and terminals turn into a link."""
    where = file if problem.line is None else f"{file}:{problem.line}"
    return ": ".join(part for part in (where, problem.path, problem.message) if part)
