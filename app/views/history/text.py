"""What the History page says: since when, how often, how bad. Pure; times come in as text of the viewer's zone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pandas as pd

from app.ui import formats
from app.ui import verdicts as words
from lag.history.results import DAY, MINUTE, Burn, LagLine, PartitionPast, Place, Span, Verdicts, micros
from lag.history.trouble_periods import Spell
from lag.verdict.health import URGENCY, Status

When = Callable[[int], str]
"""Microseconds since 1970 as a time that a sentence can hold."""

OLD_AFTER = timedelta(minutes=5)
UNEVALUATED_AFTER = timedelta(hours=2)
"""Windows end every five minutes; a long range ends up to an hour after the newest of them."""
MOSTLY_KNOWN = 0.9
"""With verdicts for less of the time, calm is only as far as it is known."""
_ORDINALS = {0: "never", 1: "once", 2: "twice"}
_UNKNOWN = URGENCY.index(Status.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Shown:
    """The time that a page shows, as sentences have it.

    `minutes`: how many it has. `within`: "in the last 24 h", or, when it `is_over`, "in the 24 h to 22 Nov 13:00".
    `clock` writes a time of it.
    """

    minutes: int
    within: str
    is_over: bool
    clock: When


def when(zone_of: Callable[[int], datetime], span: Span) -> When:
    """Times of day; with the day where the span is longer than one."""
    form = "%H:%M" if span.length <= DAY else "%d %b %H:%M"
    return lambda at_us: f"{zone_of(at_us // 1000):{form}}"


def times(n: int) -> str:
    """ "once", "twice", "3 times"."""
    return _ORDINALS.get(n) or f"{n:,} times"


def title(place: Place) -> str:
    """The group, with topic or partition where one is chosen."""
    if place.topic is None:
        return formats.code(place.group_id)
    of = place.topic if place.partition is None else f"{place.topic}-{place.partition}"
    return f"{formats.code(place.group_id)} on {formats.code(of)}"


def group(place: Place, line: LagLine, verdicts: Verdicts | None, spells: Sequence[Spell] | None, its: Shown) -> str:
    """The conclusion about one group: its trouble, if that is known, and its greatest lag. `spells` None: not known."""
    known = ~np.isnan(line.lag_records)
    worst = _worst(line, its.clock) if known.any() else ""
    name = title(place)
    if verdicts is None or spells is None:
        if not worst:
            return f"The lag of {name} is not known {its.within}"
        return f"{name} was {worst} {its.within}, {_at_the_end(line)}; whether it was in trouble is not known"
    lag = f"; {worst}" if worst else "; its lag is not known"
    return f"{name} {_trouble(spells, its) if spells else _no_trouble(verdicts, its)}{lag}"


def _no_trouble(verdicts: Verdicts, its: Shown) -> str:
    known = _known_minutes(verdicts)
    gap = "" if known >= MOSTLY_KNOWN * its.minutes else f", as far as that is known ({formats.duration(60 * known)})"
    return f"had no trouble {its.within}{gap}"


def _known_minutes(verdicts: Verdicts) -> int:
    return int((verdicts.status != _UNKNOWN).sum())


def _trouble(spells: Sequence[Spell], its: Shown) -> str:
    last, total = spells[-1], formats.duration(60 * sum(one.minutes for one in spells))
    word = words.VERDICTS[last.worst].word.lower()
    often = f"{times(len(spells))} {its.within}, {total} in all" if len(spells) > 1 else ""
    if last.goes_on:
        return f"{_on(last, its)} ({word}), {often or total}"
    well = f"from {its.clock(last.until_us)} on" if its.is_over else f"since {its.clock(last.until_us)}"
    return f"was in trouble {often or f'once {its.within}, for {total}'}; well {well} ({word})"


def _on(last: Spell, its: Shown) -> str:
    """Trouble up to the end of what is known."""
    since = f"before {its.clock(last.since_us)}" if last.begins_unseen else its.clock(last.since_us)
    return f"was in trouble from {since} on" if its.is_over else f"has been in trouble since {since}"


def _worst(line: LagLine, clock: When) -> str:
    at = int(np.nanargmax(line.lag_records))
    most = line.lag_records[at]
    if not most:
        return "never behind"
    return f"at worst {formats.short(float(most))} records behind at {clock(int(line.at_us[at]))}"


def _at_the_end(line: LagLine) -> str:
    last = float(line.lag_records[-1])
    return "not known at the end" if np.isnan(last) else f"{formats.short(last)} at the end"


def facts(line: LagLine, partitions: Sequence[PartitionPast], verdicts: Verdicts | None) -> str:
    """The numbers under the conclusion, each with its coverage."""
    minutes = int((~np.isnan(line.lag_records)).sum())
    unit = _unit(line)
    parts = [
        _coverage(line),
        f"in {minutes:,} of {formats.plural(len(line.at_us), unit)}",
        _judged(line, verdicts),
        _oldest(line, partitions),
        _rebalances(verdicts),
        _lost(partitions),
    ]
    return " · ".join(part for part in parts if part)


def _judged(line: LagLine, verdicts: Verdicts | None) -> str:
    """In how many minutes a verdict is known, where that is in fewer than the lag."""
    if verdicts is None:
        return ""
    known, each = _known_minutes(verdicts), 1 if _unit(line) == "minute" else 60
    if known >= each * int((~np.isnan(line.lag_records)).sum()):
        return ""
    return f"verdict known in {known:,} of {formats.plural(each * len(line.at_us), 'minute')}"


def _unit(line: LagLine) -> str:
    return "minute" if len(line.at_us) < 2 or line.at_us[1] - line.at_us[0] == 60_000_000 else "hour"


def _coverage(line: LagLine) -> str:
    seen = line.known[~np.isnan(line.lag_records)]
    if not len(seen):
        return "lag not known"
    least = int(seen.min())
    always = formats.coverage(least, line.partitions)
    return f"lag known for {always}" if least == line.partitions else f"lag known for {always} or more"


def _oldest(line: LagLine, partitions: Sequence[PartitionPast]) -> str:
    bounds = [one.at_least_s for one in partitions if one.at_least_s is not None]
    known = line.time_lag_s[~np.isnan(line.time_lag_s)]
    if bounds and (not len(known) or max(bounds) > known.max()):
        return f"oldest record over {formats.duration(max(bounds))} old"
    return f"oldest record {formats.duration(float(known.max()))} old" if len(known) and known.max() else ""


def _rebalances(verdicts: Verdicts | None) -> str:
    return (
        "rebalances not computed yet"
        if verdicts is None
        else formats.plural(int(verdicts.rebalances.sum()), "rebalance")
    )


def _lost(partitions: Sequence[PartitionPast]) -> str:
    lost = sum(one.lost_records or 0 for one in partitions)
    return f"{formats.plural(lost, 'record')} lost" if lost else ""


def fleet(frame: pd.DataFrame, its: Shown, is_refused: bool) -> str:
    """The conclusion about all groups, from their table with the worst first. `is_refused`: not all could be read."""
    if frame.empty:
        return "What became of the groups cannot be read" if is_refused else f"No group had a lag {its.within}"
    troubled = int((frame["trouble_minutes"].fillna(0) > 0).sum())
    said = _in_trouble(frame, troubled, its) if troubled else _calm(frame, its)
    unknown = int((frame["known_minutes"].fillna(0) == 0).sum())
    return f"{said}; of {unknown:,} no verdict is known" if 0 < unknown < len(frame) else said


def _in_trouble(frame: pd.DataFrame, troubled: int, its: Shown) -> str:
    first, groups = frame.iloc[0], formats.plural(len(frame), "group")
    longest = formats.duration(60 * int(first["trouble_minutes"]))
    worst = words.VERDICTS[first["status"]].word.lower()
    were = f"{troubled:,} of {groups} {'was' if troubled == 1 else 'were'} in trouble {its.within}"
    return f"{were}: {formats.code(str(first['group']))} for {longest}, {worst} at worst"


def _calm(frame: pd.DataFrame, its: Shown) -> str:
    minutes = frame["known_minutes"].fillna(0)
    judged = int(minutes.gt(0).sum())
    gap = "" if minutes.sum() >= MOSTLY_KNOWN * its.minutes * judged else ", as far as that is known"
    calm = f"None of {formats.plural(judged, 'group')} was in trouble {its.within}{gap}"
    if not judged:
        calm = f"Whether any of {formats.plural(len(frame), 'group')} was in trouble {its.within} is not known"
    behind = frame[frame["most_records"].fillna(0) > 0].sort_values("most_records", ascending=False, kind="stable")
    if behind.empty:
        return calm
    worst = behind.iloc[0]
    most = f"{formats.short(int(worst['most_records']))} records at {its.clock(int(worst['most_at_us']))}"
    return f"{calm}: {formats.code(str(worst['group']))} was furthest behind, {most}"


def fleet_facts(frame: pd.DataFrame, span: Span) -> str:
    """How many groups there are, and for how much of the time their verdicts are known."""
    if frame.empty:
        return ""
    groups, minutes = formats.plural(len(frame), "group"), len(frame) * (span.length // MINUTE)
    known = int(frame["known_minutes"].fillna(0).sum())
    share = "less than 1" if 0 < 100 * known < minutes else str(100 * known // minutes)
    return groups if share == "100" else f"{groups} · verdicts known for {share} % of the time"


def known_until(newest: datetime, now: datetime) -> tuple[str, bool]:
    """ "known up to the minute before last"; whether that is too old."""
    age = now - newest - timedelta(minutes=1)
    return f"rolled up {formats.age(0, max(0, round(age.total_seconds() * 1000)))}", age > OLD_AFTER


def burn(one: Burn, until: datetime, clock: When) -> str:
    """How fast the budget goes, in words; and since when nobody evaluates it, if that is long before `until`."""
    said = "not known" if one.burn is None else "within budget" if one.burn <= 1 else _too_fast(one.burn)
    return f"{said}, not evaluated since {clock(micros(one.at))}" if until - one.at > UNEVALUATED_AFTER else said


def _too_fast(burn: float) -> str:
    return f"{burn:.1f} times as fast as allowed"


def lag_alt(place: Place, line: LagLine, said: str, clock: When) -> str:
    """What the picture of the lag shows."""
    gaps = int(np.isnan(line.lag_records).sum())
    gap = f", not known at {gaps:,} of {len(line.lag_records):,} points" if gaps else ""
    return f"Lag of {place.group_id}: {_worst(line, clock)}, {_at_the_end(line)}{gap}{said}"


def time_lag_alt(place: Place, line: LagLine) -> str:
    """What the picture of the time lag shows."""
    last = float(line.time_lag_s[-1])
    end = "not known at the end" if np.isnan(last) else f"{formats.duration(last)} at the end"
    return f"Time lag of {place.group_id}: at most {formats.duration(float(np.nanmax(line.time_lag_s)))}, {end}"


def health_alt(rows: int, troubled: int, worst: str) -> str:
    """What the map of groups and hours shows."""
    named = f"; {worst} longest" if troubled else ""
    return f"Health of {formats.plural(rows, 'group')} over time: {troubled:,} in trouble{named}"
