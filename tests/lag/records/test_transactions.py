"""Commits of transactions count from their COMMIT marker on, as for Kafka's group coordinator."""

import pytest

from lag.records.transactions import NONE_OPEN, GroupRecord, Marker

PLAIN, OTHER = GroupRecord(1, b"k", b"plain"), GroupRecord(2, b"other", b"plain")
OF_7, NEXT_OF_7, OF_8 = GroupRecord(3, b"k", b"a", 7), GroupRecord(4, b"k", b"b", 7), GroupRecord(5, b"j", b"c", 8)
COMMIT_7, ABORT_7, COMMIT_8 = Marker(7, True), Marker(7, False), Marker(8, True)


@pytest.mark.parametrize(
    ("log", "count"),
    [
        ([PLAIN, OTHER], [PLAIN, OTHER]),
        ([PLAIN, OF_7], [PLAIN]),
        ([PLAIN, OF_7, COMMIT_7], [PLAIN, OF_7]),
        ([PLAIN, OF_7, ABORT_7], [PLAIN]),
        ([OF_7, NEXT_OF_7, COMMIT_7], [NEXT_OF_7]),
        ([OF_7, ABORT_7, NEXT_OF_7, COMMIT_7], [NEXT_OF_7]),
        ([OF_7, PLAIN, COMMIT_7], [PLAIN]),  # the later record of the log remains
        ([OF_7, OTHER, COMMIT_7], [OTHER, OF_7]),
        ([OF_7, OF_8, COMMIT_8], [OF_8]),
        ([OF_7, PLAIN._replace(value=None), COMMIT_7], [PLAIN._replace(value=None)]),
        ([COMMIT_7, PLAIN], [PLAIN]),  # its records are before the first that was read
    ],
)
def test_what_counts_is_the_same_in_any_pieces(log: list[GroupRecord | Marker], count: list[GroupRecord]) -> None:
    for cut in range(len(log) + 1):
        first, still_open = NONE_OPEN.after(log[:cut])
        then, _ = still_open.after(log[cut:])
        assert [*first, *then] == count
