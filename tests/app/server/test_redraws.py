"""Many open pages share the turns in which they redraw."""

from collections import Counter

import pytest

from app.server.redraws import BURST, LAPSES_AFTER_S, SHARE, RedrawTurns

TICK_S = 2.0
COST_S = 0.1


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def turns_of(pages: int, seconds: float, clock: Clock, turns: RedrawTurns) -> Counter[str]:
    """How often each page redraws if it is always outdated. Their ticks are spread over TICK_S."""
    found: Counter[str] = Counter({str(page): 0 for page in range(pages)})
    end_s = clock.now_s + seconds
    while clock.now_s < end_s:
        for page in range(pages):
            clock.now_s += TICK_S / pages
            found[str(page)] += turns.is_next(str(page))
    return found


def test_the_pages_of_a_few_users_redraw_at_once() -> None:
    turns = RedrawTurns(Clock())
    assert [turns.is_next(str(page)) for page in range(BURST + 1)] == [True] * BURST + [False]


def test_one_page_is_never_kept_waiting() -> None:
    clock = Clock()
    assert turns_of(1, 60, clock, RedrawTurns(clock))["0"] == 60 / TICK_S


@pytest.mark.parametrize("pages", [20, 50, 200])
def test_many_pages_share_a_third_of_a_core_and_each_has_as_many_turns(pages: int) -> None:
    clock = Clock()
    found = turns_of(pages, 600, clock, RedrawTurns(clock))
    most = 600 * SHARE / COST_S + BURST + 1
    assert 0.75 * most <= found.total() <= most
    assert max(found.values()) - min(found.values()) <= 1


def test_pages_that_cost_more_have_fewer_turns() -> None:
    clock = Clock()
    turns = RedrawTurns(clock)
    for _ in range(100):
        turns.took(3 * COST_S)
    assert turns_of(50, 600, clock, turns).total() <= 600 * SHARE / (3 * COST_S) + BURST + 1


def test_the_turns_of_closed_pages_lapse() -> None:
    clock = Clock()
    turns = RedrawTurns(clock)
    for page in range(1000):
        turns.is_next(f"closed {page}")
    clock.now_s += 1000 * COST_S / SHARE + LAPSES_AFTER_S
    assert turns.is_next("open")
    assert list(turns._turn_s) == []
