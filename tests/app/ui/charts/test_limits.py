"""Which animation a size gets, why, and how many generations fit into one figure."""

from typing import Any

import pytest

from app.ui.charts import limits
from app.ui.charts.limits import Movement


@pytest.mark.parametrize(
    ("partitions", "members", "movers", "encoding", "why"),
    [
        (1_000, 50, 900, Movement.TOKENS, "showing all 1,000 partitions"),
        (1_001, 50, 1_001, Movement.GRID, "showing all 1,001 partitions, a cell each"),
        (1_000, 51, 900, Movement.GRID, "showing all 1,000 partitions, a cell each"),
        (8_000, 50, 640, Movement.MOVERS, "showing 640 of 8,000 partitions: those that moved"),
        (8_000, 51, 640, Movement.GRID, "showing all 8,000 partitions, a cell each"),
        (8_000, 50, 0, Movement.GRID, "showing all 8,000 partitions, a cell each"),
        (100_000, 40, 1_000, Movement.MOVERS, "showing 1,000 of 100,000 partitions: those that moved"),
        (10_000, 50, 1_001, Movement.GRID, "showing all 10,000 partitions, a cell each"),
        (
            10_001,
            50,
            1_001,
            Movement.AGGREGATE,
            "showing counts: 10,001 partitions are too many to draw one by one",
        ),
    ],
)
def test_the_animation_follows_the_size(partitions: int, members: int, movers: int, encoding: Any, why: str) -> None:
    choice = limits.movement(partitions, members, movers, 10, 0)
    assert (choice.encoding, choice.why, choice.first, choice.last) == (encoding, why, 0, 10)


def test_more_generations_than_the_budget_holds_become_a_window_around_the_current_one() -> None:
    choice = limits.movement(1_000, 50, 900, 1_000, current=500)
    assert choice.first <= 500 < choice.last
    assert choice.last - choice.first < 1_000
    assert choice.why == (
        f"showing all 1,000 partitions; generations {choice.first + 1:,} to {choice.last:,} of 1,000 at a time"
    )


@pytest.mark.parametrize(
    ("generations", "current", "most", "window"),
    [
        (10, 5, 20, (0, 10)),
        (10, 0, 4, (0, 4)),
        (10, 5, 4, (3, 7)),
        (10, 9, 4, (6, 10)),
        (10, 9, 0, (8, 10)),
    ],
)
def test_a_window_is_as_long_as_it_may_be_and_holds_the_current_generation(
    generations: int, current: int, most: int, window: Any
) -> None:
    assert limits.window(generations, current, most) == window
