"""The state of a group in a sentence, for headlines."""

from app.ui import formats
from app.ui.verdicts import VERDICTS
from lag.verdict.health import NEVER, Finding, GroupHealth, Status


def how_long(finding: Finding, now_ms: int) -> str:
    """ " for 1 h 5 min", " for at least 5 min" where our polls reach no further back, "" where it is not known."""
    if finding.since_ms is None:
        return ""
    least = "at least " if finding.since_is_bound else ""
    return f" for {least}{formats.duration((now_ms - finding.since_ms) / 1000)}"


def predicate(health: GroupHealth, now_ms: int) -> str:
    """The predicate of a sentence that begins with the group's name."""
    finding, lag = health.finding, health.lag
    for_ = how_long(finding, now_ms)
    n = health.unhealthy.get(finding.status, 0)
    on = f" {n} of {lag.partitions}" if n and n != lag.partitions else " all" if n > 1 else " its"
    noun = "partitions" if lag.partitions > 1 else "partition"
    match finding.status:
        case Status.LOST:
            lost = formats.plural(lag.lost_records, "record") if lag.lost_records else "records"
            return f"lost {lost}: Kafka deleted them before they were read"
        case Status.STOPPED:
            return f"has lag and has not committed{for_}"
        case Status.STALLED:
            return f"is stuck: no commit on{on} {noun}{for_}"
        case Status.BEYOND_END:
            return f"is beyond the log end on{on} {noun}: the topic was recreated or truncated"
        case Status.REWOUND:
            return f"was rewound on{on} {noun} and reads records again"
        case Status.FALLING_BEHIND:
            return f"is falling behind{growth(health)}"
        case Status.NEVER_COMMITTED:
            return f"has never committed on{on} {noun}"
        case Status.HELD:
            return f"is held back by an open transaction{for_}"
        case Status.NO_MEMBERS:
            return (
                f"has no members, and a lag of {formats.plural(lag.records, 'record')}"
                if lag.records
                else "has no members"
            )
        case Status.CATCHING_UP:
            return f"is catching up{drain_time(health)}"
        case Status.TOPIC_DELETED:
            return "has committed offsets for a deleted topic"
        case Status.UNKNOWN:
            return "has no verdict: too little is known"
        case _:  # OK, and verdicts without a sentence of their own
            word = VERDICTS[finding.status].word
            return f"is {word}, {formats.plural(lag.records, 'record')} behind" if lag.records else f"is {word}"


def growth(health: GroupHealth) -> str:
    """ " by 120 records/s", the rate at which the lag grows; empty if it does not grow."""
    if health.produce_rate is None or health.consume_rate is None or health.produce_rate <= health.consume_rate:
        return ""
    return f" by {formats.rate(health.produce_rate - health.consume_rate)} records/s"


def drain_time(health: GroupHealth) -> str:
    """ ", done in 4 min"; empty if that is unknown or never."""
    return "" if health.drain_s in (None, NEVER) else f", done in {formats.duration(health.drain_s)}"
