"""Files of records are read piece by piece, wherever the pieces end."""

from io import BytesIO

import pytest

from lag.errors import ConfigError
from lag.records import record_file
from lag.records.record_file import read_frames


def framed(blob: bytes | None) -> bytes:
    return b"\xff" * 4 if blob is None else len(blob).to_bytes(4, "big") + blob


RECORDS = [(b"k" * (n % 5), None if n % 7 == 0 else b"v" * (n % 11)) for n in range(200)]
DATA = b"".join(framed(key) + framed(value) for key, value in RECORDS)


@pytest.mark.parametrize("piece", [1, 7, 64, len(DATA)])
def test_records_that_lie_across_pieces_are_read_once(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_file, "_CHUNK_BYTES", piece)
    batches = list(read_frames(BytesIO(DATA)))
    assert [record for keys, values in batches for record in zip(keys, values, strict=True)] == RECORDS
    assert (len(batches) == 1) == (piece == len(DATA))


def test_records_come_before_the_file_has_been_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_file, "_CHUNK_BYTES", 64)
    file = BytesIO(DATA)
    next(read_frames(file))
    assert file.tell() == 64


@pytest.mark.parametrize("left", range(1, 12))
def test_a_file_cut_anywhere_within_a_record_says_where_it_begins(left: int) -> None:
    whole = framed(b"key") + framed(b"value")
    reading = read_frames(BytesIO(whole + (framed(b"abcd") + framed(b"efgh"))[:left]))
    assert len(next(reading)[0]) == 1
    with pytest.raises(ConfigError, match=rf"1 records were read, .* starts at byte {len(whole)}\."):
        next(reading)


@pytest.mark.parametrize("length", [-2, 2**28 + 1])
def test_a_length_that_cannot_be_one_is_not_waited_for(length: int) -> None:
    bad = length.to_bytes(4, "big", signed=True)
    for data in (bad + bytes(99), framed(b"key") + bad + bytes(99)):
        with pytest.raises(ConfigError, match=f"0 records were read, but the length at byte 0 is {length}"):
            list(read_frames(BytesIO(data)))
