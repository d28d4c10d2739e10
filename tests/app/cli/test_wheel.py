"""The wheel alone, in an empty environment, runs the demo."""

import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.app.cli.commandline import running

ROOT = Path(__file__).parents[3]
UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")


@pytest.mark.long
@pytest.mark.broker
@pytest.mark.timeout(900)
def test_the_wheel_installs_into_an_empty_environment_and_runs_the_demo(tmp_path: Path) -> None:
    subprocess.run([UV, "build", "--wheel", "--out-dir", str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert {"app/py.typed", "assignors/py.typed", "lag/py.typed"} <= set(ZipFile(wheel).namelist())
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    subprocess.run([UV, "pip", "install", "--python", str(python), f"{wheel}[demo]"], check=True)
    command = str(environment / "bin" / "groupscope")
    with running(tmp_path, "up", "--json", "--port", "0", command=command, cwd=tmp_path) as demo:
        with urllib.request.urlopen(f"{demo.first_line()['dashboard']}/overview") as page:
            assert page.status == 200
        assert demo.ends(signal.SIGINT) == 0
