"""Every verdict in one entry: its words, colours and number, how serious it is, and when it alerts.

To add one: its name in `Status`, by urgency, and its entry here. Pages, alerts, notices, the history and the
documentation read it from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from lag.verdict.status import Status


class Severity(IntEnum):
    """How serious a verdict is for the person on call, in alerts and in notices. A higher number is more serious."""

    INFO = 1
    WARNING = 2
    CRITICAL = 3

    @property
    def word(self) -> str:
        """As in files and messages: `critical`."""
        return self.name.lower()


SEVERITIES: Mapping[str, Severity] = {severity.word: severity for severity in Severity}


@dataclass(frozen=True, slots=True)
class Fills:
    """The fill of an area in the light and in the dark theme."""

    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a status is, everywhere.

    `label` is a symbol and a word: a verdict is never shown as a colour alone. The symbols ascend by code point in the
    order of urgency, so a table sorted by its verdict column is sorted by urgency. `rule` is the condition that gives
    it, with names of `OffsetTerms`. `stored` is its number in the history's tables: a new one takes the next free
    number, however urgent it is. `severity` is None for what is never an alert or a notice. `holds`: for how long it
    must hold before its alert fires; None: it has no alert, and needs nobody. `decides`: it begins or ends an incident.
    """

    label: str
    fills: Fills
    meaning: str
    advice: str
    rule: str
    stored: int
    severity: Severity | None = None
    holds: str | None = None
    decides: bool = True

    @property
    def symbol(self) -> str:
        """The symbol alone."""
        return self.label[0]

    @property
    def word(self) -> str:
        """The word alone."""
        return self.label[2:]


