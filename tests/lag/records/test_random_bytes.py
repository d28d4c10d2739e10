"""Whatever the bytes are: nothing is raised, every record comes out once, and the columns agree with single rows."""

from hypothesis import given
from hypothesis import strategies as st

from lag.records import BytesColumn, decode
from lag.records.record_types import OFFSET_COMMITS, RECORD_TYPES
from tests.support.commit_rows import rows
from tests.support.random_examples import random_examples

ANY_RECORD_TYPE = st.sampled_from([*OFFSET_COMMITS, *RECORD_TYPES, 9, 24])
KEYS = (
    st.none()
    | st.binary(max_size=12)
    | st.builds(
        lambda kind, group, rest: kind.to_bytes(2, "big") + len(group).to_bytes(2, "big") + group + rest,
        ANY_RECORD_TYPE,
        st.binary(max_size=9),
        st.sampled_from([b"", b"\0\1t\0\0\0\1", b"\0\0\0\0\0\1", b"\0\2tt\0\0\0\1\0"]) | st.binary(max_size=9),
    )
)
VALUES = st.none() | st.builds(
    lambda version, body: version.to_bytes(2, "big") + body, st.integers(0, 5), st.binary(max_size=60)
)
RECORDS = st.lists(st.tuples(KEYS, VALUES | st.binary(max_size=3)), max_size=30)


@random_examples(400)
@given(RECORDS)
def test_each_record_comes_out_once_and_nothing_is_raised(records: list[tuple[bytes | None, bytes | None]]) -> None:
    decoded = decode(BytesColumn.of(key for key, _ in records), BytesColumn.of(value for _, value in records))
    read = [*decoded.commits.rows.tolist(), *(event.row for event in decoded.events)]
    skipped = [one.row for one in decoded.unknown] + [error.row for error in decoded.errors if error.row not in read]
    assert sorted(read + skipped) == list(range(len(records)))


@random_examples(200)
@given(RECORDS)
def test_a_record_among_many_is_what_it_is_alone(records: list[tuple[bytes | None, bytes | None]]) -> None:
    filler = [(b"\0\1\0\1g\0\1t\0\0\0\0", None), (b"\0\1\0\1g\0\1t\0\0\0\0", bytes(24))] * 20
    both = records + filler
    together = decode(BytesColumn.of(key for key, _ in both), BytesColumn.of(value for _, value in both))
    commits = dict(zip(together.commits.rows.tolist(), rows(together.commits), strict=True))
    for row, (key, value) in enumerate(records):
        alone = decode(BytesColumn.of([key]), BytesColumn.of([value]))
        assert rows(alone.commits) == ([commits[row]] if row in commits else [])
