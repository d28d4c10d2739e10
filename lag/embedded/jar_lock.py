"""The list of jars, with sizes and SHA-256, that `jars.lock.toml` fixes.

`python -m lag.embedded.jar_lock` resolves the list again from the coordinates in the file and writes it back:
run it after changing a version there. It needs the network and an installed PySpark, whose own jars are left out.
"""

import hashlib
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lag.whole_file import write_whole

LOCK_FILE = Path(__file__).with_name("jars.lock.toml")
_HEADER = (
    "# The jars of the embedded Kafka and of Spark's Kafka and Delta parts. Made by: python -m lag.embedded.jar_lock\n"
)


@dataclass(frozen=True, slots=True)
class LockedJar:
    """One jar: Maven coordinate `group:artifact:version`, size in bytes, SHA-256 in hex."""

    coordinate: str
    size: int
    sha256: str

    @property
    def filename(self) -> str:
        """`artifact-version.jar`."""
        _, artifact, version = self.coordinate.split(":")
        return f"{artifact}-{version}.jar"


@dataclass(frozen=True, slots=True)
class JarSet:
    """Named jars and the coordinates they were resolved from.

    Each of `resolved_from` holds coordinates joined by `+` that are resolved together; where two of them bring the same
    artifact, the earlier one's version stands.
    """

    resolved_from: tuple[str, ...]
    jars: tuple[LockedJar, ...]


def read_lock(path: Path = LOCK_FILE) -> dict[str, JarSet]:
    """The lock file: set name (`kafka`, `spark`) -> its jars."""
    with path.open("rb") as file:
        data = tomllib.load(file)
    return {
        name: JarSet(tuple(part["resolved_from"]), tuple(LockedJar(*jar) for jar in part["jars"]))
        for name, part in data.items()
    }


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def resolve(resolved_from: Iterable[str], without: Iterable[str] = ()) -> tuple[LockedJar, ...]:
    """Ask the Maven repository for the runtime closure of these coordinates; `without` names artifacts to leave out."""
    import jgo

    left_out = set(without)
    versions: dict[tuple[str, str], str] = {}
    for endpoint in resolved_from:
        for artifact in jgo.resolve(endpoint):
            if artifact.artifactId not in left_out:
                versions.setdefault((artifact.groupId, artifact.artifactId), artifact.version)
    coordinates = sorted(f"{group}:{artifact}:{version}" for (group, artifact), version in versions.items())
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(8) as pool:
        return tuple(pool.map(lambda coordinate: _measure(coordinate, Path(folder)), coordinates))


def _measure(coordinate: str, folder: Path) -> LockedJar:
    path = find_in_maven(coordinate, repo_cache=folder)
    return LockedJar(coordinate, path.stat().st_size, sha256_of(path))


def find_in_maven(coordinate: str, **context: Any) -> Path:
    """The file of that jar, fetched if necessary. `context`: arguments of jgo's MavenContext."""
    from jgo.maven import MavenContext  # late: it takes longer to import than all jars to verify

    group, artifact, version = coordinate.split(":")
    return MavenContext(**context).project(group, artifact).at_version(version).artifact().resolve()


def write_lock(sets: dict[str, JarSet], path: Path = LOCK_FILE) -> None:
    """Write the sets in the form that `read_lock` reads, one jar a line."""
    parts = [_HEADER]
    for name, jars in sets.items():
        parts.append(f"\n[{name}]\nresolved_from = [\n")
        parts += [f'    "{endpoint}",\n' for endpoint in jars.resolved_from]
        parts.append("]\njars = [\n")
        parts += [f'    ["{jar.coordinate}", {jar.size}, "{jar.sha256}"],\n' for jar in jars.jars]
        parts.append("]\n")
    write_whole(path, "".join(parts).encode(), mode=0o644)


def _artifacts_of_pyspark() -> list[str]:
    """The artifacts whose jars PySpark brings; Spark's loader must not meet a second version of them."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        sys.exit("PySpark is not installed: its jars decide what the lock leaves out. Run: uv sync --extra pipeline")
    stems = (jar.stem for jar in (Path(spec.origin).parent / "jars").glob("*.jar"))
    return [stem.rsplit("-", 1)[0] for stem in stems]


def _main() -> None:
    sets = read_lock()
    without = {"kafka": (), "spark": tuple(_artifacts_of_pyspark())}
    write_lock(
        {name: JarSet(part.resolved_from, resolve(part.resolved_from, without[name])) for name, part in sets.items()}
    )


if __name__ == "__main__":
    _main()
