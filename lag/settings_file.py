"""A file of settings in YAML or JSON, checked against a pydantic model; what is wrong is named with its line."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from assignors.scenario.line_numbers import find_lines
from assignors.scenario.messages import sentences
from assignors.scenario.problems import Problem, ScenarioError, path_text
from assignors.scenario.syntax import Token, compose, tokens
from lag.errors import ConfigError

File = TypeVar("File", bound=BaseModel)


def load_settings_file(path: Path, model: type[File], kind: str, context: object = None) -> File:
    """The file as `model`, whose validators get `context`; an empty file sets nothing.

    `kind`, such as "policy file", is for the hint. Raises ConfigError, which names the lines of what is wrong
    and no value.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", f"Name a {kind}") from None
    return parse_settings(data, str(path), model, context)


def parse_settings(data: bytes, name: str, model: type[File], context: object = None) -> File:
    """The bytes of the file `name` as `model`; an empty file sets nothing. Raises ConfigError as above."""
    text = text_of(data, name)
    try:
        return _validated(list(tokens(text, name)), model, context)
    except ScenarioError as error:
        raise ConfigError(f"{name}: {'; '.join(map(str, error.problems))}") from None


def text_of(data: bytes, name: str) -> str:
    """The text of the file `name`. Raises ConfigError for what is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}, line {line}: this is not UTF-8", "Save the file as text in UTF-8") from None


def _validated(read: list[Token], model: type[File], context: object) -> File:
    if not read:
        return model()
    data: Any = compose(iter(read))
    try:
        return model.model_validate(data, context=context)
    except ValidationError as error:
        found = sentences(error.errors(include_url=False, include_input=False), model)
        raise ScenarioError(_problems(read, found)) from None


def _problems(read: Iterable[Token], by_path: Mapping[tuple[str | int, ...], str]) -> list[Problem]:
    """The problems in the order of the file."""
    lines = find_lines(iter(read), by_path)
    problems = [Problem(line, path_text(path), by_path[path]) for path, line in lines.items()]
    return sorted(problems, key=lambda problem: problem.line or 0)
