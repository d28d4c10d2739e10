"""Reads `sasl.jaas.config`: `org.apache.kafka...PlainLoginModule required username="u" password="p";`.

The grammar is that of Kafka's `JaasConfig`: class name, control flag, options as key=value, semicolon.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from lag.errors import ConfigError

_OPTION = r"""\s*([\w.$-]+)\s*=\s*("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s"';=]++)"""
_LOGIN = re.compile(
    rf"\s*([\w.$-]+)\s+(?:required|requisite|sufficient|optional)\b((?:{_OPTION})*)\s*;\s*", re.DOTALL | re.IGNORECASE
)
_EACH_OPTION = re.compile(_OPTION, re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NAMED_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b"}


class Login(NamedTuple):
    """The simple class name of the login module, and its options, which contain secrets: never print them."""

    module: str
    options: Mapping[str, str]


def parse_jaas(text: str) -> Login:
    """The login module of a `sasl.jaas.config`. Raises ConfigError, which never quotes the text."""
    login = _LOGIN.fullmatch(text)
    if login is None:
        raise ConfigError(
            "sasl.jaas.config cannot be read",
            'Write: org.apache.kafka…LoginModule required username="…" password="…"; '
            "with straight quotes and the semicolon at the end.",
        )
    options = {key: _unquote(value) for key, value in _EACH_OPTION.findall(login[2])}
    return Login(login[1].rpartition(".")[2], options)


def _unquote(token: str) -> str:
    if token[0] not in "\"'":
        return token
    return _ESCAPE.sub(lambda match: _NAMED_ESCAPES.get(match[1], match[1]), token[1:-1])
