"""Which Chromium the tests drive, and the message on a machine that has none or cannot drive it."""

from pathlib import Path

import pytest

from tests.support.chromium import check_driver, find_chromium, why_not_started

NOWHERE = Path("/nowhere/chrome")
LOADER = (
    "/its/node: error while loading shared libraries: {}: cannot open shared object file: No such file or directory\n"
)


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_one_on_path_is_found_by_any_of_its_names(tmp_path: Path, name: str) -> None:
    browser = executable(tmp_path / name)
    assert find_chromium({"PATH": str(tmp_path)}, executable(tmp_path / "its" / "chrome")) == browser


def test_the_one_that_is_named_comes_first(tmp_path: Path) -> None:
    executable(tmp_path / "chromium")
    assert find_chromium({"PATH": str(tmp_path), "GROUPSCOPE_CHROMIUM": "/mine"}, NOWHERE) == Path("/mine")


def test_without_one_on_path_playwrights_own_serves(tmp_path: Path) -> None:
    own = executable(tmp_path / "its" / "chrome")
    assert find_chromium({"PATH": str(tmp_path)}, own) == own


def test_without_any_the_way_to_get_one_is_shown(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        find_chromium({"PATH": str(tmp_path)}, NOWHERE)
    assert str(caught.value) == (
        "There is no chromium, chromium-browser, google-chrome on PATH, and none of Playwright's. Install one: "
        "`apt install chromium` or `.venv/bin/playwright install --with-deps chromium`; "
        "or name its file in GROUPSCOPE_CHROMIUM."
    )


def test_the_library_that_node_lacks_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = executable(tmp_path / "node")
    node.write_text(f"#!/bin/sh\necho '{LOADER.format('libatomic.so.1').strip()}' >&2\nexit 127\n")
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(node))
    with pytest.raises(RuntimeError) as caught:
        check_driver()
    reported = (
        "Playwright's node does not start: this machine has no libatomic.so.1. Install it: `apt install libatomic1`."
    )
    assert str(caught.value) == reported


def test_a_library_without_a_known_package_is_named() -> None:
    reported = "Playwright's node does not start: this machine has no libother.so.2."
    assert why_not_started(LOADER.format("libother.so.2")) == reported


def test_any_other_complaint_of_node_is_passed_on() -> None:
    assert why_not_started("Illegal instruction\n") == "Playwright's node does not start: Illegal instruction"
