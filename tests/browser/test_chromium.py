"""Which Chromium the tests drive, on machines that have it elsewhere than Debian."""

from pathlib import Path

import pytest

from tests.support.chromium import find_chromium

NOWHERE = Path("/nowhere/chrome")


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


def test_without_any_it_is_said_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        find_chromium({"PATH": str(tmp_path)}, NOWHERE)
    assert str(caught.value) == (
        "There is no chromium, chromium-browser, google-chrome on PATH, and none of Playwright's. Install one: "
        "`apt install chromium` or `.venv/bin/playwright install --with-deps chromium`; "
        "or name its file in GROUPSCOPE_CHROMIUM."
    )
