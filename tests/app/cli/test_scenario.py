"""`groupscope scenario`: the schema, checks with file and line, and the examples."""

import json
import subprocess
from pathlib import Path

import pytest

from assignors import load_scenario
from assignors.scenario import examples, schema
from tests.app.cli.commandline import refused, run
from tests.support.forge import COMMAND

GOOD = "schema_version: 1\nname: shop\nassignor: sticky\n"


def file(folder: Path, text: str, name: str = "shop.yaml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_the_schema_is_one_document_for_programs_and_many_lines_for_people() -> None:
    assert run("scenario", "schema", "--json").document == schema()
    lines = run("scenario", "schema").out
    assert json.loads(lines) == schema()
    assert lines.startswith('{\n  "$schema": "https://json-schema.org/draft/2020-12/schema",\n')


def test_a_good_file(tmp_path: Path) -> None:
    path = file(tmp_path, GOOD)
    done = run("scenario", "check", path)
    assert (done.code, done.out, done.err) == (0, "", f"{path}: ok\n")
    assert run("scenario", "check", "--json", path).document == {
        "ok": True,
        "files": [{"file": path, "ok": True, "errors": [], "warnings": []}],
    }


def test_problems_name_file_line_and_path(tmp_path: Path) -> None:
    good, bad = file(tmp_path, GOOD), file(tmp_path, GOOD + "topics:\n- {nam: t}\n", "bad.yml")
    done = run("scenario", "check", good, bad)
    assert (done.code, done.err) == (1, f"{good}: ok\n{bad}: 3 problems\n")
    assert done.out.splitlines() == [
        f"{bad}:5: topics[0].name: The key 'name' is missing.",
        f"{bad}:5: topics[0].partitions: The key 'partitions' is missing.",
        f"{bad}:5: topics[0].nam: The key 'nam' is unknown. Did you mean 'name'?",
    ]


def test_problems_as_json(tmp_path: Path) -> None:
    bad = file(tmp_path, GOOD.replace("sticky", "stick"))
    done = run("scenario", "check", "--json", bad)
    problem = {"line": 3, "path": "assignor", "message": "No assignor is named 'stick'. Did you mean 'sticky'?"}
    assert (done.code, done.err) == (1, "")
    assert done.document == {
        "ok": False,
        "files": [{"file": bad, "ok": False, "errors": [problem], "warnings": []}],
    }


def test_a_warning_is_reported_and_is_no_failure(tmp_path: Path) -> None:
    odd = file(tmp_path, GOOD + "members: [{id: c1, topics: [orders]}]\n")
    done = run("scenario", "check", odd)
    assert (done.code, done.err) == (0, f"{odd}: ok\n")
    assert (
        done.out
        == f"{odd}:4: members[0].topics[0]: warning: No topic is ever named 'orders', so nothing is assigned for it.\n"
    )


def test_check_reads_stdin() -> None:
    done = subprocess.run([COMMAND, "scenario", "check", "-"], input=b"name: [\n", capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stdout.decode().startswith("-:2: This is not YAML: ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    done = run("scenario", "check", str(tmp_path / "none.yaml"), str(tmp_path))
    assert done.code == 1
    assert done.out.splitlines() == [
        f"{tmp_path}/none.yaml: {tmp_path}/none.yaml cannot be read: No such file or directory.",
        f"{tmp_path}: {tmp_path} cannot be read: Is a directory.",
    ]


def test_examples_are_listed_with_what_they_show() -> None:
    lines = run("scenario", "example").out.splitlines()
    assert [line.split()[0] for line in lines] == ["EXAMPLE", *examples()]
    listed = run("scenario", "example", "--json").document["examples"]
    assert listed == [{"name": n, "description": load_scenario(path).description} for n, path in examples().items()]


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_an_example_can_be_saved_and_read_again(tmp_path: Path, flags: tuple[str, ...]) -> None:
    printed = run("scenario", "example", "checkout-scales-out", *flags).out
    path = file(tmp_path, printed, "mine.json" if flags else "mine.yaml")
    assert load_scenario(path) == load_scenario(examples()["checkout-scales-out"])


def test_an_example_that_does_not_exist() -> None:
    reported = refused("scenario", "example", "checkout-scale-out")
    assert reported == "No example is named 'checkout-scale-out'. Did you mean 'checkout-scales-out'?"
