"""Pydantic's errors as sentences, with what to write instead."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from assignors.scenario.problems import Path, first
from assignors.scenario.schema import LOADS, ScenarioFile
from assignors.spelling import shown, suggestion

_KEY = "[key]"


def sentences(errors: Iterable[ErrorDetails], model: type[BaseModel] = ScenarioFile) -> dict[Path, str]:
    """One sentence for each of the first 20 paths, in order: a file may have a million errors.

    `model` is what the file was validated as.
    """
    return first((_path(error["loc"]), _sentence(error, model)) for error in errors)


def _path(loc: Path) -> Path:
    """The path without the names of union members and pydantic's marker for keys."""
    loc = tuple(part for part in loc if part != _KEY)
    if loc[:1] == ("capacity",):
        return (*loc[:1], *loc[2:])
    if loc[:1] == ("protocol",):
        return loc[:2]
    return (*loc[:2], *loc[3:]) if loc and loc[0] in LOADS else loc


def _sentence(error: ErrorDetails, model: type[BaseModel]) -> str:
    kind, loc, context = error["type"], error["loc"], error.get("ctx", {})
    if kind == "extra_forbidden":
        key = str(loc[-1])
        return f"The key {shown(key)!r} is unknown.{suggestion(key, _keys_at(loc[:-1], model))}"
    if kind == "missing":
        return f"The key {loc[-1]!r} is missing.{_VERSION if loc == ('schema_version',) else ''}"
    if kind == "sentence":
        return error["msg"]
    if loc[:1] == ("protocol",):
        return "A setting is a string, a number, true or false."
    return _SENTENCES[kind](context) if kind in _SENTENCES else f"{error['msg']}."


def _keys_at(loc: Path, model: Any) -> Iterable[str]:
    for part in loc:
        if isinstance(part, str):
            model = _model_in(model.model_fields[part].annotation)
    fields: Mapping[str, object] = model.model_fields
    return fields


def _model_in(annotation: Any) -> Any:
    """The model in an annotation such as `list[TopicFile] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


_VERSION = " Write schema_version: 1."
_LIST = "A list is expected, such as [a, b] or lines that begin with '- '."
_MAPPING = "A mapping is expected: lines or pairs of 'key: value'."
_WHOLE = "A whole number is expected, unquoted and without leading zeros."
_SENTENCES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "list_type": lambda _: _LIST,
    "dict_type": lambda _: _MAPPING,
    "model_type": lambda _: _MAPPING,
    "model_attributes_type": lambda _: _MAPPING,
    "invalid_key": lambda _: "A key must be a string here. Quote it.",
    "string_type": lambda _: "A string is expected.",
    "int_type": lambda _: _WHOLE,
    "float_type": lambda _: "A number is expected, unquoted.",
    "finite_number": lambda _: "A finite number is expected.",
    "literal_error": lambda context: f"This must be {context['expected']}.",
    "greater_than": lambda context: f"This must be more than {context['gt']:,g}.",
    "greater_than_equal": lambda context: f"This must be at least {context['ge']:,g}.",
    "less_than": lambda context: f"This must be less than {context['lt']:,}.",
    "less_than_equal": lambda context: f"This must be at most {context['le']:,.0f}.",
    "too_short": lambda context: f"At least {context['min_length']} is expected.",
}
