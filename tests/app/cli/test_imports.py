"""Everything that a page's script imports is imported when the server starts, so that no first visit waits for it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import app
from app.pages import PAGES

IMPORTED = "import sys; from app.cli.serve import import_server; import_server(); print(*sys.modules)"


def imports(script: Path) -> Iterator[str]:
    """The modules that a script imports from our packages."""
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(("app", "assignors", "lag")):
            yield node.module
            names = (f"{node.module}.{name.name}" for name in node.names)
            if find_spec(node.module).submodule_search_locations:  # type: ignore[union-attr]
                yield from (name for name in names if find_spec(name))


@pytest.mark.process
def test_no_page_imports_what_the_server_has_not_imported() -> None:
    run = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    folder, ready = Path(app.__file__).parent, set(run.stdout.split())
    late = {info.name: set(imports(folder / info.script)) - ready for info in PAGES}
    assert late == {info.name: set() for info in PAGES}
