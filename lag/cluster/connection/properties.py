"""Reads a Java properties file exactly as `java.util.Properties.load` does.

Comments start with `#` or `!`; a backslash at the end of a line continues it; key and value are separated by `=`, `:`
or white space; `\\uXXXX` is a UTF-16 code unit. Bytes are read as UTF-8, and as ISO-8859-1 where they are not UTF-8.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lag.errors import ConfigError

MAX_BYTES = 1_000_000
MOST_PROPERTIES = 2_000
"""Kafka has about 200 settings of a client and 300 of a broker."""

_BLANKS = " \t\f"
_KEY_VALUE = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NAMED_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


class Property(NamedTuple):
    """A key with its value, and the number of its first line (from 1)."""

    key: str
    value: str
    line: int


def read_properties(path: Path) -> list[Property]:
    """All properties of a file, in its order (for equal keys, Java uses the last).

    Raises ConfigError, which names the file but no value, if it is unreadable, a directory, too large, binary or
    malformed.
    """
    return parse_properties(_decode(_read(path), str(path)), str(path))


def parse_properties(text: str, source: str = "text") -> list[Property]:
    """All properties of a text, in its order. Raises ConfigError, which names `source` and the line, or the limit."""
    found: list[Property] = []
    for number, line in _logical_lines(text):
        if len(found) == MOST_PROPERTIES:
            cause = f"{source}, line {number}: there are more than {MOST_PROPERTIES:,} settings"
            raise ConfigError(cause, "Give the properties of one client or broker.")
        found.append(_property(line, number, source))
    return found


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"There is no file {path}", "Check the path.") from None
    except IsADirectoryError:
        raise ConfigError(f"{path} is a directory", "Name the properties file in it.") from None
    except PermissionError:
        raise ConfigError(f"{path} cannot be read: permission denied", "Grant read permission on the file.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not valid"
        raise ConfigError(f"{path} could not be read: {reason}", "Name a readable file.") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path} is larger than 1 MB", "Name a client.properties file, not a key store or log.")
    return data


def _decode(data: bytes, source: str) -> str:
    if data.startswith(_UTF16_MARKS):
        raise ConfigError(f"{source} is UTF-16 text", "Save it as UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if _BINARY.search(text):
        raise ConfigError(f"{source} is not a text file", "Name a client.properties file with lines like key=value.")
    return text


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number of the first line, text with continuation lines joined), without comments and blank lines."""
    natural = re.split(r"\r\n|\r|\n", text)
    if not natural[-1]:
        natural.pop()
    start, logical, continued = 0, "", False
    for number, line in enumerate(natural, 1):
        segment = line.lstrip(_BLANKS)
        if not logical and (segment.startswith(("#", "!")) or not segment):
            continued = False
            continue
        if not logical:
            start = number
        backslashes = len(segment) - len(segment.rstrip("\\"))
        continued = backslashes % 2 == 1
        logical += segment[:-1] if continued else segment
        if not continued:
            yield start, logical
            logical = ""
    if logical or (continued and not text.endswith("\r\n")):  # Java looks for the \n behind an \r, and finds the end
        yield start, logical


def _property(line: str, number: int, source: str) -> Property:
    parts = _KEY_VALUE.fullmatch(line)
    assert parts is not None  # every text matches: the value takes what the key leaves
    try:
        key, value = (_unescape(part) for part in parts.groups())
    except ValueError:
        raise ConfigError(
            f"{source}, line {number}: \\u is not followed by four hexadecimal digits",
            "Write a literal backslash as two (C:\\\\users), also in passwords.",
        ) from None
    return Property(key, value, number)


def _unescape(text: str) -> str:
    """Resolve escapes; two escaped surrogates become the one character they stand for, as in Java."""

    def resolve(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] == "u":
            return chr(int(escape[1:], 16))  # ValueError where the digits are missing
        return _NAMED_ESCAPES.get(escape, escape)

    plain = _ESCAPE.sub(resolve, text)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
