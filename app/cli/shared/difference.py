"""A generation as text: which member gains and loses what, and the quality of the result."""

import math
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

import numpy as np
from rich.cells import cell_len, set_cell_size

from app.cli.shared.output import printable
from app.ui import formats
from assignors.model import TopicPartition
from assignors.whatif.generations import Generation
from assignors.whatif.moves import NOBODY, Moves
from assignors.whatif.quality import Quality

MOST_MEMBERS = 36
WIDTH = 120
_NAME = 32
_HOT_NAME = 16


def lines(made: Generation) -> Iterator[str]:
    """A head, a line for each member with a change (at most 36), and a line of figures."""
    yield clipped(f"  {made.number}  at {formats.duration(made.at_ms / 1000)}: {printable(made.event)}")
    changed = _changed(made.moves)
    width = min(_NAME, max((cell_len(made.moves.members[at]) for at in changed[:MOST_MEMBERS]), default=0))
    for member in changed[:MOST_MEMBERS]:
        name = set_cell_size(clipped(printable(made.moves.members[member]), width), width)
        yield clipped(f"     {name}  {_change(made.moves, member)}")
    if len(changed) > MOST_MEMBERS:
        yield f"     and {len(changed) - MOST_MEMBERS:,} more members (use --json)"
    yield clipped(f"     = {_figures(made.quality)}")


def clipped(text: str, width: int = WIDTH) -> str:
    """The text cut to a width of terminal cells, with an ellipsis."""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def _changed(moves: Moves) -> list[int]:
    """The members that gain or lose a partition."""
    moved = moves.sources != moves.targets
    members: list[int] = np.union1d(moves.targets[moved], moves.sources[moved]).tolist()
    return [member for member in members if member != NOBODY]


def _change(moves: Moves, member: int) -> str:
    moved = moves.sources != moves.targets
    ends = {"+": moves.targets, "-": moves.sources}
    return "  ".join(
        f"{sign}{len(codes):,} ({ranges(moves.layout.decode(codes))})"
        for sign, end in ends.items()
        if len(codes := moves.codes[moved & (end == member)])
    )


def ranges(partitions: Iterable[TopicPartition]) -> str:
    """Partitions in order, by topic: `orders 0-3,7; payments 2`."""
    by_topic = groupby(partitions, key=attrgetter("topic"))
    return "; ".join(f"{topic} {_runs([tp.partition for tp in some])}" for topic, some in by_topic)


def _runs(numbers: Iterable[int]) -> str:
    """A run grows in step with its position."""
    runs = (list(run) for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]))
    return ",".join(str(run[0][1]) if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs)


def _figures(quality: Quality) -> str:
    parts = [
        f"{quality.assigned:,} of {quality.partitions:,} assigned",
        f"{quality.fewest:,} to {quality.most:,} each" if quality.spread else f"{quality.most:,} each",
        f"{len(quality.idle_members):,} idle" if quality.idle_members else "",
        f"{quality.kept:,} kept, {quality.moved:,} moved, {quality.paused:,} paused",
        _drain(quality),
        _hottest(quality),
    ]
    return "; ".join(filter(None, parts))


def _hottest(quality: Quality) -> str:
    """Who has the most of each load, and how many times the members' mean."""
    hot: dict[str, list[str]] = {}
    for load, skew in quality.skews.items():
        if skew.ratio is not None and skew.ratio > 1:
            hot.setdefault(skew.member, []).append(f"{_LOADS[load]} ×{skew.ratio:.1f}")
    members = [f"{clipped(printable(member), _HOT_NAME)} ({', '.join(loads)})" for member, loads in hot.items()]
    return f"hot: {', '.join(members)}" if members else ""


_LOADS = {"weight": "weight", "lag_records": "lag", "produced_per_s": "rate"}


def _drain(quality: Quality) -> str:
    seconds = quality.drain.seconds
    if seconds is None:
        return ""
    return "never drained" if seconds == math.inf else f"drained in {formats.duration(seconds)}"
