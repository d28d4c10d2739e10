"""The animation that a size gets, as the page asks for it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.ui.charts.limits import FIGURE_BYTES
from app.ui.movement.aggregate import topics_by_members
from app.ui.movement.animation import animation
from app.ui.movement.counts import members_by_generations
from app.ui.movement.flow import flow
from app.ui.movement.from_generations import steps_of
from app.ui.movement.step import one_step
from app.ui.movement.steps import Steps
from app.ui.movement.stills import generations_by_partitions
from app.ui.movement.tiles import tiles
from app.ui.movement.tokens import tokens
from app.ui.theme import DARK
from assignors.model import Member, Topic
from assignors.simulation.fold import fold
from assignors.whatif.events import Scenario
from tests.app.ui.movement.ownerships import many, steps


def few_move(partitions: int, movers: int) -> Steps:
    """A large group in whose second generation the first `movers` partitions go to the next member."""
    made = many(partitions, 10, 2)
    owners = np.array([made.start, made.start])
    owners[1, :movers] = (owners[1, :movers] + 1) % 10
    return replace(made, owners=owners)


@pytest.mark.parametrize(
    ("made", "kind", "caption"),
    [
        (steps("ab", "aa"), "scatter", "showing all 2 partitions"),
        (few_move(8_000, 640), "scatter", "showing 640 of 8,000 partitions: those that moved"),
        (
            few_move(8_000, 1_001),
            "heatmap",
            "showing all 8,000 partitions, a cell each",
        ),
        (
            few_move(20_000, 1_001),
            "heatmap",
            "showing counts: 20,000 partitions are too many to draw one by one",
        ),
    ],
)
def test_size_picks_the_animation_and_the_caption_says_why(made: Any, kind: str, caption: str) -> None:
    picture = animation(made, 1, DARK)
    assert picture.figure.data[0].type == kind
    assert picture.caption == caption
    assert len(picture.figure.frames) == 2
    assert len(picture.figure.to_json().encode()) < FIGURE_BYTES


def test_movers_are_drawn_and_all_partitions_counted() -> None:
    picture = animation(few_move(8_000, 640), 1, DARK)
    assert len(picture.figure.data[0].x) == 640
    assert picture.figure.data[1].text == ("800",) * 10
    assert "Generation 2: member-001 joins; 640 of 8,000 partitions moved" in picture.alt


def test_a_window_still_stands_at_the_current_generation() -> None:
    made = many(1_000, 50, 150, topics=5)
    picture = animation(made, 149, DARK)
    assert picture.figure.frames[-1].name == "150"
    assert picture.figure.data[2].text[0].startswith("150 · ")
    assert picture.caption.endswith("of 150 at a time")


def test_one_topic_of_a_large_group_gets_tokens_again() -> None:
    picture = animation(many(20_000, 10, 3, topics=40).topic("topic-0007"), 1, DARK)
    assert picture.caption == "showing all 500 partitions"


DRAW = [generations_by_partitions, members_by_generations, one_step, flow, animation, tokens, tiles, topics_by_members]


@pytest.mark.parametrize("draw", DRAW)
@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("nobody", "range", {"t": Topic("t", 3)}, ()),
        Scenario("no topic", "range", {}, (Member("a", topics=("x",)),)),
        Scenario("one of each", "sticky", {"t": Topic("t", 1)}, (Member("a", topics=("t",)),)),
        Scenario("shared", "share-simple", {"t": Topic("t", 2)}, tuple(Member(m, topics=("t",)) for m in "abc")),
    ],
    ids=lambda scenario: scenario.name,
)
def test_the_smallest_groups_are_drawn_and_say_something(draw: Any, scenario: Any) -> None:
    picture = draw(steps_of(fold(scenario)), 0, DARK)
    assert picture.figure.to_plotly_json()["layout"]["height"] > 0
    assert picture.alt.startswith(("Generation 1", "Generation 0"))
    assert picture.alt.endswith(".")
