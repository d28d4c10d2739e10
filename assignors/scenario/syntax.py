"""Parses a scenario file into dicts, lists, texts and numbers, by way of tokens with line numbers.

Tags, aliases, anchors and merge keys are refused, so a small file cannot expand into a large one. Plain words follow
YAML 1.2's core schema (`on`, `yes` and `010` are texts), because YAML 1.1 turns such ids into booleans.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path as FilePath
from pathlib import PurePath
from typing import Any, NamedTuple

import yaml

from assignors.scenario.problems import Path, Problem, ScenarioError, path_text
from assignors.spelling import shown

MOST_BYTES = 2 * 1024 * 1024
MOST_DEPTH = 12
EXTENSIONS = (".yaml", ".yml", ".json")

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml if available: 10 times faster
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,300})")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_JSON_TOKEN = re.compile(r'\n|[{}\[\]]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+')
_CLOSE = "}]"
_BRACKETS = frozenset("{[]}")


class Token(NamedTuple):
    """A bracket of `{}[]`, or `=` and a value; `line` counts from 1."""

    kind: str
    value: Any
    line: int


def text_of(data: bytes, name: str) -> str:
    """The file as text. Raises ScenarioError on a wrong extension, too many bytes, and what is not UTF-8."""
    suffix = PurePath(name).suffix
    if name and suffix.lower() not in EXTENSIONS:
        ends = f"ends in {suffix}" if suffix else "has no ending"
        raise _refusal(None, f"{shown(name)} {ends}. A scenario ends in .yaml, .yml or .json.")
    if len(data) > MOST_BYTES:
        raise _refusal(None, f"This is more than {MOST_BYTES:,} bytes (2 MB), the most that a scenario may have.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refusal(line, f"Byte {error.start:,} is not UTF-8. Save the file as text in UTF-8.") from None


def tokens(text: str, name: str) -> Iterator[Token]:
    """The tokens of a YAML or JSON text. A text without a name is read as JSON if it is valid JSON."""
    is_json = name.lower().endswith(".json") or (not name and _is_json(text))
    return _json_tokens(text) if is_json else _yaml_tokens(text)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return text.lstrip().startswith("{")


def _json_tokens(text: str) -> Iterator[Token]:
    try:
        json.loads(text, parse_int=float)  # for its error messages; it has no line numbers of values
    except json.JSONDecodeError as error:
        raise _refusal(error.lineno, f"This is not JSON: {error.msg} at column {error.colno}.") from None
    except RecursionError:
        raise _refusal(None, _too_deep()) from None
    line = 1
    for token in _JSON_TOKEN.findall(text):
        if token == "\n":
            line += 1
        elif token in _BRACKETS:
            yield Token(token, None, line)
        else:
            yield Token("=", scanstring(token, 1)[0] if token[0] == '"' else plain(token), line)


def _yaml_tokens(text: str) -> Iterator[Token]:
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if type(event) is yaml.ScalarEvent and event.anchor is event.tag is None and event.value != "<<":
                value = plain(event.value) if event.implicit[0] else event.value  # most of a large file
                yield Token("=", value, _line(event))
            else:
                yield from _yaml_token(event)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise _refusal(line, f"This is not YAML: {error.problem}.{_hint(error.problem or '')}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _refusal(
            line, f"This is not YAML: the file contains a control character ({error.character!r})."
        ) from None


def _hint(problem: str) -> str:
    return next((hint for words, hint in _HINTS.items() if words in problem), "")


_HINTS = {
    "cannot start any token": " Indent with spaces, and quote values that begin with a sign.",
    "tab character": " Indent with spaces.",
    "mapping values are not allowed": " Quote text that contains ': ', and check the indentation.",
}


def _yaml_token(event: yaml.Event) -> Iterator[Token]:
    line = _line(event)
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise _refusal(line, "Anchors (&) and aliases (*) are not allowed. Write the value out, or quote it.")
    if isinstance(event, yaml.DocumentStartEvent) and event.tags:
        raise _refusal(line, "Tags (%TAG) are not allowed.")
    if (tag := getattr(event, "tag", None)) is not None:
        raise _refusal(line, f"Tags such as {shown(tag)} are not allowed. Quote a value that begins with '!'.")
    if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value == "<<":
        raise _refusal(line, "Merge keys (<<) are not allowed. Write the values out.")
    match event:
        case yaml.ScalarEvent():
            yield Token("=", plain(event.value) if event.implicit[0] else event.value, line)
        case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
            yield Token("{" if isinstance(event, yaml.MappingStartEvent) else "[", None, line)
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            yield Token("}" if isinstance(event, yaml.MappingEndEvent) else "]", None, line)


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1


def plain(word: str) -> str | int | float | bool | None:
    """The value of an unquoted word, by YAML 1.2's core schema without octal and hexadecimal numbers.

    >>> [plain(word) for word in ("12", "1.5e3", "true", "on", "010", "1:30")]
    [12, 1500.0, True, 'on', '010', '1:30']
    """
    if word in _WORDS:
        return _WORDS[word]
    if _INTEGER.fullmatch(word):
        return int(word)
    return float(word) if _NUMBER.fullmatch(word) else word


def read_bundled(path: FilePath) -> Any:
    """The value that a YAML file of this package holds."""
    return compose(tokens(path.read_text("utf-8"), path.name))


def compose(stream: Iterator[Token], most: Mapping[str, int] | None = None) -> Any:
    """The value of the tokens; `most` limits the lists under keys of the file.

    Raises ScenarioError for no value, a second one, deep nesting, a duplicate key, or a list that is too long.
    """
    first = next(stream, None)
    if first is None:
        raise _refusal(None, "The file is empty. `groupscope scenario example` prints examples.")
    value = _value(first, stream, (), {(key,): limit for key, limit in (most or {}).items()})
    for token in stream:
        raise _refusal(token.line, "A second document begins here. A file holds one document.")
    return value


def _value(token: Token, stream: Iterator[Token], path: Path, most: Mapping[Path, int]) -> Any:
    if len(path) > MOST_DEPTH:
        raise _refusal(token.line, _too_deep())
    if token.kind == "{":
        return dict(_pairs(stream, path, most))
    if token.kind == "[":
        return list(_items(stream, path, most))
    return token.value


def _items(stream: Iterator[Token], path: Path, most: Mapping[Path, int]) -> Iterator[Any]:
    limit = most.get(path)
    for at, item in enumerate(takewhile(_is_not_end, iter(lambda: next(stream), None))):
        if at == limit:
            raise _refusal(item.line, f"At most {limit:,} are allowed here, and this is one more.", path)
        yield item.value if item.kind == "=" else _value(item, stream, (*path, at), most)


def _is_not_end(token: Token) -> bool:
    return token.kind not in _CLOSE


def _pairs(stream: Iterator[Token], path: Path, most: Mapping[Path, int]) -> Iterator[tuple[str | int, Any]]:
    seen: set[str | int] = set()
    while _is_not_end(token := next(stream)):
        key = token.value
        if token.kind != "=" or type(key) not in (str, int):
            raise _refusal(token.line, _bad_key(token), path)
        if key in seen:
            raise _refusal(token.line, f"The key {shown(str(key))!r} is listed twice. Keep one.", path)
        seen.add(key)
        yield key, _value(next(stream), stream, (*path, key), most)


def _bad_key(token: Token) -> str:
    if token.kind != "=":
        return "A list or a mapping is used as a key."
    return f"{json.dumps(token.value)} is used as a key. Quote it if it is a name."


def _too_deep() -> str:
    return f"Lists and mappings are nested more than {MOST_DEPTH} deep. A scenario needs 4."


def _refusal(line: int | None, message: str, path: Path = ()) -> ScenarioError:
    return ScenarioError([Problem(line, path_text(path), message)])
