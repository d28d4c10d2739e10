"""From a file, a text or an upload to a scenario, or to everything that is wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from assignors.scenario.build import build
from assignors.scenario.checks import findings
from assignors.scenario.line_numbers import find_lines
from assignors.scenario.messages import sentences
from assignors.scenario.problems import MOST_PROBLEMS, Path, Problem, ScenarioError, path_text
from assignors.scenario.schema import ScenarioFile
from assignors.scenario.syntax import MOST_BYTES, compose, text_of, tokens
from assignors.whatif.events import Scenario


@dataclass(frozen=True, slots=True)
class Checked:
    """A scenario, and what about its file is allowed but odd; at most 20 warnings."""

    scenario: Scenario
    warnings: tuple[Problem, ...]


def load_scenario(path_or_text: str | FilePath) -> Scenario:
    """The scenario of a file, or of a text (anything with a line break or a brace). Raises ScenarioError."""
    if isinstance(path_or_text, str) and ("\n" in path_or_text or "{" in path_or_text):
        return check_bytes(path_or_text.encode("utf-8", "surrogatepass"), "").scenario
    return check_file(FilePath(path_or_text)).scenario


def check_file(path: FilePath) -> Checked:
    """The scenario of a file and the warnings about it. Raises ScenarioError, also when it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ScenarioError([Problem(None, "", f"{path} cannot be read: {_reason(error)}.")]) from None
    return check_bytes(data, path.name)


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def check_bytes(data: bytes, name: str) -> Checked:
    """The same of an upload; `name` is the file's, whose ending counts, or "" where there is none."""
    text = text_of(data, name)
    file = _validated(text, name)
    found = findings(file)
    if found.errors:
        raise ScenarioError(_problems(found.errors, text, name))
    return Checked(build(file), _problems(found.warnings, text, name))


def _validated(text: str, name: str) -> ScenarioFile:
    data: Any = compose(tokens(text, name))
    try:
        return ScenarioFile.model_validate(data)
    except ValidationError as error:
        told = sentences(error.errors(include_url=False, include_input=False))
        raise ScenarioError(_problems(told, text, name)) from None


def _problems(told: Mapping[Path, str], text: str, name: str) -> tuple[Problem, ...]:
    """In the order of the file, the first 20."""
    if not told:
        return ()
    lines = find_lines(tokens(text, name), islice(told, MOST_PROBLEMS))
    placed = [Problem(line, path_text(path), told[path]) for path, line in lines.items()]
    return tuple(sorted(placed, key=lambda problem: problem.line or 0))
