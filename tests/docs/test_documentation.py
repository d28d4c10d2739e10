"""The documentation names everything that a user can ask for, and cites nothing that is not there."""

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from app.cli import COMMANDS, cli
from app.pages import PAGES
from app.server.settings import PREFIX, Settings
from assignors.scenario.event_schema import FORMATS
from lag.history.schemas import TABLES
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("app", "assignors", "benchmarks", "docs", "lag", "tests")
INTERNAL_SETTINGS = {"GROUPSCOPE_DEMO_CONTROLS", "GROUPSCOPE_DEMO_KEY"}
"""How `groupscope up` connects its own processes."""


def documents() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]


def text(name: str) -> str:
    return (DOCS / name).read_text()


def first_column(name: str) -> list[str]:
    return re.findall(r"^\| ([^|]+?) \|", text(name), re.MULTILINE)


def subcommands(name: str) -> Iterator[str]:
    group: Any = typer.main.get_command(cli)
    command = group.get_command(None, name)
    yield from getattr(command, "commands", ())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_line(name: str) -> None:
    (line,) = [row for row in text("commands.md").splitlines() if row.startswith(f"| `groupscope {name}` |")]
    for part in subcommands(name):
        assert re.search(rf"`{part}\b", line), part


def test_every_environment_variable_has_its_line() -> None:
    named = {f"{PREFIX}{field.upper()}" for field in Settings.model_fields}
    for file in files_of("app", "assignors", "lag"):
        if file.suffix == ".py":
            named |= set(re.findall(r'"(GROUPSCOPE_[A-Z_]+[A-Z])"', file.read_text()))
    listed = {name.strip("`") for name in first_column("configuration.md")}
    assert named - INTERNAL_SETTINGS - listed == set()


def test_every_scenario_event_has_its_line() -> None:
    written = re.findall(r"`(\w+): ", " ".join(first_column("scenarios.md")))
    assert set(FORMATS) - set(written) == set()


def test_every_verdict_has_its_line_in_the_order_of_urgency() -> None:
    words = [VERDICTS[status].word for status in URGENCY]
    assert [name for name in first_column("verdicts.md") if name in words] == words


def test_every_table_has_its_line() -> None:
    listed = {name for cell in first_column("pipeline.md") for name in re.findall(r"`(\w+)`", cell)}
    assert set(TABLES) <= listed


def test_every_page_has_its_line_with_its_question() -> None:
    listed = re.findall(r"^- \*\*([^*]+)\*\*", text("pages.md"), re.MULTILINE)
    assert sorted(listed) == sorted(page.title for page in PAGES)


def test_the_map_names_every_page_of_the_documentation() -> None:
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", text("index.md")))
    assert linked | {"index.md"} == {file.name for file in DOCS.glob("*.md")}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 90


def anchors(file: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("document", documents(), ids=lambda file: file.name)
def test_every_link_and_every_file_that_is_named_exists(document: Path) -> None:
    stated = document.read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", stated):
        if not link.startswith("http"):
            path, _, anchor = link.partition("#")
            target = (document.parent / path).resolve() if path else document
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link
    for path in re.findall(r"`((?:app|assignors|lag|tests|docs|benchmarks)/[\w./-]*)`", stated):
        assert (ROOT / path).exists(), path


def kept(*endings: str) -> list[str]:
    """The names of the repository's files; without git, which a bare machine lacks."""
    files = [*ROOT.glob("*"), *ROOT.glob(".ci/*"), *ROOT.glob(".streamlit/*"), *files_of(*FOLDERS)]
    return [str(file.relative_to(ROOT)) for file in files if file.is_file() and file.name.endswith(endings)]


def prose(name: str) -> str:
    """What a file says to people: comments and docstrings of Python code, documents without their examples."""
    whole = (ROOT / name).read_text()
    if not name.endswith(".py"):
        return re.sub(r"^```.*?^```", "", whole, flags=re.MULTILINE | re.DOTALL)
    return "\n".join(
        token.string
        for token in tokenize.generate_tokens(io.StringIO(whole).readline)
        if token.type == tokenize.COMMENT or token.string.startswith('"""')
    )


def test_no_file_cites_one_that_is_not_in_the_repository() -> None:
    cited = re.compile(r"(?<![\w./$<>*-])[\w./-]*\w\.(?:md|py)\b(?![\w(/])")
    files = [f"/{name}" for name in kept("")]
    missing = {
        (name, path)
        for name in kept(".py", ".md")
        for path in cited.findall(prose(name))
        if not any(file.endswith(f"/{path.lstrip('./')}") for file in files)
    }
    assert missing == set()


def files_of(*folders: str) -> list[Path]:
    """The files of these folders; without git, which a bare machine lacks."""
    return [file for folder in folders for file in sorted((ROOT / folder).rglob("*")) if file.is_file()]


def glossary() -> list[tuple[str, str]]:
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \| ([^|]+) \|$", text("glossary.md"), re.MULTILINE)
    return [(term, name) for term, code in rows for name in re.findall(r"`([\w.]+)`", code)]


@pytest.mark.parametrize(("term", "name"), glossary())
def test_every_name_of_the_glossary_exists(term: str, name: str) -> None:
    module, found = name, None
    while found is None and "." in module:
        try:
            found = import_module(module)
        except ImportError:
            module = module.rpartition(".")[0]
    assert found is not None, term
    for attribute in name.removeprefix(module).strip(".").split("."):
        if attribute:
            fields = getattr(found, "__dataclass_fields__", {})
            assert hasattr(found, attribute) or attribute in fields, f"{term}: {name}"
            found = getattr(found, attribute, None)


DOMAIN = (
    "lag.model",
    "lag.offsets",
    "lag.verdict.health",
    "assignors.model",
    "assignors.whatif.generations",
    "assignors.whatif.moves",
    "assignors.whatif.quality",
)


def domain_types() -> set[type]:
    """The public classes of these modules, without exceptions."""
    return {
        its
        for module in DOMAIN
        for name, its in vars(import_module(module)).items()
        if isinstance(its, type) and its.__module__ == module and name[0] != "_" and not issubclass(its, Exception)
    }


def named_types() -> set[type]:
    """The classes that the glossary names, itself or by an attribute."""
    parts = [name.split(".") for _, name in glossary()]
    names = {(".".join(path[:at]), path[at]) for path in parts for at in range(1, len(path))}
    return {its for its in domain_types() if (its.__module__, its.__name__) in names}


def mentioned(its: type) -> set[type]:
    """The classes in the annotations of its fields and methods."""
    nodes = list(ast.walk(ast.parse(inspect.getsource(its))))
    annotations = [getattr(node, kind, None) for node in nodes for kind in ("annotation", "returns")]
    names = {part.id for whole in annotations if whole for part in ast.walk(whole) if isinstance(part, ast.Name)}
    found = [vars(import_module(its.__module__)).get(name) for name in names]
    return {other for other in found if isinstance(other, type)}


def test_every_domain_type_is_in_the_glossary_or_an_attribute_of_one_that_is() -> None:
    """A sequence of such a type, made row by row from arrays, needs no term of its own."""
    known, new = set[type](), named_types()
    while new:
        known |= new
        new = {other for its in new for other in mentioned(its)} & domain_types() - known
    assert {its for its in domain_types() - known if not issubclass(its, Sequence)} == set()
