"""`groupscope offsets decode`: each record as a line of JSON, or counts; damaged files give what comes before."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.app.cli.commandline import refused, run
from tests.support.forge import COMMAND

h = bytes.fromhex
BILLING = "0007 62696c6c696e67"
COMMIT_KEY = h(f"0001 {BILLING} 0006 6f7264657273 00000003")
TOPIC_ID = "6b2f8a10-3c4d-4e5f-8a9b-0c1d2e3f4a5b"
SUBSCRIPTION = h("0003 00000001 0006 6f7264657273 ffffffff 00000000 00000007 ffff")
GROUP = h(
    "0003 0008 636f6e73756d6572 00000008 0005 72616e6765 0003 6d2d31 000001a1e39bc900 00000001 "
    f"0003 6d2d31 ffff 0002 6331 0009 2f31302e302e302e39 000493e0 0000afc8 0000001c {SUBSCRIPTION.hex()} "
    "00000002 ffff"
)
PLACE = {"kind": "offset_commit", "group_id": "billing", "topic": "orders", "partition": 3}

RECORDS: list[tuple[bytes | None, bytes | None, dict[str, Any]]] = [
    (
        COMMIT_KEY,
        h("0003 000000000000a410 00000005 0002 c3a9 000001a1f2c3d4e5"),
        PLACE | {"offset": 42000, "leader_epoch": 5, "metadata": "é", "commit_ts": 1795074282725, "topic_id": None},
    ),
    (
        COMMIT_KEY,
        h(f"0004 000000000000a411 ffffffff 03 7731 000001a1e39bc900 01 00 10 {TOPIC_ID.replace('-', '')}"),
        PLACE
        | {"offset": 42001, "leader_epoch": None, "metadata": "w1", "commit_ts": 1794820000000, "topic_id": TOPIC_ID},
    ),
    (
        COMMIT_KEY,
        h("0001 000000000000a410 0000 000001a1e39bc900 000001a1f2c3d4e5"),
        PLACE
        | {"offset": 42000, "leader_epoch": None, "metadata": "", "commit_ts": 1794820000000, "topic_id": None}
        | {"expire_ts": 1795074282725},
    ),
    (
        COMMIT_KEY,
        h("0001 000000000000a410 0000 000001a1e39bc900 ffffffffffffffff"),
        PLACE
        | {"offset": 42000, "leader_epoch": None, "metadata": "", "commit_ts": 1794820000000, "topic_id": None}
        | {"expire_ts": None},
    ),
    (COMMIT_KEY, None, PLACE | {"tombstone": True}),
    (h(f"0002 {BILLING}"), None, {"kind": "group", "group_id": "billing", "tombstone": True}),
    (
        h(f"0010 {BILLING} 0003 6f2e2a"),
        h("0000 02 07 6f7264657273 0000000000000009 000001a1e39bc900 00"),
        {
            "kind": "consumer_group_regular_expression",
            "group_id": "billing",
            "regular_expression": "o.*",
            "value_version": 0,
            "topics": ["orders"],
            "version": 9,
            "timestamp": 1794820000000,
        },
    ),
    (h("0063 00"), b"\1", {"kind": "unknown", "record_type": 99}),
    (
        COMMIT_KEY,
        h("0009"),
        {"kind": "corrupt", "record_type": 1, "reason": "value: version 9, where 0 to 4 are known"},
    ),
    (None, b"", {"kind": "corrupt", "record_type": None, "reason": "key: null"}),
]


def framed(*blobs: bytes | None) -> bytes:
    """Each after its length."""
    return b"".join(b"\xff" * 4 if blob is None else len(blob).to_bytes(4, "big") + blob for blob in blobs)


def _numbers(message: str) -> list[int]:
    """The numbers in an error before its hint: records read, byte, and length, if the length is invalid."""
    return [int(number) for number in re.findall(r"(?<!\w)-?\d+", message.split(". ")[0])]


WHOLE = b"".join(framed(key, value) for key, value, _ in RECORDS)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "offsets.bin"
    path.write_bytes(WHOLE)
    return path


def test_each_record_is_one_line_in_order(file: Path) -> None:
    done = run("offsets", "decode", str(file), "--json-lines")
    assert [json.loads(line) for line in done.out.splitlines()] == [document for _, _, document in RECORDS]
    assert (done.code, done.err) == (0, "")


def test_a_pipe_is_read_as_a_file_is() -> None:
    done = subprocess.run(
        [COMMAND, "offsets", "decode", "-", "--json-lines"], input=WHOLE, capture_output=True, check=True
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [document for _, _, document in RECORDS]


def test_a_group_is_shown_with_what_of_it_could_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "group.bin"
    path.write_bytes(framed(h(f"0002 {BILLING}"), GROUP))
    (line,) = run("offsets", "decode", str(path), "--json-lines").out.splitlines()
    document = json.loads(line)
    assert document["problems"] == ["assignment of member m-1: version -1"]
    (member,) = document.pop("members")
    assert (document["kind"], document["protocol"], document["generation"]) == ("group", "range", 8)
    asked = {"topics": ["orders"], "user_data": None, "owned": [], "generation": 7, "rack": None}
    assert (member["subscription"], member["assignment"], member["assignment_bytes"]) == (asked, None, "//8=")


def test_without_lines_the_records_are_counted(file: Path) -> None:
    kinds = {"offset_commit": 5, "group": 1, "consumer_group_regular_expression": 1, "unknown": 1, "corrupt": 2}
    document = run("offsets", "decode", str(file), "--json").document
    assert document == {"records": 10, "kinds": kinds, "unknown_types": {"99": 1}}
    done = run("offsets", "decode", str(file))
    assert {tuple(line.split()) for line in done.out.splitlines()[1:]} == {(k, str(n)) for k, n in kinds.items()}
    assert done.err == "unknown record types: 99\n"


def test_of_a_truncated_file_all_whole_records_come_and_the_exit_code_is_1(file: Path) -> None:
    file.write_bytes(WHOLE[:-1])
    begins_at = len(WHOLE) - len(framed(None, b""))
    done = run("offsets", "decode", str(file), "--json-lines")
    assert [json.loads(line) for line in done.out.splitlines()] == [document for _, _, document in RECORDS[:-1]]
    assert (done.code, _numbers(done.err)) == (1, [9, begins_at])
    counted = run("offsets", "decode", str(file), "--json")
    assert (counted.code, counted.document["records"]) == (1, 9)
    assert _numbers(counted.document["error"]["cause"]) == [9, begins_at]


def test_what_is_no_file_of_records_is_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(framed(COMMIT_KEY, None) + b"\x89PNG")
    done = run("offsets", "decode", str(path), "--json-lines")
    assert (done.code, len(done.out.splitlines())) == (1, 1)
    length = int.from_bytes(b"\x89PNG", "big", signed=True)
    assert _numbers(done.err) == [1, len(framed(COMMIT_KEY, None)), length]
    path.write_bytes(b"\x89PNG")
    assert _numbers(refused("offsets", "decode", str(path))) == [0, 0, length]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert (
        refused("offsets", "decode", str(tmp_path / "no"))
        == f"{tmp_path / 'no'} cannot be read: No such file or directory"
    )
    assert refused("offsets", "decode", str(tmp_path), "--json-lines") == f"{tmp_path} cannot be read: Is a directory"


def test_an_empty_file_holds_no_records(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    done = run("offsets", "decode", str(tmp_path / "empty"), "--json-lines")
    assert (done.code, done.out, done.err) == (0, "", "")
