"""Still pictures: colours and symbols per cell, blocks of columns, counts per member."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plotly.graph_objects import Figure

from app.ui.charts.limits import FIGURE_BYTES
from app.ui.movement import counts, stills
from app.ui.movement.blocks import blocks, names
from app.ui.movement.encoding import GLYPHS, Picture, lane_names, looks, scale, short_title
from app.ui.movement.steps import GAINED, KEPT, NO_CELL, REVOKED, UNASSIGNED
from app.ui.theme import DARK, LIGHT, Palette
from tests.app.ui.movement.ownerships import many, steps


def size(picture: Picture) -> int:
    return len(picture.figure.to_json().encode())


def colour_of(kind: int, colours: Palette) -> str:
    """The colour that a heatmap with this scale gives to a kind."""
    paint = scale(colours)
    at = (kind - paint["zmin"]) / (paint["zmax"] - paint["zmin"])
    return next(
        str(colour)
        for (low, colour), (high, _) in zip(*[iter(paint["colorscale"])] * 2, strict=True)
        if low <= at < high
    )


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_each_kind_has_the_colour_of_the_style(colours: Any) -> None:
    assert [colour_of(kind, colours) for kind in (KEPT, GAINED, REVOKED, UNASSIGNED)] == [
        colours.kept_fill,
        colours.gained,
        colours.revoked,
        colours.unassigned,
    ]
    assert colour_of(NO_CELL, colours) == "rgba(0,0,0,0)"


def test_a_cell_per_generation_and_partition() -> None:
    picture = stills.generations_by_partitions(steps("aab-", "ab.c", "ab.c"), 1, LIGHT)
    heat, *symbols = picture.figure.data
    assert heat.z.tolist() == [
        [KEPT, KEPT, KEPT, NO_CELL],
        [KEPT, GAINED, REVOKED, GAINED],
        [KEPT, KEPT, UNASSIGNED, KEPT],
    ]
    assert heat.customdata[1] == ["a kept", "a → b moved", "b revoked", "assigned to c"]
    assert list(heat.y) == ["1 · start", "2 · event 2", "3 · event 3"]
    assert [(trace.marker.symbol, list(trace.x)) for trace in symbols] == [
        ("triangle-up", ["t-1", "t-3"]),
        ("triangle-down", ["t-2"]),
        ("x", ["t-2"]),
    ]
    assert picture.caption == ""


def test_the_current_generation_is_framed_and_bold() -> None:
    fig = stills.generations_by_partitions(steps("ab", "aa", "ab"), 1, LIGHT).figure
    frame = fig.layout.shapes[-1]
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (0.5, 1.5, -0.5, 1.5)
    assert fig.layout.yaxis.ticktext == ("1 · start", "<b>2 · event 2</b>", "3 · event 3")


def test_columns_are_grouped_by_topic() -> None:
    made = steps("aabbbb", "aabbbb", topics={"pay": 2, "tax": 4})
    fig = stills.generations_by_partitions(made, 0, LIGHT).figure
    assert fig.layout.xaxis.ticktext == ("pay", "tax")
    assert fig.layout.xaxis.tickvals == (0.5, 3.5)
    assert fig.layout.shapes[0].x0 == 1.5


def test_long_topic_names_become_letters_with_a_key() -> None:
    made = steps("aabb", topics={"checkout.orders.created": 2, "checkout.payments.settled": 2})
    picture = stills.generations_by_partitions(made, 0, LIGHT)
    assert picture.figure.layout.xaxis.ticktext == ("<b>a</b>", "<b>b</b>")
    assert picture.caption == "a checkout.orders.created, b checkout.payments.settled"


def test_a_column_for_many_partitions_shows_the_gravest_change_and_counts() -> None:
    made = steps("aaaabb", "abaa.b")
    columns = blocks(made, 3)
    assert names(made, columns) == ["t-0 to t-1", "t-2 to t-3", "t-4 to t-5"]
    assert columns.worst(made.all_kinds())[1].tolist() == [GAINED, KEPT, REVOKED]
    assert columns.changed(made.all_kinds())[1].tolist() == [1, 0, 1]


def test_no_block_spans_two_topics() -> None:
    columns = blocks(many(3_000, 5, 2, topics=4), 100)
    assert columns.size == 30
    assert columns.starts[25] == 750
    assert np.diff([*columns.starts, 3_000]).max() == 30


def test_100_000_partitions_stay_in_the_budget_and_the_caption_says_how() -> None:
    picture = stills.generations_by_partitions(many(100_000, 100, 120, topics=50), 7, LIGHT)
    assert size(picture) < FIGURE_BYTES
    assert picture.figure.data[0].z.shape == (120, 1_000)
    assert picture.caption == (
        "each column stands for up to 100 partitions, coloured by the most significant change · "
        "50 topics in order of name"
    )


def test_beyond_120_generations_a_window_is_drawn() -> None:
    picture = stills.generations_by_partitions(many(100, 5, 300), 200, LIGHT)
    assert picture.caption == "generations 141 to 260 of 300"
    assert len(picture.figure.data[0].y) == 120


@pytest.mark.parametrize(("n", "keep", "room"), [(12, 5, 10), (120, 77, 32), (3, 0, 10), (200, 199, 12)])
def test_labels_keep_their_distance_and_the_current_one(n: int, keep: int, room: int) -> None:
    shown = stills.thinned(n, keep, room)
    assert keep in shown
    assert len(shown) <= room + 1
    assert n <= room or min(np.diff(shown)) >= n // room


def cell_texts(fig: Figure) -> list[list[str]]:
    """What is written over the cells, one grid for all traces that write."""
    grids = [np.array(trace.text, dtype=object) for trace in fig.data[1:]]
    return [[word.strip() for word in row] for row in sum(grids[1:], grids[0]).tolist()]


def test_counts_show_idle_and_gone() -> None:
    picture = counts.members_by_generations(steps("aab", "aaa", "aa.", there="d"), 1, LIGHT)
    assert cell_texts(picture.figure) == [["2", "3", "2"], ["1", "·", "·"], ["0", "0", "0"]]
    bold = picture.figure.data[1]
    assert bold.textfont.weight == 700
    assert [[word.strip() for word in row] for row in bold.text] == [["", "3", "2"], ["", "", ""], ["", "", ""]]
    assert np.isnan(picture.figure.data[0].z[1][1])


def test_many_members_keep_those_whose_count_changes_most() -> None:
    made = many(1_000, 90, 4)
    picture = counts.members_by_generations(made, 1, LIGHT)
    assert len(picture.figure.layout.yaxis.ticktext) == 24
    assert picture.caption == "66 members with fewer changes not shown"
    assert size(picture) < FIGURE_BYTES


def test_the_member_id_is_read_on_hovering() -> None:
    made = replace(steps("ab", "ba"), members=("loader-1", "loader-2"), ids=("warehouse-1-a0", "warehouse-2-b1"))
    held = counts.members_by_generations(made, 1, LIGHT).figure
    assert list(held.layout.yaxis.ticktext) == ["loader-1", "loader-2"]
    assert held.data[0].customdata[0][1] == "warehouse-1-a0 · 2 · event 2"


def test_names_too_long_for_a_lane_are_cut_in_the_middle() -> None:
    assert lane_names(["c1", "c2"]) == ["c1", "c2"]
    assert lane_names(["consumer-billing-settlement-0001"]) == ["consume…ent-0001"]


def test_titles_keep_number_name_and_verb() -> None:
    assert short_title("6", "c2 crashes; it is removed when its 45 s session times out", 20) == "6 · c2 crashes"
    assert short_title("3", "c3 joins (rebalance 2)", 20) == "3 · c3 joins (2)"
    assert short_title("4", "consumer-billing-1-0a1b2c left", 22) == "4 · cons…0a1b2c left"


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_ink_reads_on_every_fill_and_on_the_page(colours: Any) -> None:
    assert list(looks(colours)) == list(GLYPHS)
    for look in looks(colours).values():
        assert contrast(look.ink, look.fill) >= 4.5
        assert contrast(look.text, colours.background) >= 4.5
