"""The animation that a size gets, as the page asks for it."""

from dataclasses import replace

import numpy as np
import pytest

from app.charts.limits import FIGURE_BYTES
from app.charts.movement.animation import animation
from app.theme import DARK
from tests.app.charts.ownerships import many, steps


def few_move(partitions: int, movers: int):
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
def test_size_picks_the_animation_and_the_caption_says_why(made, kind, caption):
    picture = animation(made, 1, DARK)
    assert picture.figure.data[0].type == kind
    assert picture.caption == caption
    assert len(picture.figure.frames) == 2
    assert len(picture.figure.to_json().encode()) < FIGURE_BYTES


def test_movers_are_drawn_and_all_partitions_counted():
    picture = animation(few_move(8_000, 640), 1, DARK)
    assert len(picture.figure.data[0].x) == 640
    assert picture.figure.data[1].text == ("800",) * 10
    assert picture.alt == (
        "Generations 1 to 2, one after the other. Shown: Generation 2: member-001 joins; 640 of 8,000 partitions moved."
    )


def test_a_window_still_stands_at_the_current_generation():
    made = many(1_000, 50, 150, topics=5)
    picture = animation(made, 149, DARK)
    assert picture.figure.frames[-1].name == "150"
    assert picture.figure.data[2].text[0].startswith("150 · ")
    assert picture.caption.endswith("of 150 at a time")


def test_one_topic_of_a_large_group_gets_tokens_again():
    picture = animation(many(20_000, 10, 3, topics=40).topic("topic-0007"), 1, DARK)
    assert picture.caption == "showing all 500 partitions"
