"""Loads a scenario from a file, a text or an upload, or reports all that is wrong with it."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from assignors.scenario.build import build
from assignors.scenario.checks import errors, warnings
from assignors.scenario.line_numbers import find_lines
from assignors.scenario.messages import sentences
from assignors.scenario.problems import Path, Problem, ScenarioError, first, path_text
from assignors.scenario.schema import LOADS, MOST, ScenarioFile
from assignors.scenario.syntax import MOST_BYTES, compose, text_of, tokens
from assignors.whatif.events import Scenario

_ORDER = ("topics", "members", "events")
"""Each of these sections names what those before it have."""
_OF_ALL = (*LOADS, "capacity")
"""These name what all of `_ORDER` have."""
_NOTHING = ScenarioFile(schema_version=1, name="", assignor="range")


@dataclass(frozen=True, slots=True)
class Checked:
    """A scenario, and at most 20 warnings about its file."""

    scenario: Scenario
    warnings: tuple[Problem, ...]


def load_scenario(path_or_text: str | FilePath) -> Scenario:
    """The scenario in a file, or in a text (with a line break or a brace). Raises ScenarioError."""
    if isinstance(path_or_text, str) and ("\n" in path_or_text or "{" in path_or_text):
        return check_bytes(path_or_text.encode("utf-8", "surrogatepass"), "").scenario
    return check_file(FilePath(path_or_text)).scenario


def check_file(path: FilePath) -> Checked:
    """The scenario in a file, with warnings. Raises ScenarioError, also when the file cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ScenarioError([Problem(None, "", f"{path} cannot be read: {_reason(error)}.")]) from None
    return check_bytes(data, path.name)


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def check_bytes(data: bytes, name: str) -> Checked:
    """The scenario in an upload, with warnings. `name` is the file name, "" if there is none. Raises ScenarioError."""
    text = text_of(data, name)
    file = _validated(text, name)
    if found := first(errors(file)):
        raise ScenarioError(_problems(found, text, name))
    scenario = build(file)
    return Checked(scenario, _problems(first(warnings(file, scenario)), text, name))


def _validated(text: str, name: str) -> ScenarioFile:
    data: Any = compose(tokens(text, name), MOST)
    try:
        return ScenarioFile.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        others = errors(_without({one["loc"][0] for one in details if one["loc"]}, data))
        raise ScenarioError(_problems(first(chain(sentences(details).items(), others)), text, name)) from None


def _without(broken: Set[int | str], data: Any) -> ScenarioFile:
    """The file without its broken sections and those that name what is in them."""
    sections = ScenarioFile.model_fields.keys()
    if not isinstance(data, Mapping) or not broken or not broken <= sections:  # an unknown key may be any of them
        return _NOTHING
    last = min((_ORDER.index(section) for section in broken & set(_ORDER)), default=len(_ORDER))
    kept = ("assignor", *_ORDER[:last], *(_OF_ALL if last == len(_ORDER) else ()))
    sound = {section: data[section] for section in kept if section in data and section not in broken}
    return ScenarioFile.model_validate({**_NOTHING.model_dump(), **sound})


def _problems(by_path: Mapping[Path, str], text: str, name: str) -> tuple[Problem, ...]:
    """The problems in the order of the file."""
    if not by_path:
        return ()
    lines = find_lines(tokens(text, name), by_path)
    problems = [Problem(line, path_text(path), by_path[path]) for path, line in lines.items()]
    return tuple(sorted(problems, key=lambda problem: problem.line or 0))
