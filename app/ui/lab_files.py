"""A lab's story as a small text file, `name: value` a line, and back; `#` begins a remark.

The names and values are those of the lab's links, all of them, so that each can be changed.
"""

from collections.abc import Collection, Iterable, Mapping

from assignors.scenario.problems import Problem, ScenarioError
from assignors.spelling import shown, suggestion

MOST_BYTES = 20_000
_LAB = "lab"


def write(lab: str, said: Mapping[str, str], remarks: Iterable[str] = ()) -> bytes:
    """The file."""
    head = [heading(lab, "a value"), *(f"# {it}" for it in remarks)]
    return "\n".join([*head, *(f"{name}: {value}" for name, value in {_LAB: lab, **said}.items()), ""]).encode()


def heading(lab: str, what: str) -> str:
    """The first line of a lab's file."""
    return f"# A story of groupscope's {lab} lab. Change {what}, and send it in again."


def read(data: bytes, lab: str, known: Collection[str]) -> dict[str, str]:
    """What the file says. Raises ScenarioError naming the line: no such name, said twice, of another lab."""
    said: dict[str, str] = {}
    for number, line in enumerate(lines(data), 1):
        if line.strip() and not line.startswith("#"):
            name, value = _line(number, line, known)
            if name in said:
                raise _refused(number, f"{name} is said twice. Leave one out.")
            said[name] = value
    if said.pop(_LAB, None) != lab:
        raise _refused(None, f"This is no file of the {lab} lab. It needs the line `{_LAB}: {lab}`.")
    return said


def lines(data: bytes) -> list[str]:
    """The lines of an uploaded file. Raises ScenarioError when there are too many, or it is no text."""
    if len(data) > MOST_BYTES:
        raise _refused(None, f"The file has {len(data):,} bytes. Use at most {MOST_BYTES:,}.")
    try:
        return data.decode().splitlines()
    except UnicodeDecodeError:
        raise _refused(None, "The file is no UTF-8 text.") from None


def _line(number: int, line: str, known: Collection[str]) -> tuple[str, str]:
    name, colon, value = (part.strip() for part in line.partition(":"))
    if not colon:
        raise _refused(number, f"{shown(line)!r} is not `name: value`.")
    if name not in (_LAB, *known):
        raise _refused(number, f"There is no {shown(name)!r} here.{suggestion(name, known)}")
    return name, value


def _refused(line: int | None, why: str) -> ScenarioError:
    return ScenarioError([Problem(line, "", why)])


def refused(why: Exception) -> ScenarioError:
    """What is wrong with a value, in the lab's own words."""
    return _refused(None, str(why))
