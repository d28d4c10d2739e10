"""The server imports everything when it starts: the scripts of pages and requests find it there.

A visit or a request that imports has to wait, and fails where another thread changes `sys.path` meanwhile.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

import app
from app.pages import PAGES

START = """
import sys
from app.cli.serve import import_server
import_server()
from app.server import asgi
from app.server.settings import Settings
from app.server.source import Source
from app.server.web_app import import_late
import_late(Source(Settings(mcp=True, history="history"), {}))
print(*sys.modules)
"""
ROOT = Path(app.__file__).parents[1]
BEFORE_THE_FIRST_REQUEST = {
    "app/server/asgi.py": "a notices file and a history are opened at the start",
    "app/server/api/worker/tasks.py": "runs in a worker process, whose sys.path nobody changes",
    "app/server/workers/process.py": "the same",
    "app/cli": "the command line, before it serves",
    "lag/embedded": "the start of a broker of our own",
    "lag/cluster/connection": "an extra; import_late has those of the configured clusters",
}


@cache
def imported_at_the_start() -> frozenset[str]:
    run = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    return frozenset(run.stdout.split())


def imports(tree: ast.AST) -> Iterator[str]:
    """The modules that some code imports; of other packages than ours only the packages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module.startswith(("app", "assignors", "lag")):
                names = (f"{node.module}.{name.name}" for name in node.names)
                if find_spec(node.module).submodule_search_locations:  # type: ignore[union-attr]
                    yield from (name for name in names if find_spec(name))


def late_imports(file: Path) -> Iterator[str]:
    """The modules that functions of a file import when they are called."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imports(node)


@pytest.mark.process
def test_no_page_imports_what_the_server_has_not_imported() -> None:
    folder = Path(app.__file__).parent
    late = {
        info.name: set(imports(ast.parse((folder / info.script).read_text()))) - imported_at_the_start()
        for info in PAGES
    }
    assert late == {info.name: set() for info in PAGES}


@pytest.mark.process
def test_no_function_of_the_server_imports_what_the_server_has_not_imported() -> None:
    late = {
        str(path): missing
        for folder in ("app", "assignors", "lag")
        for path in (file.relative_to(ROOT) for file in (ROOT / folder).rglob("*.py"))
        if not str(path).startswith(tuple(BEFORE_THE_FIRST_REQUEST)) and is_of_the_server(path)
        if (missing := set(late_imports(ROOT / path)) - imported_at_the_start())
    }
    assert late == {}


def is_of_the_server(path: Path) -> bool:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__") in imported_at_the_start()
