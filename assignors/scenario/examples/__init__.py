"""Scenarios to begin with, one file each."""

from collections.abc import Mapping
from pathlib import Path


def examples() -> Mapping[str, Path]:
    """The bundled files by name, sorted."""
    return {path.stem: path for path in sorted(Path(__file__).parent.glob("*.yaml"))}
