"""A story of a lab: what it is called, what it shows, its settings and its steps.

Presets, uploaded files and links have the same form: keys with values as people type them, such as `end: 10, 0`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationError

from assignors.scenario.dump import Block, as_yaml
from assignors.scenario.line_numbers import find_lines
from assignors.scenario.problems import Problem, ScenarioError
from assignors.scenario.syntax import compose, plain, read_bundled, text_of, tokens
from assignors.spelling import shown, suggestion

NONE = "none"
MOST_BYTES = 50_000
"""The largest file; a story with the longest script takes a tenth of it."""


def joined(values: Iterable[object]) -> str:
    """ "10, 0"; "none" """
    return ", ".join(map(str, values)) or NONE


def split(value: object) -> object:
    """The parts of "10, 0"; a single number is one part."""
    if isinstance(value, str | int):
        return [part.strip() for part in str(value).split(",") if part.strip() not in ("", NONE)]
    return value or []


Whole = Annotated[int, Field(ge=0, lt=10**12, description="a whole number")]
Wholes = Annotated[tuple[Whole, ...], BeforeValidator(split), PlainSerializer(joined)]
Flag = Annotated[bool, PlainSerializer(lambda on: "yes" if on else "no"), Field(description="yes or no")]


class Story(BaseModel):
    """What the stories of all labs have in common.

    A field's description completes "'soon' is not …".
    """

    model_config = ConfigDict(coerce_numbers_to_str=True, extra="forbid", frozen=True)

    lab_name: ClassVar[str]
    name: str = Field(alias="story")
    title: str = Field(max_length=120, description="a title of at most 120 characters")
    shows: str = Field(max_length=400, description="a text of at most 400 characters")

    def check(self) -> None:
        """Raises ValueError when the lab cannot play it."""

    @classmethod
    def keys(cls) -> dict[str, str]:
        """Key in files and links -> field."""
        return {info.alias or field: field for field, info in cls.model_fields.items()}

    def changed(self, values: Mapping[str, Any]) -> Self:
        """The story with other values, by key. Raises ScenarioError if a value is wrong, or the lab cannot play it."""
        try:
            current = {key: getattr(self, field) for key, field in self.keys().items()}
            story = type(self).model_validate({**current, **values})
            story.check()
        except ValidationError as error:
            raise ScenarioError(self._problems(error, values)) from None
        except ValueError as error:
            raise ScenarioError([Problem(None, "", str(error))]) from None
        return story

    def texts(self, base: Self | None = None) -> dict[str, str]:
        """Its values as texts, by key: all, or those that differ from `base`."""
        fields = {it for it in self.keys().values() if base is None or getattr(self, it) != getattr(base, it)}
        return {key: str(value) for key, value in self.model_dump(by_alias=True, include=fields).items()}

    def _problems(self, error: ValidationError, values: Mapping[str, Any]) -> list[Problem]:
        keys = self.keys()
        found: dict[str, str] = {}
        for each in error.errors():
            key = str(each["loc"][0])
            if key not in keys:
                found[key] = f"This key is unknown.{suggestion(key, keys)}"
            elif each["type"] == "value_error":
                found[key] = str(each["ctx"]["error"])
            else:
                info = type(self).model_fields[keys[key]]
                options: Any = info.annotation
                wanted = info.description or f"one of {', '.join(options)}"
                found[key] = f"{shown(str(values[key]))!r} is not {wanted}."
        return [Problem(None, key, message) for key, message in found.items()]


S = TypeVar("S", bound=Story)


def presets(path: Path, model: type[S]) -> Mapping[str, S]:
    """The bundled stories of a YAML file, by name; the first is where the lab opens."""
    return {name: model.model_validate({"story": name, **values}) for name, values in read_bundled(path).items()}


def from_values(values: Mapping[str, Any], stories: Mapping[str, S]) -> S:
    """The preset that `story` names, or the first, with the other values changed. Raises ScenarioError."""
    name = values.get("story", next(iter(stories)))
    if name not in stories:
        message = f"There is no story {shown(str(name))!r}. Choose from {', '.join(stories)}."
        raise ScenarioError([Problem(None, "story", message)])
    return stories[name].changed(values)


def from_file(data: bytes, stories: Mapping[str, S]) -> S:
    """The story of an uploaded file. Raises ScenarioError that names the lines."""
    if len(data) > MOST_BYTES:
        raise ScenarioError(
            [Problem(None, "", f"The file has {len(data):,} bytes. A story has at most {MOST_BYTES:,}.")]
        )
    text = text_of(data, "")
    values = compose(tokens(text, ""))
    lab = next(iter(stories.values())).lab_name
    if not isinstance(values, dict) or values.pop("lab", None) != lab:
        raise ScenarioError([Problem(None, "", f"This is not a file of this lab. It needs the line `lab: {lab}`.")])
    try:
        return from_values(values, stories)
    except ScenarioError as error:
        lines = find_lines(tokens(text, ""), [(problem.path,) for problem in error.problems if problem.path])
        raise ScenarioError(replace(it, line=lines.get((it.path,))) for it in error.problems) from None


def to_file(story: Story) -> bytes:
    """The file of a story with all its values; `from_file` reads it."""
    values = {key: Block(text) if "\n" in text else plain(text) for key, text in story.texts().items()}
    return as_yaml({"lab": story.lab_name, **values}).encode()
