"""The line numbers of values, found by reading the file again when there are problems."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from assignors.scenario.problems import Path
from assignors.scenario.syntax import Token


def find_lines(stream: Iterator[Token], paths: Iterable[Path]) -> Mapping[Path, int]:
    """The line of each path, of its key or list item; if it is missing, that of the enclosing value.

    The stream is read up to the last of them.
    """
    paths = list(paths)
    wanted = {(), *(above for path in paths for above in _ancestors(path))}
    root = next(stream)
    lines = {(): root.line, **dict(islice(_places(root, stream, (), wanted), len(wanted) - 1))}
    return {path: next(lines[above] for above in _ancestors(path) if above in lines) for path in paths}


def _ancestors(path: Path) -> Iterator[Path]:
    return (path[:length] for length in range(len(path), -1, -1))


def _places(token: Token, stream: Iterator[Token], path: Path, wanted: set[Path]) -> Iterator[tuple[Path, int]]:
    for step, line, child in _children(token, stream):
        below = (*path, step)
        if below in wanted:
            yield below, line
            yield from _places(child, stream, below, wanted)
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
        depth += _DEEPER.get(next(stream).kind, 0)


_DEEPER = {"{": 1, "[": 1, "}": -1, "]": -1}
