"""What a new offset means, beside a consumer that reads a small log offset by offset."""

from hypothesis import given
from hypothesis import strategies as st

from lag.reset.planning.effect import NO_COMMIT, Effect, effect
from tests.lag.reset.make import position

SMALL = st.integers(0, 30)


@given(SMALL, SMALL, SMALL, SMALL)
def test_read_again_skipped_and_lag_are_what_a_consumer_finds(committed: int, to: int, start: int, size: int) -> None:
    end = start + size
    log = set(range(start, end))
    to_read_before = {offset for offset in log if offset >= committed}
    to_read_after = {offset for offset in log if offset >= to}
    found = effect(position(committed, start, end).lag, to)
    assert found.read_again == len(to_read_after - to_read_before)
    assert found.skipped == len(to_read_before - to_read_after)
    assert found.lag_after == (len(to_read_after) if to <= end else None)


def test_without_a_commit_it_depends_on_auto_offset_reset() -> None:
    assert effect(position(None, 0, 100).lag, 40) == Effect(None, None, 60, NO_COMMIT)


def test_without_the_ends_of_the_log_nothing_is_known() -> None:
    found = effect(position(5, None, None).lag, 4)
    assert (found.read_again, found.skipped, found.lag_after) == (None, None, None)
    assert found.note
