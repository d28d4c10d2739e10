"""What is due in the demo's one process, on a clock of our own."""

from types import SimpleNamespace

import pytest

from lag.pipeline import combined
from lag.pipeline.combined import AGAIN_S, Due


def test_what_found_nothing_to_do_is_tried_again_soon_and_what_did_something_only_when_it_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first roll-ups wait for the stream; a minute after one that wrote something the next is due."""
    clock, done, answers = [0.0], [], iter([False, False, True, True])

    def do() -> bool:
        done.append(clock[0])
        return next(answers)

    monkeypatch.setattr(combined, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    due = Due(do, 60.0, 0.0)
    for second in range(80):
        clock[0] = float(second)
        due()
    assert done == [0.0, AGAIN_S, 2 * AGAIN_S, 2 * AGAIN_S + 60.0]
