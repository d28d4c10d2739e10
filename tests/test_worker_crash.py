"""A crashed worker of pytest-xdist costs the one test that crashed it, and the run ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CRASHES = "import os\n\ndef test_crashes():\n    os._exit(1)\n"
PASSES = "def test_passes():\n    pass\n"


def outcome(folder: Path, workers: int) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.support.scheduling"]
    command += ["-n", str(workers), "--dist", "loadfile", "--max-worker-restart", "1"]
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120
    )
    return ended.stdout.splitlines()


@pytest.mark.process
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("others", ["one test each", "several tests each"])
def test_all_other_tests_run_and_the_run_ends(tmp_path: Path, workers: int, others: str) -> None:
    several = others == "several tests each"
    for number in range(6):
        (tmp_path / f"test_{number}.py").write_text(PASSES + ("\ndef test_too():\n    pass\n" if several else ""))
    (tmp_path / "test_3.py").write_text(PASSES + CRASHES + "\ndef test_after():\n    pass\n")
    passed = 12 if several else 7
    printed = outcome(tmp_path, workers)
    assert printed[-1].startswith(f"1 failed, {passed} passed in "), "\n".join(printed)
