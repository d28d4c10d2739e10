"""Output of commands: JSON on stdout for programs, a table or lines for people, everything else on stderr."""

import json
import logging
import os
import sys
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from rich.cells import cell_len

from app.log_format import LogFormat
from lag.errors import GroupscopeError

_log = logging.getLogger("groupscope")
_COMPACT = (",", ":")
_ENCODER = json.JSONEncoder(separators=_COMPACT)


def emit_json(document: Any) -> None:
    """One JSON document and a newline on stdout; in ASCII, so that the terminal's encoding cannot spoil it."""
    _write(sys.stdout, _ENCODER.encode(document))


def emit_json_lines(documents: Iterable[Any], default: Callable[[Any], Any]) -> None:
    """A line of JSON for each document; `default` turns what JSON does not know into what it knows."""
    encoder = json.JSONEncoder(separators=_COMPACT, default=default)
    sys.stdout.writelines(map("{}\n".format, map(encoder.encode, documents)))
    sys.stdout.flush()


def emit(line: str = "") -> None:
    """One line of the result on stdout."""
    _write(sys.stdout, printable(line))


def emit_text(text: str) -> None:
    """Each line of a text."""
    for line in text.splitlines():
        emit(line)


def emit_table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> None:
    """The lines of a `table`."""
    for line in table(heads, rows, right):
        emit(line)


def use_log_format(log_format: LogFormat) -> None:
    """Write the log in that format, and as JSON the notes as well: each line on stderr is then an object."""
    log_format.use()
    if log_format is LogFormat.JSON:
        _log.setLevel(logging.INFO)


def note(line: str) -> None:
    """Progress, or a remark that is not the result, on stderr."""
    _say(line, logging.INFO)


def warn(line: str) -> None:
    """Something that may be wrong, on stderr."""
    _say(line, logging.WARNING, "warning: ")


def _say(line: str, level: int, prefix: str = "") -> None:
    """As an entry of the log it has a level, as text a prefix."""
    if _log.isEnabledFor(logging.INFO):
        _log.log(level, line)
    else:
        _write(sys.stderr, printable(prefix + line))


def open_on_a_desktop(url: str) -> None:
    """Open the page in a browser, but only on a desktop: elsewhere a text browser would take over the terminal."""
    desktop = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if desktop and sys.stdout.isatty():
        webbrowser.open(url)


def report_error(error: GroupscopeError, as_json: bool) -> None:
    """The error: on stderr for people, and for programs as a document on stdout."""
    if as_json:
        emit_json({"error": {"cause": error.cause, "hint": error.hint}})
    for number, line in enumerate(str(error).splitlines()):
        _say(line, logging.ERROR, "" if number else "error: ")


def printable(text: str) -> str:
    """The text with its control characters escaped: names come from others, and a terminal obeys escape sequences."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> Iterable[str]:
    """Lines of a plain table, columns as wide as their widest cell, those in `right` set flush right.

    Without frames, for ssh, grep and chats. Wide characters count as two.
    """
    body = [tuple(heads), *(tuple(map(printable, row)) for row in rows)]
    widths = [max(cell_len(row[i]) for row in body) for i in range(len(heads))]
    for row in body:
        gaps = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = (g + c if i in right else c + g for i, (c, g) in enumerate(zip(row, gaps, strict=True)))
        yield "  ".join(cells).rstrip()


def _write(stream: TextIO, line: str) -> None:
    stream.write(line + "\n")
    stream.flush()
