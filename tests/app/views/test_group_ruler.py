"""The offset ruler: the marks in order, and what lies between them."""

import pytest

from app.ui.theme import LIGHT
from app.views.group.ruler import Mark, Part, Segment, figure, finding, marks, segments
from assignors.model import TopicPartition
from lag.offsets import PartitionLag, PartitionProblem
from lag.verdict.status import Status
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import alt


def row(start: int | None, committed: int | None, stable: int | None, end: int | None) -> PartitionLag:
    """A partition t-0 with those offsets."""
    return PartitionLag(TopicPartition("t", 0), committed, start, end, stable, None, None, 0)


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ((0, 60, 100, 100), [Segment(60, Part.READ), Segment(40, Part.UNREAD)]),
        ((0, 60, 60, 100), [Segment(60, Part.READ), Segment(40, Part.HELD)]),
        ((0, 60, 80, 100), [Segment(60, Part.READ), Segment(20, Part.UNREAD), Segment(20, Part.HELD)]),
        ((0, 90, 80, 100), [Segment(80, Part.READ), Segment(10, Part.READ), Segment(10, Part.HELD)]),
        ((50, 20, 100, 100), [Segment(30, Part.LOST), Segment(50, Part.UNREAD)]),
        ((0, 130, 100, 100), [Segment(100, Part.READ), Segment(30, Part.BEYOND)]),
        ((0, None, 100, 100), [Segment(100, Part.LOG)]),
        ((0, 60, None, None), [Segment(60, Part.READ)]),
        ((7, 7, 7, 7), []),
        ((None, None, None, None), []),
    ],
)
def test_what_lies_between_the_marks(
    offsets: tuple[int | None, int | None, int | None, int | None], expected: list[Segment]
) -> None:
    assert segments(row(*offsets)) == expected
    assert figure(row(*offsets), LIGHT).layout.height > 0


def test_equal_offsets_are_one_mark() -> None:
    assert marks(row(0, 60, 60, 100)) == [
        Mark(0, ("log start",)),
        Mark(60, ("committed", "last stable")),
        Mark(100, ("log end",)),
    ]


def test_the_finding_has_every_number_of_the_ruler() -> None:
    assert finding(row(0, 60, 60, 100)) == (
        "t-0: 60 records read, 40 records held; log start 0, committed and last stable 60, log end 100"
    )


@pytest.mark.parametrize(
    ("group", "status", "told"),
    [
        ("tx-reader", "held", "tx.events-0: 9,000 records read, 3,500 records held"),
        ("recreated-topic-reader", "beyond_end", "recreated-0: 40 records read, 5,000 records beyond the end"),
    ],
)
def test_the_worst_partition_has_a_ruler(open_page: Open, group: str, status: str, told: str) -> None:
    page = open_page("group", group=group)
    assert not page.exception
    assert alt(page, f"ruler_{status}").startswith(told)


def test_lost_records_have_a_ruler(open_page: Open, feed: feeds.HandFeed) -> None:
    lost = synthetic.Row("t", 0, 20, 100, 0, Status.LOST, PartitionProblem.BELOW_LOG_START, start=50, lost=30)
    feed.report = feeds.report([synthetic.Spec("g", (lost,), synthetic.members(1), Status.LOST)])
    page = open_page("group", group="g")
    assert alt(page, "ruler_lost").startswith("t-0: 30 records lost, 50 records to read")


def test_a_picked_partition_has_a_ruler(open_page: Open) -> None:
    page = open_page("group", group="audit-pair", partition="audit.a-2")
    assert alt(page, "ruler_chosen").startswith("audit.a-2: 497 records read, 3 records to read")
    page = open_page("group", group="audit-pair", partition="nowhere-0")
    assert not page.exception
    assert not [chart for chart in page.get("plotly_chart") if "ruler_chosen" in chart.proto.id]
