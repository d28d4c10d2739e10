"""The examples in docstrings hold."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def modules_with_examples() -> list[str]:
    files = [file for top in ("app", "assignors", "lag") for file in sorted((ROOT / top).rglob("*.py"))]
    with_examples = [file.relative_to(ROOT) for file in files if ">>> " in file.read_text()]
    return [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in with_examples]


@pytest.mark.parametrize("module", modules_with_examples())
def test_examples_of_a_module_hold(module: str) -> None:
    outcome = doctest.testmod(import_module(module))
    assert outcome.attempted
    assert not outcome.failed
