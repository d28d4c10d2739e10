"""Tokens: who stands where, what never moves, and what a frame sends."""

from typing import Any

import numpy as np
import pytest

from app.ui.charts import limits
from app.ui.charts.limits import FIGURE_BYTES, Movement
from app.ui.movement.encoding import GLYPHS
from app.ui.movement.slots import MOST_ROWS, grid, lanes_of, slots_of
from app.ui.movement.steps import GAINED, KEPT, REVOKED
from app.ui.movement.tokens import tokens
from app.ui.theme import DARK, LIGHT, Palette
from tests.app.ui.movement.ownerships import many, steps

IN_TRANSIT, UNASSIGNED, NOWHERE = 2, 3, 4  # lanes after those of two members


def test_a_kept_partition_never_changes_its_place() -> None:
    made = many(1_000, 20, 12)
    places = grid(made)
    for at in range(1, len(made)):
        kept = made.kinds(at) == KEPT
        assert kept.sum() == 900
        assert np.array_equal(places.x[at][kept], places.x[at - 1][kept])
        assert np.array_equal(places.y[at][kept], places.y[at - 1][kept])


def test_no_two_tokens_share_a_place() -> None:
    places = grid(many(1_000, 20, 12))
    for x, y in zip(places.x, places.y, strict=True):
        assert len(set(zip(x.tolist(), y.tolist(), strict=True))) == 1_000


def test_newcomers_fill_the_lowest_free_slots() -> None:
    lanes = lanes_of(steps("aaabb", "abaab", "aaaab"))
    assert slots_of(lanes, 4).tolist() == [[0, 1, 2, 0, 1], [0, 0, 2, 1, 1], [0, 3, 2, 1, 1]]


def test_a_revoked_partition_waits_in_transit_only_for_the_next_round() -> None:
    assert lanes_of(steps("ab", "a.", "aa"))[:, 1].tolist() == [1, IN_TRANSIT, 0]
    assert lanes_of(steps("ab", "a.", "a."))[:, 1].tolist() == [1, UNASSIGNED, UNASSIGNED]


def test_what_does_not_exist_waits_below_the_last_lane() -> None:
    made = steps("ab-", "ab-", "abb")
    places = grid(made)
    assert lanes_of(made)[:, 2].tolist() == [NOWHERE, NOWHERE, 1]
    assert places.y[0, 2] > places.rows


def test_one_owner_of_everything_still_fits() -> None:
    rows = ["a" * 1_000, *(chr(98 + at) * 1_000 for at in range(20))]
    assert grid(steps(*rows)).rows <= MOST_ROWS


def test_there_is_a_frame_per_generation_named_by_its_number() -> None:
    fig = tokens(steps("ab", "aa", "bb"), 1, LIGHT).figure
    assert [frame.name for frame in fig.frames] == ["1", "2", "3"]
    assert [frame.traces for frame in fig.frames] == [(0, 1, 2)] * 3


def test_the_figure_stands_at_the_current_frame() -> None:
    fig = tokens(steps("ab", "aa", "bb"), 1, LIGHT).figure
    frame = fig.frames[1].data[0]
    assert fig.data[0].x.tolist() == frame.x.tolist()
    assert fig.data[0].y.tolist() == frame.y.tolist()
    assert fig.data[0].marker.color.tolist() == frame.marker.color.tolist() == [KEPT, GAINED]
    assert fig.data[2].text == ("2 · event 2  ▲ 1",)


def test_tokens_carry_symbol_and_number() -> None:
    fig = tokens(steps("abb", "aa."), 1, LIGHT).figure
    assert fig.data[0].text == ("0", "▲1", "▼2")
    assert fig.data[0].marker.color.tolist() == [KEPT, GAINED, REVOKED]
    assert fig.data[0].ids == ("t-0", "t-1", "t-2")
    assert all(frame.data[0].ids is None for frame in fig.frames)


def test_counts_beside_the_lanes_distinguish_idle_from_gone() -> None:
    fig = tokens(steps("aabc", "aabb", there="d"), 1, LIGHT).figure
    assert fig.data[1].text == ("2", "2", "gone", "idle")


def test_playing_glides_without_redrawing_from_the_next_generation_on() -> None:
    fig = tokens(steps("ab", "aa", "bb"), 1, LIGHT).figure
    names, how = fig.layout.updatemenus[0].buttons[0].args
    assert names == ("3",)
    assert how["frame"]["redraw"] is False
    assert how["transition"] == {"duration": 400, "easing": "cubic-in-out"}
    assert tokens(steps("ab", "aa"), 1, LIGHT).figure.layout.updatemenus[0].buttons[0].args[0] == ("1", "2")


def played(made: Any, at: int) -> Any:
    return tokens(made, at, LIGHT).figure.layout.updatemenus[0].buttons[0].args[0]


def test_playing_starts_at_the_next_generation_with_a_move() -> None:
    made = steps("ab", "ab", "ab", "aa", "aa")
    assert (made.first_move(), made.first_move(3)) == (3, None)
    assert played(made, 0) == ("4", "5")
    assert played(made, 4) == ("3", "4", "5")
    assert played(steps("ab", "ab"), 1) == ("1", "2")


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_the_buttons_have_a_fill_for_dark_text_in_both_themes(colours: Palette) -> None:
    menu = tokens(steps("ab", "aa"), 1, colours).figure.layout.updatemenus[0]
    assert menu.bgcolor == (LIGHT.grid if colours is LIGHT else DARK.gained)
    assert menu.font.color == LIGHT.text


def test_axes_are_fixed() -> None:
    fig = tokens(many(200, 5, 4), 0, LIGHT).figure
    assert (fig.layout.xaxis.autorange, fig.layout.yaxis.autorange) == (None, None)
    assert fig.layout.xaxis.range is not None
    assert fig.layout.yaxis.range is not None


@pytest.mark.parametrize("every", [1, 10])
def test_a_window_of_the_largest_token_figure_stays_in_the_budget(every: int) -> None:
    made = many(1_000, 50, 200, topics=20, every=every)
    choice = limits.movement(1_000, 50, 1_000, len(made), 150)
    assert choice.encoding is Movement.TOKENS
    window = made.window(choice.first, choice.last)
    picture = tokens(window, 150 - choice.first, LIGHT)
    assert len(picture.figure.to_json().encode()) < FIGURE_BYTES
    assert picture.figure.data[0].x.dtype == np.uint8
    assert picture.alt.startswith(f"Generations {window.names[0]} to {window.names[-1]}")
    assert set(GLYPHS.values()) >= set(picture.figure.data[0].text) - {""}
