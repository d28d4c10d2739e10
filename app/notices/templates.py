"""Templates of notices, in the syntax of Jinja2 without everything that can loop, call or multiply.

    {{ verdict | upper }}: {{ group }} on {{ cluster }}{% if url %} {{ url }}{% endif %}

A template is checked when the file is loaded: it can only insert fields, choose with `if`, join texts and use FILTERS,
so that its time and its result are bounded by its length. The result has at most MOST_RENDERED characters.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import quote

from jinja2 import StrictUndefined, Template, TemplateError, Undefined, UndefinedError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from assignors.spelling import suggestion

MOST_TEMPLATE = 16_384
"""Characters of a template."""

MOST_RENDERED = 65_536
"""Characters of a filter's result, and of the whole."""

_ALLOWED = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Getattr, nodes.Getitem),
    *(nodes.If, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Concat),
    nodes.Filter,
)
_NAMES: Mapping[type[nodes.Node], str] = {
    nodes.For: "{% for %}",
    nodes.Call: "A call",
    nodes.Assign: "{% set %}",
    nodes.Macro: "{% macro %}",
    nodes.Import: "{% import %}",
    nodes.Include: "{% include %}",
    nodes.Mul: "*",
    nodes.Pow: "**",
}


class InvalidTemplate(ValueError):
    """A template cannot be used; str() is a sentence."""


def _truncate(text: object, length: int = 255) -> str:
    return str(text)[: max(0, length)]


def _default(value: object, other: object = "") -> object:
    return other if isinstance(value, Undefined) or value is None or value == "" else value


FILTERS: Mapping[str, Callable[..., object]] = {
    "default": _default,
    "lower": lambda value: str(value).lower(),
    "tojson": json.dumps,
    "trim": lambda value: str(value).strip(),
    "truncate": _truncate,
    "upper": lambda value: str(value).upper(),
    "urlencode": lambda value: quote(str(value), safe=""),
}


def _limited(of: Callable[..., object]) -> Callable[..., object]:
    def limited(*values: object) -> object:
        return _short_enough(of(*values))

    return limited


def _short_enough(value: object) -> object:
    if isinstance(value, str) and len(value) > MOST_RENDERED:
        raise InvalidTemplate(f"The result is longer than {MOST_RENDERED:,} characters.")
    return value


class _Environment(ImmutableSandboxedEnvironment):
    """`finalize` gets each inserted value. Constants are not computed while a template is compiled."""

    def __init__(self, finalize: Callable[[Any], Any] | None) -> None:
        super().__init__(undefined=StrictUndefined, optimized=False, finalize=finalize, keep_trailing_newline=True)
        self.filters = {name: _limited(of) for name, of in FILTERS.items()}
        self.globals.clear()

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A text of `extras`; no method of Python, which would be inserted as `<built-in method …>`."""
        if not isinstance(obj, Mapping):
            return self.undefined(f"only extras has names such as {attribute!r}")
        return obj[attribute] if attribute in obj else self.undefined(f"extras has no {attribute!r}")

    def getitem(self, obj: Any, argument: Any) -> Any:
        """The same for `extras["team"]`; or a character by its number."""
        return self.getattr(obj, argument) if isinstance(argument, str) else super().getitem(obj, argument)


class Into(Enum):
    """What a template makes, which decides how inserted values are escaped."""

    TEXT = "text"
    URL = "url"
    SLACK = "slack"


def escaped_for_slack(text: str) -> str:
    """Slack's three control characters, with which names of groups could make links and mentions."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_ENVIRONMENTS = {
    Into.TEXT: _Environment(lambda value: "" if value is None else value),
    Into.URL: _Environment(lambda value: "" if value is None else quote(str(value), safe="")),
    Into.SLACK: _Environment(lambda value: "" if value is None else escaped_for_slack(str(value))),
}


@dataclass(frozen=True, slots=True)
class NoticeTemplate:
    """A template that was checked."""

    _template: Template

    def render(self, fields: Mapping[str, object]) -> str:
        """The text with these fields. Raises InvalidTemplate if it is too long or a value does not fit a filter."""
        parts, length = list[str](), 0
        try:
            for part in self._template.generate(fields):
                parts.append(part)
                length += len(part)
                if length > MOST_RENDERED:
                    raise InvalidTemplate(f"The result is longer than {MOST_RENDERED:,} characters.")
        except InvalidTemplate:
            raise
        except UndefinedError as error:
            raise InvalidTemplate(f"It cannot be rendered: {error.message}.") from None
        except (TemplateError, TypeError, ValueError, RecursionError) as error:
            raise InvalidTemplate(f"It cannot be rendered ({type(error).__name__}).") from None
        return "".join(parts)


def compiled(text: str, known: Sequence[str], into: Into = Into.TEXT) -> NoticeTemplate:
    """The template of a text that may use the fields `known`. Raises InvalidTemplate.

    Inserted values are percent-encoded in a URL; for Slack, `&`, `<` and `>` are escaped.
    """
    if len(text) > MOST_TEMPLATE:
        raise InvalidTemplate(f"The template is longer than {MOST_TEMPLATE:,} characters.")
    environment = _ENVIRONMENTS[into]
    try:
        tree = environment.parse(text)
        _check(tree, known)
        return NoticeTemplate(environment.from_string(tree))
    except TemplateError as error:
        raise InvalidTemplate(f"This is not a template: {(error.message or '').rstrip('.')}.") from None
    except (RecursionError, SyntaxError, MemoryError):
        raise InvalidTemplate("The template is nested too deeply.") from None


def _check(tree: nodes.Template, known: Sequence[str]) -> None:
    for node in tree.find_all(nodes.Node):
        if not isinstance(node, _ALLOWED):
            what = _NAMES.get(type(node), type(node).__name__)
            raise InvalidTemplate(
                f"{what} is not available in templates of notices. Only {{% if %}} and filters are supported."
            )
        if isinstance(node, nodes.Filter) and node.name not in FILTERS:
            raise InvalidTemplate(f"The filter {node.name!r} is unknown. The filters are {', '.join(FILTERS)}.")
        if isinstance(node, nodes.Name) and node.name not in known:
            raise InvalidTemplate(f"The field {node.name!r} is unknown.{suggestion(node.name, known)}")
