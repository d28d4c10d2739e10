"""client.properties, read as Java reads it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lag.cluster.connection.properties import MAX_BYTES, Property, parse_properties, read_properties
from lag.errors import ConfigError

SYNTAX = ["\\", "=", ":", "#", "!", " ", "\t", "\f", "\n", "\r", "\r\n", "\\\n", "\\u0041", "\\n", "a", "key", "ü", "0"]
TEXTS = st.lists(st.sampled_from(SYNTAX), max_size=25).map("".join)


def pairs(text: str) -> list[tuple[str, str]]:
    return [(p.key, p.value) for p in parse_properties(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1", [("a", "1")]),
        ("a : 1", [("a", "1")]),
        ("a 1", [("a", "1")]),
        ("  a\t=\t1 ", [("a", "1 ")]),
        ("# a=1\n! b=2\nc=3", [("c", "3")]),
        ("a=1,\\\n   2,\\\r\n   3", [("a", "1,2,3")]),
        ("a=C:\\\\users\nb=x\\ty", [("a", "C:\\users"), ("b", "x\ty")]),
        ("a\\=b\\ c=1", [("a=b c", "1")]),
        ("a=\\u00fc\\uD83D\\uDE00", [("a", "ü😀")]),
        ("a\nb=", [("a", ""), ("b", "")]),
        ("", []),
    ],
)
def test_a_text_gives_the_keys_and_values_that_java_would_give(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


def test_each_property_knows_the_line_where_it_starts() -> None:
    assert parse_properties("# one\n\na=1,\\\n  2\nb=3") == [Property("a", "1,2", 3), Property("b", "3", 5)]


@given(text=TEXTS)
@example(text="\\")
@example(text="\\\n")
@example(text="\\\r\n")
@example(text="\\\n#a")
@example(text="a\\\n\nb")
def test_any_text_is_read_as_java_util_properties_reads_it(java_classes: Callable[[str], Any], text: str) -> None:
    theirs = java_classes("java.util.Properties")()
    theirs.load(java_classes("java.io.StringReader")(text))
    assert dict(pairs(text)) == {str(key): str(theirs.getProperty(key)) for key in theirs.stringPropertyNames()}


def test_malformed_unicode_names_the_line_and_not_the_value() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_properties("a=1\npassword=geheim\\u12", "client.properties")
    assert str(caught.value).startswith("client.properties, line 2: \\u is not followed by four hexadecimal digits")
    assert "geheim" not in str(caught.value)


def test_text_that_is_not_utf_8_is_read_as_latin_1(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes("a=grün".encode("latin-1"))
    (tmp_path / "new").write_bytes("\ufeffa=grün".encode())
    assert [p.value for name in ("old", "new") for p in read_properties(tmp_path / name)] == ["grün", "grün"]
    assert read_properties(tmp_path / "new")[0].key == "a"


def make_directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (lambda path: None, "There is no file {}. Check the path."),
        (make_directory, "{} is a directory. Name the properties file in it."),
        (lambda path: path.write_bytes(b"PK\x03\x04\x00"), "{} is not a text file."),
        (lambda path: path.write_bytes("a=1".encode("utf-16")), "{} is UTF-16 text. Save it as UTF-8."),
        (lambda path: path.write_bytes(b"#" * (MAX_BYTES + 1)), "{} is larger than 1 MB."),
    ],
)
def test_a_file_that_is_no_properties_file_is_refused_with_its_name(tmp_path: Path, make: Any, cause: str) -> None:
    path = tmp_path / "client.properties"
    make(path)
    with pytest.raises(ConfigError) as caught:
        read_properties(path)
    assert str(caught.value).startswith(cause.format(path))


def test_a_file_that_the_system_cannot_read_is_refused_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.symlink_to(path)
    with pytest.raises(ConfigError) as caught:
        read_properties(path)
    assert str(caught.value) == (f"{path} could not be read: Too many levels of symbolic links. Name a readable file.")


def test_every_character_of_java_comes_back_from_an_escaped_file(java_classes: Callable[[str], Any]) -> None:
    text = "".join(chr(code) for code in [*range(1, 0x250), 0x20AC, 0xFFFD, 0x1F600])
    theirs, writer = java_classes("java.util.Properties")(), java_classes("java.io.StringWriter")()
    theirs.setProperty(text, text)
    theirs.store(writer, "written by Java")
    assert pairs(str(writer.toString())) == [(text, text)]
