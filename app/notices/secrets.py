"""Secrets of the notices file: in the file itself, in an environment variable, or in a file of their own."""

import os
from pathlib import Path

MOST_BYTES = 16_384
ENVIRONMENT, FILE = "env:", "file:"


def resolved(value: str) -> str:
    """The secret that `env:NAME` or `file:PATH` names; any other text is the secret itself.

    Raises ValueError with a sentence that names the variable or the file, and never the secret.
    """
    found = _found(value).strip()
    if not found:
        raise ValueError("It is empty.")
    if not found.isprintable():
        raise ValueError("It contains a control character or a line break.")
    return found


def _found(value: str) -> str:
    if value.startswith(ENVIRONMENT):
        return _from_environment(value.removeprefix(ENVIRONMENT))
    return _from_file(Path(value.removeprefix(FILE))) if value.startswith(FILE) else value


def _from_environment(name: str) -> str:
    if name not in os.environ:
        raise ValueError(f"The environment variable {name} is not set.")
    return os.environ[name]


def _from_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8.") from None
