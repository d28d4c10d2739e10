"""The colours of verdicts, and the words of the pages for problems of a partition and group types."""

from app.ui.theme import Palette, blend, luminance
from lag.model import GroupType
from lag.offsets import PartitionProblem
from lag.verdict.catalogue import VERDICTS
from lag.verdict.offset_terms import offset_terms
from lag.verdict.status import URGENCY, Status

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
