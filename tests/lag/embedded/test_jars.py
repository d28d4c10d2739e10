import shutil
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lag.embedded.jar_lock import LOCK_FILE, LockedJar, read_lock, resolve, sha256_of, write_lock
from lag.embedded.jars import MIRROR_VARIABLE, Missing, describe, fetch, kafka_classpath, missing_jars
from lag.errors import EmbeddedError

JAR = next(jar for jar in read_lock()["kafka"].jars if jar.coordinate.startswith("net.sf.jopt-simple:"))
AT = "net/sf/jopt-simple/jopt-simple/5.0.4/jopt-simple-5.0.4.jar"


@pytest.fixture(scope="session")
def real_jar() -> Path:
    return next(path for path in kafka_classpath() if path.name == JAR.filename)


@pytest.fixture
def mirror(tmp_path: Path, real_jar: Path) -> Path:
    """A Maven repository in a folder, with one jar."""
    place = tmp_path / "mirror" / AT
    place.parent.mkdir(parents=True)
    shutil.copy(real_jar, place)
    return tmp_path / "mirror"


class Web(ThreadingHTTPServer):
    """The one jar over HTTP: counts the requests for it, cuts off the first `cut_off`, holds back until `meet` meet."""

    def __init__(self, content: bytes, cut_off: int = 0, meet: int = 1) -> None:
        super().__init__(("127.0.0.1", 0), WebHandler)
        self.content, self.cut_off, self.asked = content, cut_off, 0
        self.barrier = threading.Barrier(meet)
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/maven/"


class WebHandler(BaseHTTPRequestHandler):
    server: Web

    def do_GET(self) -> None:
        if self.path != f"/maven/{AT}":
            self.send_error(404)
            return
        with self.server.lock:
            self.server.asked += 1
            cut = self.server.asked <= self.server.cut_off
        self.server.barrier.wait(10)
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content[: 1000 if cut else None])

    def log_message(self, format: str, *args: object) -> None:
        pass


def serve(web: Web) -> Iterator[Web]:
    thread = threading.Thread(target=web.serve_forever)
    thread.start()
    yield web
    web.shutdown()
    thread.join()
    web.server_close()


@pytest.fixture
def web(request: pytest.FixtureRequest, real_jar: Path) -> Iterator[Web]:
    yield from serve(Web(real_jar.read_bytes(), **getattr(request, "param", {})))


def test_a_missing_jar_comes_from_the_mirror(tmp_path: Path, mirror: Path) -> None:
    assert fetch([JAR], tmp_path, str(mirror)) == [tmp_path / "jars" / "jopt-simple-5.0.4.jar"]
    assert sha256_of(tmp_path / "jars" / "jopt-simple-5.0.4.jar") == JAR.sha256
    assert [path.name for path in (tmp_path / "jars").iterdir()] == ["jopt-simple-5.0.4.jar"]


def test_a_mirror_is_also_a_file_address_or_a_setting(
    tmp_path: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fetch([JAR], tmp_path / "1", mirror.as_uri())[0].exists()
    monkeypatch.setenv(MIRROR_VARIABLE, str(mirror))
    assert fetch([JAR], tmp_path / "2")[0].exists()


def test_jars_that_are_there_need_no_mirror(tmp_path: Path, mirror: Path) -> None:
    fetch([JAR], tmp_path, str(mirror))
    shutil.rmtree(mirror)
    assert fetch([JAR], tmp_path, str(mirror)) == [tmp_path / "jars" / JAR.filename]


def test_a_truncated_jar_in_the_cache_is_fetched_again(tmp_path: Path, mirror: Path) -> None:
    (path,) = fetch([JAR], tmp_path, str(mirror))
    path.write_bytes(path.read_bytes()[:-1])
    fetch([JAR], tmp_path, str(mirror))
    assert sha256_of(path) == JAR.sha256


def test_an_altered_jar_of_the_same_size_is_fetched_again(tmp_path: Path, mirror: Path) -> None:
    (path,) = fetch([JAR], tmp_path, str(mirror))
    flip_one_bit(path)
    fetch([JAR], tmp_path, str(mirror))
    assert sha256_of(path) == JAR.sha256


def test_an_altered_jar_on_the_mirror_is_refused_by_name(tmp_path: Path, mirror: Path) -> None:
    flip_one_bit(mirror / AT)
    with pytest.raises(EmbeddedError, match=r"^jopt-simple-5\.0\.4\.jar has a wrong checksum") as refused:
        fetch([JAR], tmp_path, str(mirror))
    assert JAR.sha256 in refused.value.cause
    assert MIRROR_VARIABLE in refused.value.hint
    assert list((tmp_path / "jars").iterdir()) == []


@pytest.mark.parametrize("web", [{"cut_off": 1}], indirect=True)
def test_a_transfer_that_breaks_off_is_tried_once_more(tmp_path: Path, web: Web) -> None:
    (path,) = fetch([JAR], tmp_path, web.url)
    assert sha256_of(path) == JAR.sha256
    assert web.asked == 2


@pytest.mark.parametrize("web", [{"cut_off": 9}], indirect=True)
def test_a_transfer_that_breaks_off_twice_is_an_error(tmp_path: Path, web: Web) -> None:
    with pytest.raises(EmbeddedError, match=r"^jopt-simple-5\.0\.4\.jar could not be fetched"):
        fetch([JAR], tmp_path, web.url)
    assert web.asked == 2
    assert list((tmp_path / "jars").iterdir()) == []


@pytest.mark.parametrize("web", [{"meet": 2}], indirect=True)
def test_two_processes_that_fetch_the_same_jar_at_once_both_get_it_whole(tmp_path: Path, web: Web) -> None:
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(fetch, [JAR], tmp_path, web.url) for _ in range(2)]
        paths = [one.result()[0] for one in both]
    assert web.asked == 2
    assert paths == [tmp_path / "jars" / JAR.filename] * 2
    assert sha256_of(paths[0]) == JAR.sha256


