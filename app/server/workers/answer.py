"""What a worker process writes: the result of a function, or the exception that it raised."""

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception, which is rebuilt without `__init__`: classes differ in its parameters."""

    kind: type[Exception]
    arguments: tuple[Any, ...]
    attributes: dict[str, Any]

    def exception(self) -> Exception:
        """The exception."""
        error = self.kind.__new__(self.kind, *self.arguments)
        error.args = self.arguments
        error.__dict__.update(self.attributes)
        return error


@dataclass(frozen=True, slots=True)
class Answer:
    """What a function returned or raised, and whether it is the last answer of the process."""

    value: Any
    raised: Raised | None
    is_last: bool


def answer(function: Callable[[], Any], is_last: Callable[[], bool]) -> Answer:
    """The answer of a function; `is_last` is asked when it has returned."""
    try:
        return Answer(function(), None, is_last())
    except Exception as error:  # noqa: BLE001 - it is raised again in the process that asked
        return Answer(None, _raised(error), is_last())


def pickled(found: Answer) -> bytes:
    """The answer as bytes; one that cannot be pickled is an exception that says so."""
    try:
        return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - as above
        return pickle.dumps(Answer(None, _raised(TypeError(f"The answer: {error!r}")), found.is_last))


def _raised(error: Exception) -> Raised:
    error.add_note("".join(traceback.format_exception(error)))
    return Raised(type(error), error.args, dict(error.__dict__))
