"""The Chromium that tests and benchmarks drive: the machine's own, or the one that Playwright has installed."""

import os
import re
import subprocess
import sys
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
AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]"
"""A page that the server has sent to its end."""
PACKAGES = {"libatomic.so.1": "libatomic1", "libstdc++.so.6": "libstdc++6"}  # what the driver's node needs beside libc


def check_driver() -> None:
    """Playwright drives with a node that it brings along, and of one that cannot start says just "Connection closed".

    Raises RuntimeError saying why it cannot.
    """
    command = [sys.executable, "-m", "playwright", "--version"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        raise RuntimeError(why_not_started(tried.stderr))


def why_not_started(complaint: str) -> str:
    """What node wrote on stderr, as a sentence; it names the shared library that is missing and its Debian package."""
    found = re.search(r"error while loading shared libraries: ([^:\s]+): cannot open", complaint)
    if not found:
        return f"Playwright's node does not start: {complaint.strip()}"
    package = PACKAGES.get(found[1])
    hint = f" Install it: `apt install {package}`." if package else ""
    return f"Playwright's node does not start: this machine has no {found[1]}.{hint}"


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