VERDICTS: Mapping[Status, Verdict] = {
    Status.STOPPED: Verdict(
        "■ Stopped",
        Fills("#8C1D04", "#FFA68C"),
        "The group has lag and committed nothing on any partition in the whole window.",
        "Check the consumers' processes and logs: they may be down, stuck, or processing records without committing.",
        "records waited in every poll, and no {offset} of the group moved",
        0,
        Severity.CRITICAL,
        holds="5m",
    ),
    Status.STALLED: Verdict(
        "□ Stalled",
        Fills("#B8380C", "#F47A54"),
        "This partition has lag and its committed offset did not move, while others of the group did.",
        "Check the member that owns it: it may be failing on the same record repeatedly, or be stuck.",
        "records waited in every poll and the {offset} did not move, while others of the group did",
        1,
        Severity.CRITICAL,
        holds="5m",
    ),
    Status.LOST: Verdict(
        "▲ Records lost",
        Fills("#E26A33", "#C44A27"),
        "The committed offset is below the log start: Kafka deleted records before the group read them.",
        "Find out what deletes the records, then keep them longer or make the group faster. Lost records can only be "
        "restored from elsewhere.",
        "the {offset} is below the log start",
        2,
        Severity.CRITICAL,
        holds="0m",
    ),
    Status.BEYOND_END: Verdict(
        "▷ Beyond the end",
        Fills("#EE8A45", "#E8A33D"),
        "The committed offset is beyond the log end: the topic was recreated or truncated after the commit.",
        "Reset the group's offsets on these partitions. Otherwise auto.offset.reset decides where its consumers start.",
        "the {offset} is beyond the log end",
        3,
        Severity.CRITICAL,
        holds="1m",
    ),
    Status.NO_PARTITIONS: Verdict(
        "▻ No partitions",
        Fills("#D98AA5", "#B5627F"),
        "The group has no partition to read, although it has members, or had them until its topics were deleted.",
        "Create the topic, or correct the subscription of its members. Stop them if they are no longer needed.",
        "no member of the group owns a partition that exists",
        14,
        Severity.WARNING,
        holds="15m",
    ),
    Status.REWOUND: Verdict(
        "▼ Rewound",
        Fills("#F4A35C", "#C4842A"),
        "The committed offset moved backwards: records are read a second time.",
        "Check whether its offsets were reset on purpose. If not, two consumers may be committing for one partition.",
        "the {offset} moved backwards and is still below its highest value",
        4,
        Severity.WARNING,
        holds="0m",
    ),
    Status.FALLING_BEHIND: Verdict(
        "▽ Falling behind",
        Fills("#F7BE82", "#946016"),
        "The group commits, but records arrive faster: the lag grows.",
        "Speed up processing, or add members. If every partition already has its own member, add partitions too.",
        "the lag grew, and records arrive faster than they are {done}",
        5,
        Severity.WARNING,
        holds="15m",
    ),
    Status.NEVER_COMMITTED: Verdict(
        "◁ Never committed",
        Fills("#E9BD4E", "#BFA445"),
        "The partition belongs to the group's topics, but has no committed offset.",
        "Check that a member reads and commits it. After a restart, auto.offset.reset decides where it starts.",
        "the partition has records and no {offset}",
        6,
        Severity.WARNING,
        holds="15m",
    ),
    Status.FLAPPING: Verdict(
        "◅ Flapping",
        Fills("#A97FBC", "#8F6AA3"),
        "Verdicts of the group opened and closed more often than the policy allows.",
        "Look for a cause that comes and goes: restarts, rebalances, bursts. Or increase open_polls and close_polls.",
        "verdicts opened more often than the policy allows",
        13,
        Severity.WARNING,
        holds="0m",
    ),
    Status.HELD: Verdict(
        "◆ Held",
        Fills("#F7E29A", "#7D6A28"),
        "The group has read up to the last stable offset. A producer's open transaction holds back the rest.",
        "Find the producer, and let it commit or abort its transaction, or wait for the transaction timeout.",
        "the group has read up to the last stable offset; an open transaction holds back the rest",
        7,
        Severity.WARNING,
        holds="15m",
    ),
    Status.NO_MEMBERS: Verdict(
        "◇ No members",
        Fills("#8D96A3", "#99A1AC"),
        "Records are waiting, and the group has no members.",
        "Start its consumers, or delete the group if it is no longer needed.",
        "records wait, and the group has no members",
        8,
        Severity.WARNING,
        holds="15m",
    ),
    Status.WATCHING: Verdict(
        "◈ Watching",
        Fills("#EAF1F6", "#2B3A46"),
        "The group has not committed for longer than usual, or its lag has just jumped: no alarm yet.",
        "Wait a few polls: it goes on, or gets another verdict.",
        "the {offset} has not moved for longer than usual, or the lag has just jumped",
        15,
        decides=False,
    ),
    Status.CATCHING_UP: Verdict(
        "◉ Catching up",
        Fills("#6FADD6", "#4A92C2"),
        "The group has lag and reads faster than records arrive.",
        "Nothing to do: the lag is gone after the time in “Drains in”.",
        "the lag shrank, and records are {done} faster than they arrive",
        9,
        Severity.INFO,
    ),
    Status.TOPIC_DELETED: Verdict(
        "○ Topic deleted",
        Fills("#C2C8CF", "#5A626D"),
        "Partitions that the group has committed or owns no longer exist: their topic was deleted.",
        "If the topic will not come back, remove it from the consumers' subscription: its offsets then expire.",
        "the topic no longer exists",
        10,
        Severity.INFO,
        holds="1h",
    ),
    Status.UNKNOWN: Verdict(
        "◌ Unknown",
        Fills("#CFA5C6", "#B07FAC"),
        "Too little is known for a verdict.",
        "The evidence says what is missing.",
        "the lag is unknown",
        11,
        Severity.INFO,
        holds="15m",
        decides=False,
    ),
    Status.OK: Verdict(
        "● OK",
        Fills("#D5EBDF", "#23493A"),
        "The group keeps up.",
        "Nothing to do.",
        "no rule fired",
        12,
    ),
}

STORED: dict[Status, int] = {status: its.stored for status, its in VERDICTS.items()}
"""Their numbers in the history's tables."""

UNDECIDED = frozenset(status for status, its in VERDICTS.items() if not its.decides)
"""Verdicts that neither begin an incident nor end it."""

INCIDENTS: Mapping[Status, Severity] = {
    status: its.severity for status, its in VERDICTS.items() if its.decides and its.severity is not None
}
"""Verdicts of which notices are sent."""

CALM = frozenset(status for status, its in VERDICTS.items() if its.holds is None)
"""Verdicts that need nobody, and have no alert."""
