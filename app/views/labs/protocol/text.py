"""The result of a story under each protocol, in sentences."""

from collections.abc import Sequence
from itertools import groupby

from app.ui.formats import brief, every, plural
from app.ui.scenario.played import NAMES, Played
from assignors.whatif.events import Event

MOST_EVENTS = 6


def headline(played: Sequence[Played]) -> str:
    """How many partitions each protocol stops, and for how long."""
    if not played:
        return "This story cannot be played"
    if not any(its.summary.down_ms for its in played):
        return "No partition is ever without a consumer, under any protocol"
    parts = []
    for stopped, alike in groupby(played, _stopped):
        names = [NAMES[its.protocol] for its in alike]
        parts.append(f"{every(names)} {'stops' if len(names) == 1 else 'stop'} {stopped}")
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:]


def _stopped(its: Played) -> str:
    down = [partition.down_ms for partition in its.summary.downtime if partition.down_ms]
    if not down:
        return "none"
    every = (
        f"all {len(down)} partitions" if 1 < len(down) == len(its.summary.downtime) else plural(len(down), "partition")
    )
    return f"{every} for {'' if len(down) == 1 else 'up to '}{brief(max(down))}"


def members(played: Sequence[Played]) -> str:
    """How many members are paused under each protocol, and for how long."""
    return f"Members that give up all partitions and wait: {'; '.join(map(_waiting, played))}."


def _waiting(its: Played) -> str:
    waits = [pause.paused_ms for pause in its.summary.pauses if pause.paused_ms]
    name = NAMES[its.protocol]
    if not waits:
        return f"{name} none"
    return f"{name} {len(waits)} of {len(its.summary.pauses)}, up to {brief(max(waits))}"


def events(events: Sequence[Event]) -> str:
    """The events and their times, numbered as in the picture."""
    found = [f"{at}  {event.action.title} at {event.at_ms / 1000:g} s" for at, event in enumerate(events, 1)]
    more = [f"and {len(found) - MOST_EVENTS} more"] if len(found) > MOST_EVENTS else []
    return " · ".join([*found[:MOST_EVENTS], *more]) or "There are no events."


def picture(played: Sequence[Played]) -> str:
    """The picture in words."""
    return f"Members and partitions over time, protocol by protocol: {headline(played)}. {members(played)}"
