"""The clock, the event heap and timers."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation import kernel as kernels
from assignors.simulation.kernel import EventLimitError, Kernel, Timers


def test_events_run_at_their_time_and_in_the_order_of_scheduling_within_a_millisecond() -> None:
    kernel, seen = Kernel(now_ms=100), list[tuple[str, int]]()
    for name, delay_ms in (("late", 30), ("first", 10), ("second", 10)):
        kernel.after(delay_ms, partial(lambda it: seen.append((it, kernel.now_ms)), name))
    kernel.run_until(129)
    assert (seen, kernel.now_ms) == ([("first", 110), ("second", 110)], 129)
    kernel.run_until(130)
    assert seen[2:] == [("late", 130)]


def test_an_event_may_cause_one_at_the_same_millisecond() -> None:
    kernel, seen = Kernel(), list[int]()
    kernel.after(5, lambda: kernel.after(0, lambda: seen.append(kernel.now_ms)))
    kernel.run_until(5)
    assert seen == [5]


def test_the_past_cannot_be_scheduled() -> None:
    with pytest.raises(ValueError, match="delay_ms is -1"):
        Kernel().after(-1, lambda: None)


def test_the_clock_never_runs_back() -> None:
    kernel = Kernel(now_ms=50)
    kernel.run_until(10)
    assert kernel.now_ms == 50


def test_a_story_whose_clock_stands_still_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MOST_EVENTS_AT_ONCE", 1000)
    kernel = Kernel()

    def again() -> None:
        kernel.after(0, again)

    kernel.after(7, again)
    with pytest.raises(EventLimitError, match=r"more than 1,000 events in the millisecond at 0\.007 s"):
        kernel.run_until(8)


def test_a_story_that_goes_on_and_on_is_stopped_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MOST_EVENTS", 1000)
    kernel = Kernel()

    def again() -> None:
        kernel.after(3, again)

    kernel.after(0, again)
    kernel.run_until(2_000)
    with pytest.raises(EventLimitError, match=r"more than 1,000 events by 3\.000 s"):
        kernel.run_until(10_000)
    assert kernel.now_ms == 3_000


def test_many_events_at_many_times_are_no_endless_story(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MOST_EVENTS_AT_ONCE", 3)
    kernel, seen = Kernel(), list[int]()
    for at_ms in range(100):
        for _ in range(3):
            kernel.after(at_ms, lambda: seen.append(kernel.now_ms))
    kernel.run_until(100)
    assert len(seen) == 300


def test_arming_a_timer_again_replaces_it() -> None:
    kernel, seen = Kernel(), list[str]()
    timers = Timers(kernel)
    timers.arm("session", 10, lambda: seen.append("old"))
    kernel.run_until(5)
    timers.arm("session", 10, lambda: seen.append("new"))
    assert timers.deadlines_ms == {"session": 15}
    kernel.run_until(14)
    assert seen == []
    kernel.run_until(15)
    assert (seen, timers.deadlines_ms) == (["new"], {})


def test_disarmed_timers_do_nothing() -> None:
    kernel, seen = Kernel(), list[str]()
    timers = Timers(kernel)
    for key in ("a", "b", "c"):
        timers.arm(key, 10, partial(seen.append, key))
    timers.disarm("b")
    timers.disarm("unknown")
    kernel.run_until(10)
    assert seen == ["a", "c"]
    timers.arm("d", 10, lambda: seen.append("d"))
    timers.disarm_all()
    kernel.run_until(20)
    assert seen == ["a", "c"]


def test_actors_with_equal_keys_do_not_disturb_each_other() -> None:
    kernel, seen = Kernel(), list[str]()
    old, new = Timers(kernel), Timers(kernel)
    old.arm("join", 10, lambda: seen.append("old"))
    new.arm("join", 10, lambda: seen.append("new"))
    old.disarm_all()
    kernel.run_until(10)
    assert seen == ["new"]


def test_many_new_deadlines_of_one_timer_are_one_event_in_the_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MOST_EVENTS_AT_ONCE", 1)
    kernel, seen = Kernel(), list[int]()
    timers = Timers(kernel)
    for _ in range(100):
        timers.arm("session", 10, lambda: seen.append(kernel.now_ms))
    kernel.run_until(9)
    timers.arm("session", 10, lambda: seen.append(kernel.now_ms))
    kernel.run_until(100)
    assert seen == [19]


OPERATIONS = st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 5), st.integers(0, 3))


@given(st.lists(OPERATIONS, max_size=30))
def test_timers_fire_in_the_order_in_which_they_were_armed_last(operations: list[tuple[str, int | None, int]]) -> None:
    """The rule, from the list alone: of each key the last arming before its time counts; ties go by turn."""
    kernel, seen = Kernel(), list[tuple[str, int, int]]()
    timers = Timers(kernel)
    armed: dict[str, tuple[int, int]] = {}
    expected: list[tuple[str, int, int]] = []

    def due(until_ms: int) -> None:
        ready = sorted((key for key in armed if armed[key][0] <= until_ms), key=lambda key: armed[key])
        expected.extend((key, *armed.pop(key)) for key in ready)

    for turn, (key, delay_ms, then_ms) in enumerate(operations):
        if delay_ms is None:
            timers.disarm(key)
            armed.pop(key, None)
        else:
            made = (kernel.now_ms + delay_ms, turn)
            timers.arm(key, delay_ms, partial(seen.append, (key, *made)))
            armed[key] = made
        kernel.run_until(kernel.now_ms + then_ms)
        due(kernel.now_ms)
    kernel.run_until(kernel.now_ms + 5)
    due(kernel.now_ms)
    assert seen == expected
