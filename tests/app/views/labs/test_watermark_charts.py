"""The watermark lab's picture: a tile per record, lines at the high watermark and the log end of each replica."""

import plotly.graph_objects as go

from app.ui.theme import LIGHT
from app.views.labs.watermark import charts
from app.views.labs.watermark.tables import lanes
from assignors.labs.watermark import STORIES, WatermarkStory, begin
from assignors.labs.watermark.model import Fetch, Produce
from tests.assignors.labs.watermark.playing import play


def picture(story: WatermarkStory, at: int) -> go.Figure:
    return charts.replicas(lanes(play(begin(story.replicas, story.settings), story.actions), at), LIGHT)


def markers(fig: go.Figure) -> list[tuple[float, float, float]]:
    """The vertical lines: where, and between which heights; per replica its log end and its high watermark."""
    lines = [shape for shape in fig.layout.shapes if shape.type == "line"]
    return [(line.x0, line.y0, line.y1) for line in lines]


def test_tiles_and_lines_after_the_first_fetch() -> None:
    fig = picture(STORIES["t1-t4"], 2)
    assert list(fig.layout.yaxis.ticktext) == ["A leader<br>HW 0 · LEO 1", "B in ISR<br>HW 0 · <b>LEO 1</b>"]
    assert markers(fig) == [(0.5, -0.47, 0), (-0.5, 0, 0.47), (0.5, 0.53, 1), (-0.5, 1, 1.47)]
    assert fig.data[0].customdata[1][0] == "B, offset 0: m0 of leader epoch 0 · new in this step"


def test_a_truncated_record_stays_visible_with_its_epoch_and_the_marks_stand_before_it() -> None:
    fig = picture(STORIES["loss"], 7)
    texts = {text for trace in fig.data for row in trace.text or () for text in row if text.strip()}
    assert texts == {"m0<br>e0", "m1<br>e0", "✕m1<br>e0"}
    assert markers(fig) == [(1.5, -0.47, 0), (1.5, 0, 0.47), (0.5, 0.53, 1), (0.5, 1, 1.47)]
    names = ["A leader<br>HW 2 · LEO 2", "B in ISR<br>HW 1 · <b>LEO 1</b>"]
    assert list(fig.layout.yaxis.ticktext) == names


def test_records_that_all_replicas_hold_are_left_out_of_long_logs() -> None:
    story = STORIES["t1-t4"].changed({"do": [*(each for n in range(27) for each in (Produce(f"m{n}"), Fetch("B")))]})
    steps = play(begin(story.replicas, story.settings), story.actions)
    at = len(steps) - 1
    assert charts.first_offset(lanes(steps, at)) == 24  # both hold 26 below their high watermarks
    assert charts.first_offset(lanes(steps, 20)) == 0
    fig = charts.replicas(lanes(steps, at), LIGHT)
    assert list(fig.layout.xaxis.ticktext) == ["24", "25", "26", "27", "28"]
    assert markers(fig)[:2] == [(2.5, -0.47, 0), (1.5, 0, 0.47)]  # log end 27, high watermark 26


def test_long_logs_that_differ_are_bars_by_epoch() -> None:
    story = STORIES["t1-t4"].changed({"do": [Produce(f"m{n}") for n in range(40)]})
    steps = play(begin(story.replicas, story.settings), story.actions)
    fig = charts.replicas(lanes(steps, 40), LIGHT)
    bars = [(shape.x0, shape.x1) for shape in fig.layout.shapes if shape.type == "rect"]
    assert bars == [(-0.45, 38.45), (38.55, 39.45)]
    assert [note.text for note in fig.layout.annotations] == ["… 39 records<br>e0", "+"]
