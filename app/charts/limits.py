"""Which encoding a size allows: measured thresholds, beyond which a picture is slow or says nothing."""

from enum import StrEnum

TILE_MEMBERS = 24
TILE_PARTITIONS = 400
TILE_LANE = 60
LABELLED_LANE = 22
BAR_PARTITIONS = 400
MATRIX_MEMBERS = 60
MATRIX_TOPICS = 60


class Encoding(StrEnum):
    """How an assignment is drawn."""

    TILES = "tiles"  # a numbered tile per partition
    MATRIX = "matrix"  # topic x member, a count per cell


def assignment(members: int, partitions: int, longest_lane: int) -> Encoding:
    """Tiles while each can be seen; else counts per topic and member."""
    fits = members <= TILE_MEMBERS and partitions <= TILE_PARTITIONS and longest_lane <= TILE_LANE
    return Encoding.TILES if fits else Encoding.MATRIX
