"""The words of the pages: one table of verdicts, one of problems, used everywhere.

A verdict never stands as a colour alone: it has a symbol and a word. The symbols ascend by code point in the order of
urgency, so that a table sorted by its verdict column is sorted by urgency.
"""

from dataclasses import dataclass
from typing import Literal

from lag.model import GroupType
from lag.offsets import PartitionProblem
from lag.verdict.health import URGENCY, Status

Colour = Literal["red", "orange", "yellow", "violet", "blue", "green", "gray"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one status is shown: symbol, word, theme colour, and what it means to somebody who sees it first."""

    symbol: str
    word: str
    colour: Colour
    attention: bool
    meaning: str
    advice: str

    @property
    def label(self) -> str:
        """Symbol and word, as in tables and chips."""
        return f"{self.symbol} {self.word}"


VERDICTS: dict[Status, Verdict] = {
    Status.STOPPED: Verdict(
        "■",
        "Stopped",
        "red",
        True,
        "The group has lag and made no commit on any partition in the whole window.",
        "Look at the consumers' logs and processes: they are gone, frozen, or process without committing.",
    ),
    Status.STALLED: Verdict(
        "□",
        "Stalled",
        "red",
        True,
        "This partition has lag and its committed offset did not move, while others of the group did.",
        "Look at the member that owns it: a record it cannot process, or one slow thread.",
    ),
    Status.LOST: Verdict(
        "▲",
        "Records lost",
        "red",
        True,
        "The committed offset lies below the log start: Kafka deleted records before the group had read them.",
        "Raise the topic's retention or speed the group up; the lost records can only come from another source.",
    ),
    Status.BEYOND_END: Verdict(
        "▷",
        "Beyond the end",
        "orange",
        True,
        "The committed offset lies beyond the log end: the topic was recreated or truncated after the commit.",
        "Reset the group's offset on these partitions; until the log grows past it the group reads nothing.",
    ),
    Status.REWOUND: Verdict(
        "▼",
        "Rewound",
        "orange",
        True,
        "The committed offset moved backwards: records are being read a second time.",
        "Expected after a reset or a replay; otherwise two consumers commit against each other.",
    ),
    Status.FALLING_BEHIND: Verdict(
        "▽",
        "Falling behind",
        "orange",
        True,
        "The group commits, but records arrive faster: the lag grows.",
        "Add members (up to one per partition), or make the processing of a record cheaper.",
    ),
    Status.NEVER_COMMITTED: Verdict(
        "◁",
        "Never committed",
        "orange",
        True,
        "The partition belongs to the group's topics, but no offset was ever committed for it.",
        "Check that its member commits at all; after a restart it would begin at auto.offset.reset.",
    ),
    Status.HELD: Verdict(
        "◆",
        "Held",
        "yellow",
        True,
        "The group has read up to the last stable offset; an open transaction of a producer holds the rest back.",
        "Find the producer whose transaction stays open, and let it commit or abort (or wait for its timeout).",
    ),
    Status.NO_MEMBERS: Verdict(
        "◇",
        "No members",
        "gray",
        False,
        "Records wait, and the group has no member that could read them.",
        "Start its consumers, or delete the group if nobody needs it.",
    ),
    Status.CATCHING_UP: Verdict(
        "◉",
        "Catching up",
        "blue",
        False,
        "The group has lag, and reads faster than records arrive.",
        "Nothing to do: wait for the time in “drains in”.",
    ),
    Status.TOPIC_DELETED: Verdict(
        "○",
        "Topic deleted",
        "gray",
        False,
        "Commits are left for a topic that is gone.",
        "Delete these offsets when the topic will not come back.",
    ),
    Status.UNKNOWN: Verdict(
        "◌",
        "Unknown",
        "violet",
        False,
        "Not enough was read to judge.",
        "See the reason beside it.",
    ),
    Status.OK: Verdict(
        "●",
        "OK",
        "green",
        False,
        "The group keeps up.",
        "Nothing to do.",
    ),
}

RANK: dict[Status, int] = {status: at for at, status in enumerate(URGENCY)}
"""0 is most urgent."""

PROBLEMS: dict[PartitionProblem, str] = {
    PartitionProblem.NO_COMMIT: "never committed: there is no position to measure from",
    PartitionProblem.BELOW_LOG_START: "committed below the log start: lag counts from the log start, the rest is lost",
    PartitionProblem.BEYOND_END: "committed beyond the log end: the topic was recreated or truncated",
    PartitionProblem.TOPIC_DELETED: "the topic is gone, the commit was left behind",
    PartitionProblem.LEADERLESS: "the partition has no leader: no broker can tell its end",
    PartitionProblem.UNAUTHORIZED: "not authorised: grant DESCRIBE on the topic",
    PartitionProblem.TIMEOUT: "its broker did not answer in time",
    PartitionProblem.ERROR: "the broker answered with an error",
}

TYPES: dict[GroupType, str] = {
    GroupType.CLASSIC: "Classic",
    GroupType.CONSUMER: "Consumer",
    GroupType.SHARE: "Share",
    GroupType.STREAMS: "Streams",
    GroupType.UNKNOWN: "Unknown",
}

TYPE_MEANING: dict[GroupType, str] = {
    GroupType.CLASSIC: "classic protocol: the members compute the assignment",
    GroupType.CONSUMER: "KIP-848 protocol: the broker computes the assignment",
    GroupType.SHARE: "share group (KIP-932): members share the records of a partition",
    GroupType.STREAMS: "streams group (KIP-1071)",
    GroupType.UNKNOWN: "type not known",
}


def badge(status: Status) -> str:
    """The verdict as a Markdown badge."""
    verdict = VERDICTS[status]
    return f":{verdict.colour}-badge[{verdict.label}]"


def needs_attention(status: Status) -> bool:
    """Whether somebody should look at it now."""
    return VERDICTS[status].attention
