"""The documentation names everything that a user can ask for, and cites nothing that is not there."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from app.cli import COMMANDS, cli
from app.server.settings import PREFIX, Settings
from app.ui.pages import PAGES
from app.ui.verdicts import VERDICTS
from lag.history.schemas import TABLES
from lag.verdict.health import URGENCY

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("app", "assignors", "benchmarks", "docs", "lag", "tests")
INTERNAL_SETTINGS = {"GROUPSCOPE_DEMO_CONTROLS", "GROUPSCOPE_DEMO_KEY"}
"""How `groupscope up` tells its own processes about each other."""


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
    said = document.read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", said):
        if not link.startswith("http"):
            path, _, anchor = link.partition("#")
            target = (document.parent / path).resolve() if path else document
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link
    for path in re.findall(r"`((?:app|assignors|lag|tests|docs|benchmarks)/[\w./-]*)`", said):
        assert (ROOT / path).exists(), path


def test_no_file_cites_one_that_is_not_in_the_repository() -> None:
    cited = re.compile(r"\bdesign\.md\b|\bspec/[\w-]+\.md|\bdecisions? \d")
    found = [
        f"{file.relative_to(ROOT)}: {hit[0]}"
        for file in [*ROOT.glob("*.md"), ROOT / "pyproject.toml", *files_of(*FOLDERS)]
        if file.suffix in {".py", ".md", ".yaml", ".toml"} and file != Path(__file__)
        for hit in [cited.search(file.read_text())]
        if hit
    ]
    assert found == []


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
