"""Which encoding a size allows: measured thresholds, beyond which a picture is slow or unreadable."""

from dataclasses import dataclass
from enum import StrEnum

TILE_MEMBERS = 24
TILE_PARTITIONS = 400
TILE_LANE = 60
LABELLED_LANE = 22
BAR_PARTITIONS = 400
MATRIX_MEMBERS = 60
MATRIX_TOPICS = 60
READER_GROUPS = 60
READER_TOPICS = 60
LOGS = 4
STRIP_ROWS = 12
BAR_RECORDS = 8
"""A bar of fewer records has room for a symbol only."""


def record_tiles(records: int) -> bool:
    """Whether a log is drawn as a tile per record, with room for its label; else as ranges of offsets."""
    return records < LABELLED_LANE


def assignment_tiles(members: int, partitions: int, longest_lane: int) -> bool:
    """Whether an assignment is drawn as tiles, each of which can be seen; else as counts per topic and member."""
    return members <= TILE_MEMBERS and partitions <= TILE_PARTITIONS and longest_lane <= TILE_LANE


FIGURE_BYTES = 2_000_000
"""The largest figure that is sent to the browser; beyond it, a window of generations is sent."""
TOKEN_PARTITIONS = 1_000
TOKEN_MEMBERS = 50
TILE_GRID_PARTITIONS = 10_000
STILL_COLUMNS = 1_000
STILL_ROWS = 120
STEP_MEMBERS = 20
STEP_LANE = 60
FLOW_MEMBERS = 16
FLOW_TOP = 12
COUNT_ROWS = 24
TABLE_SIDE = 40


class Movement(StrEnum):
    """How the movement of partitions over generations is animated."""

    TOKENS = "tokens"  # a token per partition glides from lane to lane
    MOVERS = "movers"  # the same, for the partitions that move at all
    GRID = "grid"  # a cell per partition lights up where it moves
    AGGREGATE = "aggregate"  # counts per topic and member


_BYTES = {Movement.TOKENS: 14, Movement.MOVERS: 14, Movement.GRID: 2, Movement.AGGREGATE: 0}
"""What a partition adds per generation, rounded up from the measured sizes of figures."""
_MEMBER_BYTES = {Movement.TOKENS: 60, Movement.MOVERS: 60, Movement.GRID: 0, Movement.AGGREGATE: 16 * TABLE_SIDE}
_BASE_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Choice:
    """The encoding that fits, in a sentence why, and which generations one figure holds: `first` up to `last`."""

    encoding: Movement
    why: str
    first: int
    last: int


def movement(partitions: int, members: int, movers: int, generations: int, current: int) -> Choice:
    """Pick the animation by size. `movers` of the partitions move at all; `current` is in the window chosen."""
    encoding, why = _encoding(partitions, members, movers)
    drawn = movers if encoding is Movement.MOVERS else partitions
    per_generation = drawn * _BYTES[encoding] + min(members, TOKEN_MEMBERS) * _MEMBER_BYTES[encoding] + 200
    first, last = window(generations, current, (FIGURE_BYTES - _BASE_BYTES) // per_generation)
    if last - first < generations:
        why += f"; generations {first + 1:,} to {last:,} of {generations:,} at a time"
    return Choice(encoding, why, first, last)


def _encoding(partitions: int, members: int, movers: int) -> tuple[Movement, str]:
    if members <= TOKEN_MEMBERS and partitions <= TOKEN_PARTITIONS:
        return Movement.TOKENS, f"showing all {partitions:,} partitions"
    if members <= TOKEN_MEMBERS and 0 < movers <= TOKEN_PARTITIONS:
        return Movement.MOVERS, f"showing {movers:,} of {partitions:,} partitions: those that moved"
    if partitions <= TILE_GRID_PARTITIONS:
        return Movement.GRID, f"showing all {partitions:,} partitions, a cell each"
    return Movement.AGGREGATE, f"showing counts: {partitions:,} partitions are too many to draw one by one"


def window(generations: int, current: int, most: int) -> tuple[int, int]:
    """At most `most` generations around the current one, as many as there are: first and one past the last."""
    most = max(2, most)
    first = max(0, min(current - most // 2, generations - most))
    return first, min(generations, first + most)
