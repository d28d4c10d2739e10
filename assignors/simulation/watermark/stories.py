"""The stories of the watermark lab, as actions; the same actions are told under other settings."""

from assignors.simulation.watermark.model import Action, Crash, Fetch, PowerCut, Produce, Restart, Start, Wait

T1_TO_T4: tuple[Action, ...] = (Produce("m0"), Fetch("B"), Fetch("B"))
"""LEO and high watermark of leader A and follower B, from empty to caught up."""

LOSS: tuple[Action, ...] = (
    Produce("m0"),
    Fetch("B"),
    Fetch("B"),
    Produce("m1"),
    Fetch("B"),
    Fetch("B", response_lost=True),
    Restart("B"),
    Crash("A"),
)
"""B has m1, but not yet the high watermark that covers it; it restarts, then A dies. KIP-101, scenario 1."""

DIVERGENCE: tuple[Action, ...] = (
    Produce("m0"),
    Fetch("B"),
    Produce("m1"),
    Fetch("B"),
    Fetch("B"),
    PowerCut({"B": 1}),
    Start("B"),
    Produce("m2"),
    Start("A"),
    Fetch("A"),
    Fetch("A"),
)
"""B loses m1 in a power cut, leads, and writes m2 in its place; A comes back with m1. KIP-101, scenario 2."""

SLOW_FOLLOWER: tuple[Action, ...] = (Produce("m0"), Wait(30_001), Produce("m1"), Fetch("B"), Fetch("B"))
"""B stops fetching and leaves the ISR after replica.lag.time.max.ms; once caught up it is back."""

UNCLEAN: tuple[Action, ...] = (Produce("m0"), Crash("B"), Produce("m1"), Crash("A"), Start("B"), Start("A"))
"""B is out of the ISR when A, the last in it, dies; only an unclean election lets B lead."""
