"""The sentences of the History page: since when, how often, how bad. Pure functions; `clock` formats their times."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pandas as pd

from app.ui import formats
from app.ui.verdicts import RANK
from lag.history.span import DAY, MINUTE, Scope, Span
from lag.history.trouble_periods import TroublePeriod
from lag.times import MICROSECOND, micros, ms
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY, Status

Clock = Callable[[int], str]
"""Microseconds since 1970 -> a time in the viewer's zone, as a sentence writes it."""

OLD_AFTER = timedelta(minutes=5)
UNEVALUATED_AFTER = timedelta(hours=2)
"""Windows end every five minutes; a long range ends up to an hour after the newest of them."""

MOSTLY_KNOWN = 0.9
"""If verdicts are known for a smaller share of the time, the sentence says so."""

_ORDINALS = {0: "never", 1: "once", 2: "twice"}


@dataclass(frozen=True, slots=True)
class ShownTime:
    """The time that the page shows, for sentences.

    `within` is "in the last 24 h", or if it ends in the past (`is_past`), "in the 24 h to 22 Nov 13:00".
    """

    minutes: int
    within: str
    is_past: bool
    clock: Clock


def clock(to_local: Callable[[int], datetime], span: Span) -> Clock:
    """Formats times of day, with seconds unless it is a full minute.

    With the date if the span is longer than a day, or the time is before it.
    """
    first_us = micros(span.since) if span.length <= DAY else sys.maxsize

    def formatted(at_us: int) -> str:
        form = "%H:%M:%S" if at_us % (MINUTE // MICROSECOND) else "%H:%M"
        return f"{to_local(at_us // 1000):{'' if at_us >= first_us else '%d %b '}{form}}"

    return formatted


def times(n: int) -> str:
    """ "once", "twice", "3 times"."""
    return _ORDINALS.get(n) or f"{n:,} times"


def title(scope: Scope) -> str:
    """The group, with the topic or partition if one is chosen."""
    if scope.topic is None:
        return formats.code(scope.group_id)
    of = scope.topic if scope.partition is None else f"{scope.topic}-{scope.partition}"
    return f"{formats.code(scope.group_id)} on {formats.code(of)}"


def group(
    scope: Scope,
    series: pd.DataFrame,
    health: pd.DataFrame,
    periods: Sequence[TroublePeriod] | None,
    shown: ShownTime,
) -> str:
    """The conclusion about one group: its trouble and its highest lag. `periods` None: not known."""
    worst = "" if series["lag_records"].isna().all() else _worst(series, shown.clock)
    name = title(scope)
    if periods is None:
        if not worst:
            return f"The lag of {name} is not known {shown.within}"
        return f"{name} was {worst} {shown.within}, {_at_the_end(series)}; whether it was in trouble is not known"
    lag = f"; {worst}" if worst else "; its lag is not known"
    return f"{name} {_trouble(periods, shown) if periods else _no_trouble(health, shown)}{lag}"


def _no_trouble(health: pd.DataFrame, shown: ShownTime) -> str:
    known = _known_minutes(health)
    gap = "" if known >= MOSTLY_KNOWN * shown.minutes else f" (verdict known for {formats.duration(60 * known)})"
    return f"had no trouble {shown.within}{gap}"


def _known_minutes(health: pd.DataFrame) -> int:
    return int((health["rank"] != RANK[Status.UNKNOWN]).sum())


def _trouble(periods: Sequence[TroublePeriod], shown: ShownTime) -> str:
    last, total = periods[-1], formats.duration(60 * sum(one.minutes for one in periods))
    word = VERDICTS[last.worst].word.lower()
    often = f"{times(len(periods))} {shown.within}, {total} in total" if len(periods) > 1 else ""
    if last.is_ongoing:
        return f"{_ongoing(last, shown)} ({word}), {often or total}"
    end = f"{'not known after' if last.ends_with_data else 'ended at'} {shown.clock(last.until_us)}"
    return f"was in trouble {often or f'once {shown.within}, for {total}'}; {end} ({word})"


def _ongoing(last: TroublePeriod, shown: ShownTime) -> str:
    since = f"before {shown.clock(last.since_us)}" if last.starts_before_data else shown.clock(last.since_us)
    return f"was in trouble from {since} on" if shown.is_past else f"has been in trouble since {since}"


def _worst(series: pd.DataFrame, clock: Clock) -> str:
    at = series["lag_records"].argmax()
    most, at_us = series["lag_records"].iloc[at], series["at_us"].iloc[at]
    if not most:
        return "never behind"
    return f"at worst {formats.short(most)} records behind at {clock(int(at_us))}"


def _at_the_end(series: pd.DataFrame) -> str:
    last = series["lag_records"].iloc[-1]
    return "not known at the end" if np.isnan(last) else f"{formats.short(last)} at the end"


def facts(series: pd.DataFrame, partitions: pd.DataFrame, health: pd.DataFrame) -> str:
    """The figures under the conclusion, with their coverage."""
    known = int(series["lag_records"].count())
    parts = [
        _coverage(series),
        f"in {known:,} of {formats.plural(len(series), _unit(series))}",
        _verdict_coverage(series, health),
        _oldest(series, partitions),
        _rebalances(health),
        _lost(partitions),
    ]
    return formats.joined(*parts)


def _verdict_coverage(series: pd.DataFrame, health: pd.DataFrame) -> str:
    """In how many minutes the verdict is known, if in fewer than the lag."""
    if health.empty:
        return ""
    known, each = _known_minutes(health), 1 if _unit(series) == "minute" else 60
    if known >= each * int(series["lag_records"].count()):
        return ""
    return f"verdict known in {known:,} of {formats.plural(each * len(series), 'minute')}"


def _unit(series: pd.DataFrame) -> str:
    return "minute" if series["at_us"].diff().min() == MINUTE // MICROSECOND else "hour"


def _coverage(series: pd.DataFrame) -> str:
    known = series[series["lag_records"].notna()]
    if known.empty:
        return "lag not known"
    shares = known[["known", "partitions"]].to_numpy(np.int64)[::-1]  # of equal ones the last counts
    least, partitions = shares[(shares[:, 0] / shares[:, 1]).argmin()].tolist()
    at_least = "" if least == partitions else "at least "
    return f"lag known for {at_least}{formats.coverage(least, partitions)}"


def _oldest(series: pd.DataFrame, partitions: pd.DataFrame) -> str:
    bound, known = partitions["at_least_s"].max(), series["time_lag_s"].max()
    if bound > known or (np.isnan(known) and not np.isnan(bound)):
        return f"oldest record over {formats.duration(bound)} old"
    return f"oldest record {formats.duration(known)} old" if known > 0 else ""


def _rebalances(health: pd.DataFrame) -> str:
    if health.empty:
        return "rebalances not computed yet"
    return formats.plural(int(health["rebalances"].sum()), "rebalance")


def _lost(partitions: pd.DataFrame) -> str:
    lost = int(partitions["lost_records"].sum())
    return f"{formats.plural(lost, 'record')} lost" if lost else ""


def fleet(frame: pd.DataFrame, shown: ShownTime, has_errors: bool) -> str:
    """The conclusion about all groups, from `tables.fleet`. `has_errors`: a part could not be read."""
    if frame.empty:
        return "The history of the groups cannot be read" if has_errors else f"No group had lag {shown.within}"
    troubled = int((frame["trouble_minutes"].fillna(0) > 0).sum())
    conclusion = _fleet_trouble(frame, troubled, shown) if troubled else _fleet_no_trouble(frame, shown)
    unknown = int((frame["known_minutes"].fillna(0) == 0).sum())
    return f"{conclusion}; no verdict is known for {unknown:,}" if 0 < unknown < len(frame) else conclusion


def _fleet_trouble(frame: pd.DataFrame, troubled: int, shown: ShownTime) -> str:
    first, groups = frame.iloc[0], formats.plural(len(frame), "group")
    longest = formats.duration(60 * int(first["trouble_minutes"]))
    worst = VERDICTS[URGENCY[first["rank"]]].word.lower()
    were = f"{troubled:,} of {groups} {'was' if troubled == 1 else 'were'} in trouble {shown.within}"
    return f"{were}: {formats.code(str(first['group']))} for {longest}, {worst} at worst"


def _fleet_no_trouble(frame: pd.DataFrame, shown: ShownTime) -> str:
    minutes = frame["known_minutes"].fillna(0)
    judged = int(minutes.gt(0).sum())
    gap = "" if minutes.sum() >= MOSTLY_KNOWN * shown.minutes * judged else ", as far as verdicts are known"
    conclusion = f"{formats.plural(judged, 'group')} had no trouble {shown.within}{gap}"
    if not judged:
        conclusion = f"Whether any of {formats.plural(len(frame), 'group')} was in trouble {shown.within} is not known"
    behind = frame[frame["most_records"].fillna(0) > 0].sort_values("most_records", ascending=False, kind="stable")
    if behind.empty:
        return conclusion
    worst = behind.iloc[0]
    most = f"{formats.short(int(worst['most_records']))} records at {shown.clock(int(worst['most_at_us']))}"
    return f"{conclusion}: {formats.code(str(worst['group']))} was furthest behind, {most}"


def fleet_facts(frame: pd.DataFrame, span: Span) -> str:
    """The number of groups, and for how much of the time their verdicts are known."""
    if frame.empty:
        return ""
    groups, minutes = formats.plural(len(frame), "group"), len(frame) * (span.length // MINUTE)
    known = int(frame["known_minutes"].fillna(0).sum())
    share = "less than 1" if 0 < 100 * known < minutes else str(100 * known // minutes)
    return groups if share == "100" else f"{groups} · verdicts known for {share} % of the time"


def as_of(newest: datetime, now: datetime, clock: Clock) -> tuple[str, bool]:
    """Up to when lag and verdicts are computed, as the other pages are ahead of it, and whether that is too old."""
    end = newest + MINUTE
    return f"as of {clock(micros(end))}, {formats.age(ms(end), ms(now))}", now - end > OLD_AFTER


def burn_rate(burn: float, at_us: int, span: Span, clock: Clock) -> str:
    """The burn rate in words, and since when it is not evaluated if that is long before the end of the span."""
    words = "not known" if np.isnan(burn) else "within budget" if burn <= 1 else f"{burn:.1f} times as fast as allowed"
    is_old = (micros(span.until) - at_us) * MICROSECOND > UNEVALUATED_AFTER
    return f"{words}, not evaluated since {clock(at_us)}" if is_old else words


def lag_alt(scope: Scope, series: pd.DataFrame, rebalances: str, clock: Clock) -> str:
    """Describes the lag chart; `rebalances` is its legend, or empty."""
    unknown = int(series["lag_records"].isna().sum())
    gap = f", not known at {unknown:,} of {len(series):,} points" if unknown else ""
    marks = f"; {rebalances}" if rebalances else ""
    return f"Lag of {scope.group_id}: {_worst(series, clock)}, {_at_the_end(series)}{gap}{marks}"


def time_lag_alt(scope: Scope, series: pd.DataFrame) -> str:
    """Describes the time lag chart."""
    last = series["time_lag_s"].iloc[-1]
    end = "not known at the end" if np.isnan(last) else f"{formats.duration(last)} at the end"
    return f"Time lag of {scope.group_id}: at most {formats.duration(series['time_lag_s'].max())}, {end}"


def health_alt(rows: int, troubled: int, worst: str) -> str:
    """Describes the health map."""
    named = f"; {worst} longest" if troubled else ""
    return f"Health of {formats.plural(rows, 'group')} over time: {troubled:,} in trouble{named}"