def test_a_mirror_that_cannot_be_reached_is_an_error_with_its_fix(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(EmbeddedError, match=r"jopt-simple-5\.0\.4\.jar could not be fetched") as error:
        fetch([JAR], tmp_path, f"http://127.0.0.1:{port}/")
    assert MIRROR_VARIABLE in error.value.hint


def test_a_mirror_without_the_jar_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedError, match=r"jopt-simple-5\.0\.4\.jar could not be fetched"):
        fetch([JAR], tmp_path, str(tmp_path / "nowhere"))


def test_a_cache_that_cannot_be_made_is_an_error_with_its_fix(tmp_path: Path, mirror: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddedError, match="cannot be stored") as error:
        fetch([JAR], tmp_path / "file", str(mirror))
    assert "GROUPSCOPE_CACHE" in error.value.hint


def test_what_is_fetched_is_what_the_lock_says() -> None:
    found = describe()
    for name, key in (("kafka", "kafka_classpath"), ("spark", "spark_jars")):
        locked = read_lock()[name].jars
        paths = [Path(path) for path in found[key]]
        assert [path.name for path in paths] == [jar.filename for jar in locked]
        assert [(path.stat().st_size, sha256_of(path)) for path in paths] == [(j.size, j.sha256) for j in locked]
    assert missing_jars() == Missing(files=0, of=103)


def test_an_empty_cache_misses_every_jar(tmp_path: Path) -> None:
    assert missing_jars(tmp_path) == Missing(files=103, of=103)


def test_no_jar_name_stands_for_two_different_jars() -> None:
    jars = {jar for part in read_lock().values() for jar in part.jars}
    assert len({jar.filename for jar in jars}) == len(jars)


def test_the_lock_names_the_versions_that_go_together() -> None:
    kafka, spark = ({jar.coordinate for jar in read_lock()[name].jars} for name in ("kafka", "spark"))
    assert {"org.apache.kafka:kafka_2.13:4.3.1", "org.apache.kafka:kafka-clients:4.3.1"} <= kafka
    assert {"org.apache.kafka:kafka-clients:3.9.2", "io.delta:delta-spark_4.2_2.13:4.4.0"} <= spark
    assert (len(kafka), len(spark)) == (92, 12)


def test_sparks_jars_leave_out_what_pyspark_brings() -> None:
    import pyspark

    own = {jar.stem.rsplit("-", 1)[0] for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    assert own.isdisjoint(jar.coordinate.split(":")[1] for jar in read_lock()["spark"].jars)


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_lock(read_lock(), tmp_path / "lock.toml")
    assert (tmp_path / "lock.toml").read_text() == LOCK_FILE.read_text()


def test_locking_again_finds_the_same_jar_and_leaves_out_the_named_ones() -> None:
    assert resolve(["net.sf.jopt-simple:jopt-simple:5.0.4"]) == (JAR,)
    assert resolve(["net.sf.jopt-simple:jopt-simple:5.0.4"], without=["jopt-simple"]) == ()


def test_a_locked_jar_knows_its_file_name() -> None:
    assert LockedJar("a.b:c_2.13:1.0", 1, "00").filename == "c_2.13-1.0.jar"


def flip_one_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
