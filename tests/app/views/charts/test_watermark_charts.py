"""The watermark lab's picture: a tile per record, markers at the high watermark and the log end of each replica."""

from app.ui import theme
from app.views.labs.watermark import charts
from app.views.labs.watermark.tables import lanes
from assignors.labs.watermark import STORIES, begin, play


def test_tiles_markers_and_notes_after_the_first_fetch() -> None:
    steps = play(begin("AB"), STORIES["t1-t4"].actions)
    fig = charts.replicas(lanes(steps, 2), theme.LIGHT)
    assert list(fig.layout.yaxis.ticktext) == ["A leader", "B in ISR"]
    assert [note.text for note in fig.layout.annotations] == ["HW 0 · LEO 1", "HW 0 · LEO 1"]
    lines = [(shape.y0 + charts.HALF, shape.x0) for shape in fig.layout.shapes if shape.type == "line"]
    assert lines == [(0, 0.5), (0, -0.5), (1, 0.5), (1, -0.5)]
    assert fig.data[0].customdata[1][0] == "B, offset 0: m0 of leader epoch 0 · new in this step"
