"""Token buckets."""

from hypothesis import given
from hypothesis import strategies as st

from app.server.access.limits import TokenBuckets


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_client_may_ask_a_few_times_at_once_and_then_waits_for_the_next_token() -> None:
    clock = Clock()
    buckets = TokenBuckets(burst=3, every_s=2.0, clock_s=clock)
    assert [buckets.wait_s("a") for _ in range(5)] == [0, 0, 0, 2.0, 2.0]
    clock.now_s += 1.5
    assert buckets.wait_s("a") == 0.5
    clock.now_s += 0.5
    assert [buckets.wait_s("a"), buckets.wait_s("a")] == [0, 2.0]


def test_clients_do_not_wait_for_each_other() -> None:
    buckets = TokenBuckets(burst=1, every_s=2.0, clock_s=Clock())
    assert [buckets.wait_s(client) for client in ("a", "b", "a", "b")] == [0, 0, 2.0, 2.0]


def test_only_so_many_clients_are_remembered() -> None:
    buckets = TokenBuckets(burst=1, every_s=2.0, clock_s=Clock(), most_clients=2)
    assert [buckets.wait_s(client) for client in ("a", "b", "c", "a")] == [0, 0, 0, 0]


@given(st.lists(st.floats(0, 10), max_size=60), st.integers(1, 5), st.floats(0.5, 4))
def test_never_more_than_the_burst_and_one_every_so_often(pauses: list[float], burst: int, every_s: float) -> None:
    clock = Clock()
    buckets = TokenBuckets(burst, every_s, clock)
    taken = []
    for pause in pauses:
        clock.now_s += pause
        if not buckets.wait_s("a"):
            taken.append(clock.now_s)
    for at, first_s in enumerate(taken):
        for more, last_s in enumerate(taken[at:], 1):
            assert more <= burst + (last_s - first_s) / every_s + 1e-6
