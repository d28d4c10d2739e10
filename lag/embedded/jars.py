"""Kafka's and Spark's jars: fetched by the lock file, verified, kept in the user cache.

    cache/jars/kafka_2.13-4.3.1.jar ...

Every start hashes every jar again: 56 MB take some 30 ms, and a truncated or altered file can then never be loaded.
A jar arrives under a temporary name and is renamed when its checksum is right, so two processes may fetch at once.
"""

import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from lag.embedded.jar_lock import LockedJar, find_in_maven, read_lock, sha256_of
from lag.embedded.java import find_java
from lag.embedded.user_cache import cache_dir
from lag.errors import EmbeddedError

log = logging.getLogger(__name__)

MIRROR_VARIABLE = "GROUPSCOPE_MAVEN_MIRROR"
_THREADS = 16
_ATTEMPTS = 2
_TIMEOUT_S = 30
_LEFT_OVER_AFTER_S = 3600
_FETCHING = ".fetching-"
_HINT = f"Check the network, or set {MIRROR_VARIABLE} to a Maven repository (URL or folder) that can be reached."


def kafka_classpath() -> list[Path]:
    """The jars of Kafka's broker and tools, all present and verified. Raises EmbeddedError."""
    return fetch(read_lock()["kafka"].jars)


def spark_jars() -> list[Path]:
    """The jars for `spark.jars`: Kafka source, Delta Lake; without what PySpark brings. Raises EmbeddedError."""
    return fetch(read_lock()["spark"].jars)


def describe() -> dict[str, str | list[str]]:
    """The Java home and both lists of jars as strings, downloading what is missing (`groupscope jars --json`)."""
    return {
        "java_home": str(find_java().home),
        "kafka_classpath": [str(jar) for jar in kafka_classpath()],
        "spark_jars": [str(jar) for jar in spark_jars()],
    }


@dataclass(frozen=True, slots=True)
class Missing:
    """How many jars of Kafka and Spark together would have to be fetched: `files` of `of`."""

    files: int
    of: int


def missing_jars(cache: Path | None = None) -> Missing:
    """What `describe` would have to fetch (`groupscope doctor`); reads the cache only."""
    jars = {jar.filename: jar for jars in read_lock().values() for jar in jars.jars}.values()
    paths = [_folder(cache) / jar.filename for jar in jars]
    return Missing(sum(not _is_intact(path, jar) for path, jar in zip(paths, jars, strict=True)), len(jars))


def _folder(cache: Path | None) -> Path:
    return (cache or cache_dir()) / "jars"


def fetch(jars: Sequence[LockedJar], cache: Path | None = None, mirror: str | None = None) -> list[Path]:
    """Paths of these jars in the cache; what is missing, truncated or altered there is fetched from the mirror.

    `mirror` is a URL or a folder; without it GROUPSCOPE_MAVEN_MIRROR counts, else the Maven central repository. Raises
    EmbeddedError naming the file, when it cannot be fetched or its checksum is wrong twice.
    """
    folder = _folder(cache)
    paths = [folder / jar.filename for jar in jars]
    with ThreadPoolExecutor(_THREADS) as pool:
        intact = list(pool.map(_is_intact, paths, jars))
    missing = [jar for jar, ok in zip(jars, intact, strict=True) if not ok]
    if missing:
        _fetch_all(missing, folder, mirror or os.environ.get(MIRROR_VARIABLE))
    return paths


def _is_intact(path: Path, jar: LockedJar) -> bool:
    return path.is_file() and path.stat().st_size == jar.size and sha256_of(path) == jar.sha256


def _fetch_all(jars: Sequence[LockedJar], folder: Path, mirror: str | None) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        with tempfile.TemporaryDirectory(dir=folder, prefix=_FETCHING) as arrivals:
            _in_parallel(jars, lambda jar: _fetch_one(jar, folder, Path(arrivals), mirror))
    except OSError as error:
        raise EmbeddedError(
            f"The jars cannot be stored in {folder}: {error.strerror or error}",
            "Free up space or allow writing there, or set GROUPSCOPE_CACHE to another folder.",
        ) from error


def _in_parallel(jars: Sequence[LockedJar], fetch_one: Callable[[LockedJar], None]) -> None:
    size_mb = sum(jar.size for jar in jars) / 1e6
    what = f"Fetching {len(jars)} jars ({size_mb:.0f} MB)"
    pool = ThreadPoolExecutor(_THREADS)
    try:
        for _ in _with_progress(what, jars, pool.map(fetch_one, jars)):
            pass
    finally:
        pool.shutdown(cancel_futures=True)


def _with_progress(what: str, jars: Sequence[LockedJar], results: Iterable[None]) -> Iterable[None]:
    """Pass the results on, with a bar on stderr where that is a terminal, else with two lines of logging."""
    if not sys.stderr.isatty():
        log.info("%s", what)
        yield from results
        log.info("Fetched %d jars", len(jars))
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=sum(jar.size for jar in jars))
        for jar, result in zip(jars, results, strict=True):
            progress.advance(task, jar.size)
            yield result


def _fetch_one(jar: LockedJar, folder: Path, arrivals: Path, mirror: str | None) -> None:
    from requests import RequestException  # late: with jgo it takes longer to import than all jars to verify

    cause = ""
    for attempt in range(_ATTEMPTS):
        try:
            arrived = _download(jar, arrivals / f"{jar.filename}.{attempt}", mirror)
        except (RequestException, RuntimeError) as error:  # RuntimeError: jgo found it in no repository
            cause = f"could not be fetched: {_short(error)}"
            continue
        if _is_intact(arrived, jar):
            arrived.replace(folder / jar.filename)
            return
        cause = f"has a wrong checksum: SHA-256 {sha256_of(arrived)} where the lock file has {jar.sha256}"
        log.warning("%s arrived truncated or altered", jar.filename)
    raise EmbeddedError(f"{jar.filename} {cause}", _HINT)


def _download(jar: LockedJar, folder: Path, mirror: str | None) -> Path:
    """Bring one jar, unverified, into its own new folder."""
    local = _local_repository(mirror)
    path = find_in_maven(
        jar.coordinate,
        repo_cache=folder,
        local_repos=[local] if local else None,
        remote_repos={"mirror": mirror.rstrip("/")} if mirror and not local else None,
        offline=local is not None,
        timeout=_TIMEOUT_S,
    )
    if not path.is_relative_to(folder):
        folder.mkdir()
        path = Path(shutil.copyfile(path, folder / jar.filename))
    return path


def _local_repository(mirror: str | None) -> Path | None:
    """The folder that a mirror given as a path or a file: URL names; None for http(s)."""
    if not mirror or mirror.startswith(("http://", "https://")):
        return None
    parts = urlsplit(mirror)
    return Path(url2pathname(parts.path) if parts.scheme == "file" else mirror).expanduser()


def _short(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:200]


def _sweep(folder: Path) -> None:
    """Remove the temporary folders of fetches that were killed."""
    for left_over in folder.glob(f"{_FETCHING}*"):
        if time.time() - left_over.stat().st_mtime > _LEFT_OVER_AFTER_S:
            shutil.rmtree(left_over, ignore_errors=True)
