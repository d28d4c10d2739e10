"""When the time is over, every connection of the exchange is hung up, also one that is opened only then."""

import socket
import threading
from collections.abc import Iterator

import pytest

from lag.deadline import Deadline, DeadlinePassed, within

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    theirs.settimeout(5)
    with ours, theirs:
        yield ours, theirs


def test_connections_that_are_open_at_the_deadline_are_closed(pair: Pair) -> None:
    limit = Deadline()
    limit.add(pair[0])
    limit.hang_up()
    assert (limit.passed, pair[1].recv(1)) == (True, b"")


def test_connections_opened_after_the_deadline_are_closed_at_once(pair: Pair) -> None:
    limit = Deadline()
    limit.hang_up()
    limit.add(pair[0])
    assert pair[1].recv(1) == b""


def test_a_connection_that_is_closed_already_does_not_keep_the_others(pair: Pair) -> None:
    limit, closed = Deadline(), socket.socket()
    closed.close()
    limit.add(closed)
    limit.add(pair[0])
    limit.hang_up()
    assert pair[1].recv(1) == b""


def test_what_is_complete_in_time_is_returned_or_raised() -> None:
    def refuse(_limit: Deadline) -> None:
        raise ValueError("no")

    assert within(20, lambda limit: limit.passed) is False
    with pytest.raises(ValueError, match=r"^no$"):
        within(20, refuse)


def test_nobody_waits_longer_than_the_deadline(pair: Pair) -> None:
    limits, released = list[Deadline](), threading.Event()

    def hang(limit: Deadline) -> None:
        limits.append(limit)
        limit.add(pair[0])
        released.wait(20)

    with pytest.raises(DeadlinePassed):
        within(0.05, hang)
    assert (limits[0].passed, pair[1].recv(1)) == (True, b"")
    released.set()
