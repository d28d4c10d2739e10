"""The Chromium that tests and benchmarks drive: the machine's own, or the one that Playwright has installed."""

import os
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from playwright.sync_api import Browser, Playwright

VARIABLE = "GROUPSCOPE_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def launch(playwright: Playwright) -> Browser:
    """A browser that asks nobody anything; close it."""
    executable = find_chromium(os.environ, Path(playwright.chromium.executable_path))
    return playwright.chromium.launch(executable_path=executable, args=list(QUIET))


def find_chromium(env: Mapping[str, str], playwrights: Path) -> Path:
    """The one that GROUPSCOPE_CHROMIUM names, else the first on PATH, else Playwright's own, which may not be there.

    Raises FileNotFoundError saying how to get one.
    """
    if named := env.get(VARIABLE):
        return Path(named)
    on_path = [found for name in NAMES if (found := which(name, path=env.get("PATH")))]
    if not on_path and not playwrights.exists():
        raise FileNotFoundError(
            f"There is no {', '.join(NAMES)} on PATH, and none of Playwright's. Install one: `apt install chromium` or "
            f"`.venv/bin/playwright install --with-deps chromium`; or name its file in {VARIABLE}."
        )
    return Path(on_path[0]) if on_path else playwrights
