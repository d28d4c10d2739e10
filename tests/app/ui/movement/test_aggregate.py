"""Large groups: a cell per partition, counts per topic and member, and flows."""

from dataclasses import replace

import numpy as np
import pytest

from app.ui.charts import limits
from app.ui.charts.limits import FIGURE_BYTES, Movement
from app.ui.movement.aggregate import topics_by_members
from app.ui.movement.flow import flow, streams
from app.ui.movement.steps import GAINED, KEPT, NO_CELL
from app.ui.movement.tiles import mosaic, tiles
from app.ui.theme import DARK, LIGHT
from tests.app.ui.movement.ownerships import many, steps


def test_each_topic_begins_a_row_and_a_cell_is_a_partition() -> None:
    made = steps("aabbb", "abbbb", topics={"orders": 2, "payments": 3})
    fig = tiles(made, 1, LIGHT).figure
    assert fig.data[0].z.tolist() == [[KEPT, GAINED, NO_CELL], [KEPT, KEPT, KEPT]]
    assert fig.data[0].customdata[1][2] == "payments-2"
    assert fig.layout.yaxis.ticktext == ("orders", "payments")
    assert [frame.name for frame in fig.frames] == ["1", "2"]
    assert fig.layout.updatemenus[0].buttons[0].args[1]["frame"]["redraw"] is True


def test_very_many_topics_flow_on_without_gaps() -> None:
    places = mosaic(many(6_000, 10, 1, topics=600))
    assert (places.rows, places.columns, places.topics) == (60, 100, ())
    assert "600 topics in order of name" in tiles(many(6_000, 10, 1, topics=600), 0, LIGHT).caption


def test_a_window_of_the_largest_tile_figure_stays_in_the_budget() -> None:
    made = many(10_000, 60, 200, topics=10)
    choice = limits.movement(10_000, 60, 10_000, len(made), 0)
    assert choice.encoding is Movement.GRID
    picture = tiles(made.window(choice.first, choice.last), 0, LIGHT)
    assert len(picture.figure.to_json().encode()) < FIGURE_BYTES
    assert picture.alt


def test_counts_per_topic_and_member_show_what_came_and_what_went() -> None:
    made = steps("aabbb", "abaab", topics={"orders": 2, "payments": 3})
    fig = topics_by_members(made, 1, LIGHT).figure
    assert fig.data[0].z.tolist() == [[-1, 1], [2, -2]]
    assert fig.data[0].customdata.tolist() == [[[0, 1], [1, 0]], [[2, 0], [0, 2]]]
    assert fig.data[0].text == (["orders · a", "orders · b"], ["payments · a", "payments · b"])
    assert (fig.data[0].zmin, fig.data[0].zmax) == (-2, 2)


def test_a_first_assignment_does_not_flatten_the_colours_of_what_follows() -> None:
    fig = topics_by_members(steps("aaaaab", "aaaabb", before="......"), 1, LIGHT).figure
    assert fig.data[0].zmax == 1


def test_a_window_of_the_largest_table_stays_in_the_budget() -> None:
    made = many(100_000, 300, 100, topics=100)
    choice = limits.movement(100_000, 300, 100_000, len(made), 50)
    assert choice.encoding is Movement.AGGREGATE
    picture = topics_by_members(made.window(choice.first, choice.last), 0, LIGHT)
    assert picture.figure.data[0].z.shape == (40, 40)
    assert picture.caption == "60 topics with fewer changes not shown · 260 members with fewer changes not shown"
    assert len(picture.figure.to_json().encode()) < FIGURE_BYTES


def test_streams_join_former_and_new_owners() -> None:
    found = streams(steps("aaabb.", "acc.ba"), 1)
    assert (found.givers, found.takers) == (("unassigned", "a", "b"), ("unassigned", "a", "c"))
    assert list(zip(found.sources.tolist(), found.targets.tolist(), found.sizes.tolist(), strict=True)) == [
        (0, 1, 1),
        (1, 2, 2),
        (2, 0, 1),
    ]


def test_a_stream_that_ends_without_an_owner_has_the_colour_of_what_is_revoked() -> None:
    sankey = flow(steps("aab", "b.b"), 1, LIGHT).figure.data[0]
    assert list(sankey.node.label) == ["a 2", "unassigned 1", "b 1"]
    assert list(sankey.link.color) == ["rgba(213,94,0,0.4)", "rgba(0,114,178,0.4)"]


@pytest.mark.parametrize(("members", "names"), [(16, 16), (17, 13), (500, 13)])
def test_beyond_16_members_the_smaller_ones_are_summed(members: int, names: int) -> None:
    made = many(100_001, members, 1)
    made = replace(made, start=(made.owners[0] + 1) % members)
    found = streams(made, 0)
    assert len(found.givers) == len(found.takers) == names
    assert found.sizes.sum() == 100_001
    assert (found.givers[-1] == f"other ({members - 12})") == (members > 16)


def test_a_step_without_moves_says_so() -> None:
    picture = flow(steps("ab", "ab"), 1, DARK)
    assert [note.text for note in picture.figure.layout.annotations] == ["no partition moved"]
    assert picture.caption == "2 partitions kept the same owner"
    assert picture.alt == "Generation 2: event 2; none of 2 partitions moved."


def test_the_place_of_a_cell_never_changes() -> None:
    made = many(2_000, 10, 3, topics=2)
    fig = tiles(made, 0, LIGHT).figure
    for at, frame in enumerate(fig.frames):
        assert np.count_nonzero(frame.data[0].z == GAINED) == int((made.kinds(at) == GAINED).sum())
