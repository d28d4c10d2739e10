"""The offset ruler: the marks in order, what lies between them, and which of them moved."""

from dataclasses import replace

import pytest

from app.ui.charts.ruler import Mark, Offsets, Part, Segment, figure, finding, marks, segments
from app.ui.theme import LIGHT


def of(
    start: int | None, committed: int | None, stable: int | None, end: int | None, position: int | None = None
) -> Offsets:
    return Offsets(start, committed, position, stable, end)


@pytest.mark.parametrize(
    ("its", "expected"),
    [
        (of(0, 60, 100, 100), [Segment(60, Part.READ), Segment(40, Part.UNREAD)]),
        (of(0, 60, 60, 100), [Segment(60, Part.READ), Segment(40, Part.HELD)]),
        (of(0, 60, 80, 100), [Segment(60, Part.READ), Segment(20, Part.UNREAD), Segment(20, Part.HELD)]),
        (of(0, 90, 80, 100), [Segment(80, Part.READ), Segment(10, Part.READ), Segment(10, Part.HELD)]),
        (of(50, 20, 100, 100), [Segment(30, Part.LOST), Segment(50, Part.UNREAD)]),
        (of(0, 130, 100, 100), [Segment(100, Part.LOG), Segment(30, Part.BEYOND)]),
        (of(0, None, 100, 100), [Segment(100, Part.LOG)]),
        (of(0, 60, None, None), [Segment(60, Part.READ)]),
        (of(7, 7, 7, 7), []),
        (of(None, None, None, None), []),
        (
            of(0, 60, 100, 100, 80),
            [Segment(60, Part.READ), Segment(20, Part.UNCOMMITTED), Segment(20, Part.UNREAD)],
        ),
        (of(0, 60, 100, 100, 20), [Segment(20, Part.READ), Segment(40, Part.AGAIN), Segment(40, Part.UNREAD)]),
        (of(0, None, 100, 100, 100), [Segment(100, Part.UNCOMMITTED)]),
    ],
)
def test_what_lies_between_the_marks(its: Offsets, expected: list[Segment]) -> None:
    assert segments(its) == expected
    assert figure(its, LIGHT).layout.height > 0


def test_equal_offsets_are_one_mark() -> None:
    assert marks(of(0, 60, 60, 100)) == [
        Mark(0, ("log start",)),
        Mark(60, ("committed", "last stable")),
        Mark(100, ("log end",)),
    ]


def test_the_ruler_of_a_share_group_has_its_start_offset_and_does_not_count_what_is_to_read() -> None:
    its = replace(of(0, 60, 100, 100), is_shared=True)
    assert marks(its)[1] == Mark(60, ("start offset",))
    assert segments(its) == [Segment(60, Part.READ), Segment(40, Part.LOG)]
    assert "committed" not in finding("t-0", its)


def test_the_finding_has_every_number_of_the_ruler() -> None:
    assert finding("t-0", of(0, 60, 60, 100)) == (
        "t-0: 60 records read, 40 records held; log start 0, committed and last stable 60, log end 100"
    )


def test_a_mark_that_moved_is_emphasised() -> None:
    fig = figure(of(0, 250, None, 250, 150), LIGHT, of(0, 250, None, 250, 250))
    assert [each.text for each in fig.layout.annotations if "<br>" in each.text] == [
        "0<br>log start",
        "150<br><b>▸position</b>",
        "250<br>committed,<br>log end",
    ]
