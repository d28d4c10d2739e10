"""The stories of the watermark lab, as actions; the same actions are told under other settings."""

from dataclasses import dataclass

from assignors.labs.watermark.model import (
    Action,
    Crash,
    Fetch,
    PowerCut,
    Produce,
    Restart,
    Settings,
    Start,
    Timing,
    Truncation,
    Wait,
)

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

TOO_FEW: tuple[Action, ...] = (
    Produce("m0"),
    Fetch("B"),
    Fetch("B"),
    Crash("B"),
    Produce("m1"),
    Produce("m2", acks_all=False),
    Start("B"),
    Fetch("B"),
    Fetch("B"),
)
"""B dies: acks=all is refused, acks=1 is not, and nobody can read it until B is back."""

SHRINKS: tuple[Action, ...] = (Produce("m0"), Crash("B"), Wait(30_000))
"""The ISR shrinks below the minimum between the append and the acknowledgement."""

RESTART: tuple[Action, ...] = (Produce("m0"), Fetch("B"), Produce("m1"), Fetch("B"), Restart("B"), Fetch("B"))
"""B restarts before it has seen the high watermark that covers m1."""

ONE_ACK: tuple[Action, ...] = (Produce("m0", acks_all=False), Crash("A"))
"""acks=1 is acknowledged by the leader alone."""

ISR_ONLY: tuple[Action, ...] = (
    Produce("m0"),
    Fetch("B"),
    Fetch("B"),
    Crash("C"),
    Fetch("B"),
    Produce("m1"),
    Fetch("B"),
    Fetch("B"),
    Start("C"),
    Fetch("C"),
    Fetch("C"),
)
"""C holds the high watermark back while it is in the ISR, and no longer when it is out."""


@dataclass(frozen=True, slots=True)
class Story:
    """A preset: `name` for links, `title` for people, `shows` in one sentence."""

    name: str
    title: str
    shows: str
    actions: tuple[Action, ...]
    settings: Settings = Settings()  # noqa: RUF009 - frozen
    replicas: tuple[str, ...] = ("A", "B")


_BY_HW = Settings(truncation=Truncation.HIGH_WATERMARK)
_TWO = Settings(min_insync_replicas=2)

STORIES: tuple[Story, ...] = (
    Story("t1-t4", "A record, and two fetches", "The leader learns what B has from B's next fetch.", T1_TO_T4),
    Story(
        "exact-timing",
        "The same with Kafka's exact timing",
        "A response with data carries the high watermark from before the fetch; an empty one waits for a newer one.",
        T1_TO_T4,
        Settings(timing=Timing.EXACT),
    ),
    Story(
        "isr-only",
        "Three replicas, one dies",
        "The high watermark waits for the ISR, not for all.",
        ISR_ONLY,
        replicas=("A", "B", "C"),
    ),
    Story(
        "loss",
        "Loss, before KIP-101",
        "B truncates to its own high watermark, and a committed record is gone.",
        LOSS,
        _BY_HW,
    ),
    Story("loss-epochs", "The same with leader epochs", "B keeps its log, because no leader says otherwise.", LOSS),
    Story(
        "divergence",
        "Divergence, before KIP-101",
        "Two replicas hold different records at one offset, for good.",
        DIVERGENCE,
        _BY_HW,
    ),
    Story(
        "divergence-epochs", "The same with leader epochs", "A finds where its log and the leader's part.", DIVERGENCE
    ),
    Story(
        "restart",
        "A follower restarts, before KIP-101",
        "It truncates, and fetches the same records again.",
        RESTART,
        _BY_HW,
    ),
    Story(
        "slow-follower",
        "A slow follower leaves the ISR",
        "It is out after replica.lag.time.max.ms, and back when it has caught up.",
        SLOW_FOLLOWER,
    ),
    Story(
        "too-few",
        "min.insync.replicas = 2, and one dies",
        "acks=all is refused; what acks=1 wrote stays unseen.",
        TOO_FEW,
        _TWO,
    ),
    Story(
        "shrinks", "The ISR shrinks after the append", "The record is there, and its producer times out.", SHRINKS, _TWO
    ),
    Story("one-ack", "acks=1, and the leader dies", "Acknowledged by one broker, and gone with it.", ONE_ACK),
    Story(
        "clean", "The last of the ISR dies", "Without unclean election there is no leader until it is back.", UNCLEAN
    ),
    Story(
        "unclean",
        "Unclean election",
        "There is a leader at once, and what the ISR had acknowledged is lost.",
        UNCLEAN,
        Settings(unclean_leader_election=True),
    ),
)
"""The first is T1 to T4 of the textbook."""
