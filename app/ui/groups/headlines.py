"""The state of a group in a sentence, for headlines."""

from datetime import tzinfo

import pandas as pd

from app.ui import formats
from lag.model import GroupType
from lag.verdict.catalogue import VERDICTS
from lag.verdict.health import GroupHealth
from lag.verdict.offset_terms import offset_terms
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import Status
from lag.verdict.window.rates import NEVER

SOURCES: dict[OnsetSource, str] = {
    OnsetSource.COMMIT: "from a commit in `__consumer_offsets`",
    OnsetSource.GENERATION: "from a record about the group's members in `__consumer_offsets`",
    OnsetSource.HISTORY: "from the stored history",
    OnsetSource.WINDOW: "from the polls of this server",
}
"""Where an onset was read, in words."""

NOT_FOUND = "It was deleted or has expired, or the link is for another cluster."
"""Why there may be no group of an id."""


SAYS_LAG = frozenset({Status.OK, Status.NO_MEMBERS})
"""The verdicts whose predicate includes the lag."""


def not_found(group_id: str) -> str:
    """Markdown: there is no such group."""
    return f"{formats.code(group_id)} is not on this cluster"


def clock(onset: Onset, now_ms: int, zone: tzinfo) -> str:
    """ "20:14:05"; "20:14:05 or earlier" if it is not exact."""
    return f"{formats.clock_or_day(onset.at_ms, now_ms, zone)}{'' if onset.is_exact else ' or earlier'}"


def clocks(onsets: pd.Series, now_ms: int, zone: tzinfo) -> pd.Series:
    """The times of a column of onsets, for a table; None where there is none."""
    return onsets.map(lambda onset: None if onset is None else clock(onset, now_ms, zone)).astype(object)


def since(onset: Onset | None, now_ms: int, zone: tzinfo) -> str:
    """ " since 20:14:05 (1 h 5 min)", " since 21:09:02 or earlier (at least 16 min)"; "" where it is not known."""
    if onset is None:
        return ""
    least = "" if onset.is_exact else "at least "
    return f" since {clock(onset, now_ms, zone)} ({least}{formats.duration((now_ms - onset.at_ms) / 1000)})"


def predicate(health: GroupHealth, type_: GroupType, now_ms: int, zone: tzinfo) -> str:
    """The predicate of a sentence that begins with the name of the group, which is of that type."""
    finding, lag, offset = health.finding, health.lag, offset_terms(type_).offset
    is_shared = type_ is GroupType.SHARE
    when = since(finding.onset, now_ms, zone)
    n = health.unhealthy.get(finding.status, 0)
    on = f" {n} of {lag.partitions}" if n and n != lag.partitions else " all" if n > 1 else " its"
    noun = "partitions" if lag.partitions > 1 else "partition"
    has_been = "has been" if when else "is"
    match finding.status:
        case Status.LOST:
            lost = formats.plural(lag.lost_records, "record") if lag.lost_records else "records"
            return f"has lost {lost}{when}: Kafka deleted them before they were read"
        case Status.STOPPED:
            return f"has lag, and no {offset} moved{when}" if is_shared else f"has lag and has not committed{when}"
        case Status.STALLED:
            what = f"the {offset} does not move" if is_shared else "no commit"
            return f"is stuck: {what} on{on} {noun}{when and f',{when}'}"
        case Status.BEYOND_END:
            had = "had " if when else ""
            return f"has {had}{offset}s beyond the log end on{on} {noun}{when}: the topic was recreated or truncated"
        case Status.NO_PARTITIONS:
            return f"{'has had' if when else 'has'} no partition to read{when}"
        case Status.REWOUND:
            return f"was rewound on{on} {noun} and {'has been rereading' if when else 'is rereading'} records{when}"
        case Status.FALLING_BEHIND:
            return f"{has_been} falling behind{growth(health)}{when}"
        case Status.NEVER_COMMITTED:
            where = " any partition" if on == " all" else f"{on} {noun}"
            if when or is_shared:
                return f"{'has had' if when else 'has'} no {offset} on{where}{when}"
            return f"has never committed on{where}"
        case Status.FLAPPING:
            return f"{has_been} flapping{when}: its verdicts come and go"
        case Status.HELD:
            return f"{has_been} held back by an open transaction{when}"
        case Status.NO_MEMBERS:
            has = f"has had no members{when}" if when else "has no members"
            return f"{has}, and a lag of {formats.plural(lag.records, 'record')}" if lag.records else has
        case Status.WATCHING:
            return f"is watched{when}: {finding.evidence}"
        case Status.CATCHING_UP:
            return f"{has_been} catching up{when}{drain_time(health)}"
        case Status.TOPIC_DELETED:
            return f"{'has had' if when else 'has'} partitions of a deleted topic{when}"
        case Status.UNKNOWN:
            return "has no verdict: too little is known"
        case _:  # OK, and verdicts without a sentence of their own
            word = VERDICTS[finding.status].word
            if health.is_markers_only and lag.records:
                left = "only transaction markers or aborted records are left"
                return f"is {word}, {formats.plural(lag.records, 'offset')} behind: {left}"
            behind = f", {formats.plural(lag.records, 'record')} behind" if lag.records else ""
            return f"is {word}{when}{behind}"


def growth(health: GroupHealth) -> str:
    """ " by 120 records/s", the rate at which the lag grows; empty if it does not grow."""
    if health.produce_rate is None or health.consume_rate is None or health.produce_rate <= health.consume_rate:
        return ""
    return f" by {formats.rate(health.produce_rate - health.consume_rate)} records/s"


def drain_time(health: GroupHealth) -> str:
    """ " and drains in 4 min"; empty if that is unknown or never."""
    return "" if health.drain_s in (None, NEVER) else f" and drains in {formats.duration(health.drain_s)}"
