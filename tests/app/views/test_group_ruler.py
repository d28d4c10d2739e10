"""The offset rulers of the Group page: those of the worst partitions, and that of a partition to choose."""

import pytest

from lag.offsets import PartitionProblem
from lag.verdict.status import Status
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import alt


@pytest.mark.parametrize(
    ("group", "status", "reported"),
    [
        ("tx-reader", "held", "tx.events-0: 9,000 records read, 3,500 records held"),
        ("recreated-topic-reader", "beyond_end", "recreated-0: 40 records in the log, 5,000 records beyond the end"),
    ],
)
def test_the_worst_partition_has_a_ruler(open_page: Open, group: str, status: str, reported: str) -> None:
    page = open_page("group", group=group)
    assert not page.exception
    assert alt(page, f"ruler_{status}").startswith(reported)


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
