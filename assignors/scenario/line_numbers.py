"""The line numbers of values, found by reading the file again when there are problems."""

from collections.abc import Iterable, Iterator, Mapping

from assignors.scenario.problems import Path
from assignors.scenario.syntax import Token


def find_lines(stream: Iterator[Token], paths: Iterable[Path]) -> Mapping[Path, int]:
    """The line of each path, of its key or list item; if it is missing, that of the enclosing value."""
    paths = list(paths)
    lines: dict[Path, int] = {}
    _note(next(stream), stream, (), {above for path in paths for above in _ancestors(path)}, lines)
    return {path: next(lines[above] for above in _ancestors(path) if above in lines) for path in paths}


def _ancestors(path: Path) -> Iterator[Path]:
    return (path[:length] for length in range(len(path), -1, -1))


def _note(token: Token, stream: Iterator[Token], path: Path, wanted: set[Path], lines: dict[Path, int]) -> None:
    lines.setdefault(path, token.line)
    for step, line, child in _children(token, stream):
        below = (*path, step)
        if below in wanted:
            lines[below] = line
            _note(child, stream, below, wanted, lines)
        else:
            _skip(child, stream)


def _children(token: Token, stream: Iterator[Token]) -> Iterator[tuple[str | int, int, Token]]:
    """Key or position, line and first token of each child; the caller consumes the child's other tokens."""
    if token.kind == "=":
        return
    position = 0
    while (child := next(stream)).kind not in "}]":
        if token.kind == "{":
            yield child.value, child.line, next(stream)
        else:
            yield position, child.line, child
            position += 1


def _skip(token: Token, stream: Iterator[Token]) -> None:
    depth = int(token.kind != "=")
    while depth:
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(next(stream).kind, 0)
