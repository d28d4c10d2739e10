"""What the History page says: since when, how often, how bad. Pure; times come in as text of the viewer's zone."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import numpy as np
import pandas as pd

from app import formats, words
from lag.history.answers import DAY, Burn, LagLine, PartitionPast, Place, Span, Verdicts
from lag.history.spells import Spell

When = Callable[[int], str]
"""Microseconds since 1970 as a time that a sentence can hold."""

OLD_AFTER = timedelta(minutes=5)
_ORDINALS = {0: "never", 1: "once", 2: "twice"}


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


def group(place: Place, line: LagLine, spells: Sequence[Spell] | None, ranged: str, clock: When) -> str:
    """The conclusion about one group: its trouble, if that is known, and its greatest lag. `spells` None: not known."""
    known = ~np.isnan(line.lag_records)
    worst = _worst(line, clock) if known.any() else ""
    name = title(place)
    if spells is None:
        if not worst:
            return f"The lag of {name} is not known in the last {ranged}"
        return f"{name} was {worst} in the last {ranged}{_now(line)}"
    lag = f"; {worst}" if worst else "; its lag is not known"
    return f"{name} {_trouble(spells, ranged, clock)}{lag}"


def _trouble(spells: Sequence[Spell], ranged: str, clock: When) -> str:
    if not spells:
        return f"had no trouble in the last {ranged}"
    last, total = spells[-1], formats.duration(sum(one.length_s for one in spells))
    word = words.VERDICTS[last.worst].word.lower()
    often = f"{times(len(spells))} in the last {ranged}, {total} in all" if len(spells) > 1 else ""
    if not last.goes_on:
        once = f"once in the last {ranged}, for {total}"
        return f"was in trouble {often or once}; well since {clock(last.until_us)} ({word})"
    since = f"since before {clock(last.since_us)}" if last.begins_unseen else f"since {clock(last.since_us)}"
    return f"has been in trouble {since} ({word}), {often or total}"


def _worst(line: LagLine, clock: When) -> str:
    at = int(np.nanargmax(line.lag_records))
    most = line.lag_records[at]
    if not most:
        return "never behind"
    return f"at worst {formats.short(float(most))} records behind at {clock(int(line.at_us[at]))}"


def _now(line: LagLine) -> str:
    last = line.lag_records[-1]
    return "" if np.isnan(last) else f", {formats.short(float(last))} at the end"


def facts(line: LagLine, partitions: Sequence[PartitionPast], verdicts: Verdicts | None) -> str:
    """The numbers under the conclusion, each with its coverage."""
    minutes = int((~np.isnan(line.lag_records)).sum())
    unit = "minute" if len(line.at_us) < 2 or line.at_us[1] - line.at_us[0] == 60_000_000 else "hour"
    parts = [
        _coverage(line),
        f"in {minutes:,} of {formats.plural(len(line.at_us), unit)}",
        _oldest(line, partitions),
        _rebalances(verdicts),
        _lost(partitions),
    ]
    return " · ".join(part for part in parts if part)


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


def fleet(frame: pd.DataFrame, ranged: str, clock: When) -> str:
    """The conclusion about all groups, from their table with the worst first."""
    if frame.empty:
        return f"No group had a lag in the last {ranged}"
    first, groups = frame.iloc[0], formats.plural(len(frame), "group")
    troubled = int((frame["trouble_minutes"].fillna(0) > 0).sum())
    if troubled:
        were = "was" if troubled == 1 else "were"
        longest = formats.duration(60 * int(first["trouble_minutes"]))
        worst = words.VERDICTS[first["status"]].word.lower()
        name = formats.code(str(first["group"]))
        return (
            f"{troubled:,} of {groups} {were} in trouble in the last {ranged}: {name} for {longest}, {worst} at worst"
        )
    return _calm(frame, groups, ranged, clock)


def _calm(frame: pd.DataFrame, groups: str, ranged: str, clock: When) -> str:
    judged = bool(frame["known_minutes"].fillna(0).gt(0).any())
    calm = f"None of {groups} was in trouble in the last {ranged}" if judged else f"{groups} in the last {ranged}"
    behind = frame[frame["most_records"].fillna(0) > 0].sort_values("most_records", ascending=False)
    if behind.empty:
        return calm
    worst = behind.iloc[0]
    most = f"{formats.short(int(worst['most_records']))} records at {clock(int(worst['most_at_us']))}"
    return f"{calm}: {formats.code(str(worst['group']))} was furthest behind, {most}"


def known_until(newest: datetime, now: datetime) -> tuple[str, bool]:
    """ "known up to the minute before last"; whether that is too old."""
    age = now - newest - timedelta(minutes=1)
    return f"rolled up {formats.age(0, max(0, round(age.total_seconds() * 1000)))}", age > OLD_AFTER


def burn(one: Burn) -> str:
    """How fast the budget goes, in words."""
    if one.burn is None:
        return "not known"
    if one.burn <= 1:
        return "within budget"
    return f"{one.burn:.1f} times as fast as allowed"


def lag_alt(place: Place, line: LagLine, said: str, clock: When) -> str:
    """What the picture of the lag shows."""
    known = line.lag_records[~np.isnan(line.lag_records)]
    worst = _worst(line, clock)
    gaps = len(line.lag_records) - len(known)
    gap = f", not known at {gaps:,} of {len(line.lag_records):,} points" if gaps else ""
    return f"Lag of {place.group_id}: {worst}, {known[-1]:,.0f} at the end{gap}{said}"


def health_alt(rows: int, troubled: int, worst: str) -> str:
    """What the map of groups and hours shows."""
    named = f"; {worst} longest" if troubled else ""
    return f"Health of {formats.plural(rows, 'group')} over time: {troubled:,} in trouble{named}"
