"""What-if: all assignors side by side, and the moves of one step."""

from collections.abc import Mapping, Sequence

import pandas as pd

from app.ui import formats
from app.ui.movement.tables import short
from assignors.whatif.comparison import Outcome
from assignors.whatif.quality import Quality

MEASURES = {"lag_records": "lag", "produced_per_s": "rate", "weight": "weight"}
"""Names of skews in `Quality`, and their display names."""

DRAINS = "Time until the slowest member has no lag"
"""The meaning of a drain time."""

COLUMNS = "assignor moved stayed paused rebalances idle unassigned each together racks"
COUNTS = ("moved", "stayed", "idle", "paused", "rebalances", "unassigned")


def compare(outcomes: Sequence[Outcome], names: Mapping[str, str]) -> pd.DataFrame:
    """One row per assignor, in the order given; unknown is missing. `names` are the display names of members."""
    measures = [key for key in MEASURES if any(o.last and key in o.last.skews for o in outcomes)]
    columns = [*COLUMNS.split(), *(f"hottest_{MEASURES[key]}" for key in measures), "drains", "drain_s", "error"]
    frame = pd.DataFrame([_row(outcome, measures, names) for outcome in outcomes], columns=columns)
    return frame.astype(dict.fromkeys(COUNTS, "Int64"))


def _row(outcome: Outcome, measures: Sequence[str], names: Mapping[str, str]) -> dict[str, object]:
    row: dict[str, object] = {"assignor": short(outcome.assignor), "error": outcome.error}
    last = outcome.last
    if last is None:
        return row
    return row | {
        "moved": outcome.moved(),
        "stayed": outcome.stayed(),
        "paused": outcome.paused(),
        "rebalances": outcome.rebalances(),
        "idle": len(last.idle_members),
        "unassigned": last.unassigned,
        "each": each(last),
        "together": of(last.co_partitioned),
        "racks": of(last.rack_hits),
        **{f"hottest_{MEASURES[key]}": hottest(last, key, names) for key in measures},
        "drains": drains(last),
        "drain_s": last.drain.seconds,
    }


def each(quality: Quality) -> str:
    """Partitions per member: "3 to 4"."""
    low, high = formats.count(quality.fewest), formats.count(quality.most)
    return low if low == high else f"{low} to {high}"


def of(pair: tuple[int, int] | None) -> str | None:
    """ "9 of 12"; None where nothing is known."""
    return None if pair is None else f"{pair[0]:,} of {pair[1]:,}"


def hottest(quality: Quality, measure: str, names: Mapping[str, str]) -> str | None:
    """The member with most, as a multiple of the mean: "1.8× c3"."""
    skew = quality.skews.get(measure)
    if skew is None or skew.ratio is None:
        return None
    return f"{skew.ratio:.1f}× {names.get(skew.member, skew.member)}"


def drains(quality: Quality) -> str | None:
    """When the lag is gone; None where that, or whether there is any, is not known."""
    seconds = quality.drain.seconds
    if seconds == 0:
        return "now" if "lag_records" in quality.skews else None
    return None if seconds is None else formats.duration(seconds)
