"""The words of the pages for verdicts, problems of a partition, and group types.

A verdict is never shown as a colour alone: it has a symbol and a word. The symbols ascend by code point in the order of
urgency, so a table sorted by its verdict column is sorted by urgency.
"""

from dataclasses import dataclass

from app.ui.theme import Palette, blend, luminance
from lag.model import GroupType
from lag.offsets import PartitionProblem
from lag.verdict.offset_terms import offset_terms
from lag.verdict.status import URGENCY, Status


@dataclass(frozen=True, slots=True)
class Fills:
    """The fill of an area in the light and in the dark theme."""

    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a status is shown, everywhere: `label` is a symbol and a word, `fills` its colour."""

    label: str
    fills: Fills
    meaning: str
    advice: str

    @property
    def symbol(self) -> str:
        """The symbol alone."""
        return self.label[0]

    @property
    def word(self) -> str:
        """The word alone."""
        return self.label[2:]


VERDICTS: dict[Status, Verdict] = {
    Status.STOPPED: Verdict(
        "■ Stopped",
        Fills("#8C1D04", "#FFA68C"),
        "The group has lag and committed nothing on any partition in the whole window.",
        "Check the consumers' processes and logs: they may be down, stuck, or processing records without committing.",
    ),
    Status.STALLED: Verdict(
        "□ Stalled",
        Fills("#B8380C", "#F47A54"),
        "This partition has lag and its committed offset did not move, while others of the group did.",
        "Check the member that owns it: it may be failing on the same record repeatedly, or be stuck.",
    ),
    Status.LOST: Verdict(
        "▲ Records lost",
        Fills("#E26A33", "#C44A27"),
        "The committed offset is below the log start: Kafka deleted records before the group read them.",
        "Find out what deletes the records, then keep them longer or make the group faster. Lost records can only be "
        "restored from elsewhere.",
    ),
    Status.BEYOND_END: Verdict(
        "▷ Beyond the end",
        Fills("#EE8A45", "#E8A33D"),
        "The committed offset is beyond the log end: the topic was recreated or truncated after the commit.",
        "Reset the group's offsets on these partitions. Otherwise auto.offset.reset decides where its consumers start.",
    ),
    Status.NO_PARTITIONS: Verdict(
        "▻ No partitions",
        Fills("#D98AA5", "#B5627F"),
        "The group has no partition to read, although it has members, or had them until its topics were deleted.",
        "Create the topic, or correct the subscription of its members. Stop them if they are no longer needed.",
    ),
    Status.REWOUND: Verdict(
        "▼ Rewound",
        Fills("#F4A35C", "#C4842A"),
        "The committed offset moved backwards: records are read a second time.",
        "Check whether its offsets were reset on purpose. If not, two consumers may be committing for one partition.",
    ),
    Status.FALLING_BEHIND: Verdict(
        "▽ Falling behind",
        Fills("#F7BE82", "#946016"),
        "The group commits, but records arrive faster: the lag grows.",
        "Speed up processing, or add members. If every partition already has its own member, add partitions too.",
    ),
    Status.NEVER_COMMITTED: Verdict(
        "◁ Never committed",
        Fills("#E9BD4E", "#BFA445"),
        "The partition belongs to the group's topics, but has no committed offset.",
        "Check that a member reads and commits it. After a restart, auto.offset.reset decides where it starts.",
    ),
    Status.FLAPPING: Verdict(
        "◅ Flapping",
        Fills("#A97FBC", "#8F6AA3"),
        "Verdicts of the group opened and closed more often than the policy allows.",
        "Look for a cause that comes and goes: restarts, rebalances, bursts. Or increase open_polls and close_polls.",
    ),
    Status.HELD: Verdict(
        "◆ Held",
        Fills("#F7E29A", "#7D6A28"),
        "The group has read up to the last stable offset. A producer's open transaction holds back the rest.",
        "Find the producer, and let it commit or abort its transaction, or wait for the transaction timeout.",
    ),
    Status.NO_MEMBERS: Verdict(
        "◇ No members",
        Fills("#8D96A3", "#99A1AC"),
        "Records are waiting, and the group has no members.",
        "Start its consumers, or delete the group if it is no longer needed.",
    ),
    Status.WATCHING: Verdict(
        "◈ Watching",
        Fills("#EAF1F6", "#2B3A46"),
        "The group has not committed for longer than usual, or its lag has just jumped: no alarm yet.",
        "Wait a few polls: it goes on, or gets another verdict.",
    ),
    Status.CATCHING_UP: Verdict(
        "◉ Catching up",
        Fills("#6FADD6", "#4A92C2"),
        "The group has lag and reads faster than records arrive.",
        "Nothing to do: the lag is gone after the time in “Drains in”.",
    ),
    Status.TOPIC_DELETED: Verdict(
        "○ Topic deleted",
        Fills("#C2C8CF", "#5A626D"),
        "Partitions that the group has committed or owns no longer exist: their topic was deleted.",
        "If the topic will not come back, remove it from the consumers' subscription: its offsets then expire.",
    ),
    Status.UNKNOWN: Verdict(
        "◌ Unknown",
        Fills("#CFA5C6", "#B07FAC"),
        "Too little is known for a verdict.",
        "The evidence says what is missing.",
    ),
    Status.OK: Verdict(
        "● OK",
        Fills("#D5EBDF", "#23493A"),
        "The group keeps up.",
        "Nothing to do.",
    ),
}

NO_BREAK = "\u00a0"
BLACK, WHITE = "#000000", "#FFFFFF"
EQUAL_CONTRAST = 0.179
"""The luminance of a fill on which black and white text have the same contrast, 4.58:1."""

TINT = 0.3
"""The share of the fill in a tint: low enough that the text of a tag has a contrast of 4.5:1."""

RANK: dict[Status, int] = {status: at for at, status in enumerate(URGENCY)}
"""0 is most urgent."""

_NEEDS_ATTENTION = frozenset(URGENCY[: RANK[Status.HELD] + 1])

_PROBLEMS: dict[PartitionProblem, str] = {
    PartitionProblem.NO_COMMIT: "no {offset}",
    PartitionProblem.BELOW_LOG_START: "the {offset} is below the log start: lag counts from the log start",
    PartitionProblem.BEYOND_END: "the {offset} is beyond the log end: the topic was recreated or truncated",
    PartitionProblem.TOPIC_DELETED: "the partition no longer exists: its topic was deleted",
    PartitionProblem.LEADERLESS: "the partition has no leader, so its log end is not known",
    PartitionProblem.UNAUTHORIZED: "not authorised: grant DESCRIBE on the topic",
    PartitionProblem.TIMEOUT: "the broker did not answer in time",
    PartitionProblem.ERROR: "the broker answered with an error",
}

TYPES: dict[GroupType, str] = {
    GroupType.CLASSIC: "Classic",
    GroupType.CONSUMER: "Consumer",
    GroupType.SHARE: "Share",
    GroupType.STREAMS: "Streams",
    GroupType.UNKNOWN: "Unknown",
}


def problem(found: PartitionProblem, type_: GroupType = GroupType.UNKNOWN) -> str:
    """A problem of a partition in words, for a group of that type."""
    return _PROBLEMS[found].format(offset=offset_terms(type_).offset)


def on_fill(text: str, status: Status, colours: Palette) -> str:
    """Markdown of a short text on the fill of the verdict, on one line."""
    look = f'foreground="{ink(status, colours)}" background="{fill(status, colours)}"'
    return f":color[\u202f{text.replace(' ', NO_BREAK)}\u202f]{{{look}}}"


def fill(status: Status, colours: Palette) -> str:
    """The colour of areas with that verdict in charts."""
    fills = VERDICTS[status].fills
    return fills.dark if colours.is_dark else fills.light


def tint(status: Status, colours: Palette) -> str:
    """A shade of the fill for tags in tables, whose text Streamlit draws in black or white."""
    return blend(fill(status, colours), colours.background, TINT)


def ink(status: Status, colours: Palette) -> str:
    """The colour of text on the fill: black or white, whichever has the higher contrast."""
    return BLACK if luminance(fill(status, colours)) > EQUAL_CONTRAST else WHITE


def needs_attention(status: Status) -> bool:
    """Whether somebody has to look at it now."""
    return status in _NEEDS_ATTENTION
