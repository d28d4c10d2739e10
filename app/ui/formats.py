"""Numbers, times and names as text. Unknown is a dash, never 0."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from assignors import durations
from assignors.counts import plural as plural
from lag.times import from_ms

DASH = "–"
MAX_TEXT_LENGTH = 40


def count(value: int | float | None) -> str:
    """1204331 -> "1,204,331"."""
    return DASH if value is None else f"{value:,.0f}"


def short(value: float | None) -> str:
    """For headlines and axes: 1204331 -> "1.20 M", 338420 -> "338 k", 860 -> "860"."""
    if value is None or math.isnan(value):
        return DASH
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            scaled = value / size
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {unit}"
    return f"{value:,.0f}"


def in_the_last(time: str) -> str:
    """`in_the_last("6 h")` -> "in the last 6 h"; "1 h" is the last hour."""
    return f"in the last {'hour' if time == '1 h' else time}"


def duration(seconds: float | None) -> str:
    """The two largest units: 843 -> "14 min 3 s"; infinity -> "never"."""
    if seconds is None or math.isnan(seconds):
        return DASH
    if math.isinf(seconds):
        return "never"
    if 0 < seconds < 1:
        return "< 1 s"
    return durations.duration(seconds)


def brief(ms: int) -> str:
    """Milliseconds with two or three digits: 155 -> "155 ms", 3061 -> "3.1 s", 843000 -> "14 min 3 s"."""
    if ms < 1_000:
        return f"{ms} ms"
    return f"{ms / 1000:.1f} s" if ms < 119_950 else duration(ms / 1000)


def cut(text: str) -> str:
    """At most MAX_TEXT_LENGTH characters, for text that the user did not write."""
    return text if len(text) <= MAX_TEXT_LENGTH else f"{text[: MAX_TEXT_LENGTH - 1]}…"


def drain(drain_s: float | None, lag_records: int | None) -> str | None:
    """The time until the lag is gone: "now", "41 min" or "never"; None if it is not known."""
    if lag_records == 0:
        return "now"
    if drain_s is None:
        return None
    return "< 1 min" if drain_s < 60 else duration(drain_s)


def rate(per_s: float | None) -> str:
    """Records per second, one decimal below ten."""
    if per_s is None or math.isnan(per_s):
        return DASH
    return f"{per_s:,.1f}" if 0 < abs(per_s) < 10 else f"{per_s:,.0f}"


def age(at_ms: int, now_ms: int) -> str:
    """6000 ms earlier -> "6 s ago"."""
    return f"{duration(max(0, now_ms - at_ms) // 1000)} ago"


def coverage(known: int, partitions: int) -> str:
    """Coverage with its noun: "all 12 partitions", "38 of 40 partitions", "its only partition"."""
    if known == partitions == 1:
        return "its only partition"
    return f"{known_for(known, partitions)} {'partition' if partitions == 1 else 'partitions'}"


def known_for(known: int, partitions: int) -> str:
    """Coverage: "all 12" or "38 of 40"; a dash without partitions."""
    if not partitions:
        return DASH
    return f"all {partitions:,}" if known == partitions else f"{known:,} of {partitions:,}"


def zone(name: str | None) -> tzinfo:
    """The time zone of that name; UTC if there is none, or an unknown one."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def moment(at_ms: int, tz: tzinfo) -> datetime:
    """Local time without a zone, which charts and tables show unconverted."""
    return from_ms(at_ms).astimezone(tz).replace(tzinfo=None)


def axis_zone(since_ms: int, until_ms: int, tz: tzinfo) -> tzinfo:
    """The zone of a time axis: where clocks go back between the two times, an axis of local times would repeat an hour.

    It then has the offset from UTC that holds at the end.
    """
    if moment(until_ms, tz) - moment(since_ms, tz) >= timedelta(milliseconds=until_ms - since_ms):
        return tz
    return timezone(from_ms(until_ms).astimezone(tz).utcoffset() or timedelta(0))


def clock(at_ms: int, tz: tzinfo) -> str:
    """Time of day in the viewer's zone."""
    return f"{moment(at_ms, tz):%H:%M:%S}"


def clock_or_day(at_ms: int, now_ms: int, tz: tzinfo) -> str:
    """Time of day in the viewer's zone, with the date if it is not today's."""
    then, now = moment(at_ms, tz), moment(now_ms, tz)
    return f"{then:%H:%M:%S}" if then.date() == now.date() else f"{then:%d %b %H:%M}"


def clock_and_day(at_ms: int, now_ms: int, tz: tzinfo) -> str:
    """Time of day with seconds, after the date if it is not today's."""
    then, now = moment(at_ms, tz), moment(now_ms, tz)
    return f"{then:%H:%M:%S}" if then.date() == now.date() else f"{then:%d %b %H:%M:%S}"


def utc(at_ms: int) -> str:
    """Date and time in UTC, for tooltips."""
    return f"{from_ms(at_ms):%Y-%m-%d %H:%M:%S} UTC"


def listing(numbers: list[int], most: int = 4) -> str:
    """Partition numbers in a sentence: "7 and 9", "0 to 11", "3, 5, 9, 10 and 8 more"."""
    numbers = sorted(numbers)
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    shown = [str(n) for n in numbers]
    if len(numbers) > most or len(numbers) < 2:
        return few(shown, most)
    return every(shown)


def few(names: Sequence[str], most: int) -> str:
    """At most `most` names: "a, b and 8 more"."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def joined(*parts: str | None) -> str:
    """The parts that are not empty: "6 s ago · paused"."""
    return " · ".join(filter(None, parts))


def every(names: Sequence[str]) -> str:
    """All names: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


_WORD_JOINER = "\u2060"
_MEANT = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=[\w.+-]@)(?=\w)|(?<=:)(?=[a-z+_-][\w+/-]*:)", re.IGNORECASE)
"""Where an address, an icon or an emoji is found even in escaped text, since it is looked for after the escapes."""


def md(text: str) -> str:
    """Text on one line with its Markdown escaped: no links, emphasis, colours, icons or maths."""
    inert = _MEANT.sub(_WORD_JOINER, " ".join(text.split()))
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+-.!|$:~^" else c for c in inert)


def code(text: str) -> str:
    """An id in monospace, on one line. Backticks are replaced, so that they cannot end the span."""
    return f"`{' '.join(text.split()).replace('`', 'ˋ')}`"
