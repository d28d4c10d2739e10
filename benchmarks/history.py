"""What the History page asks of 5,000 series over 90 days, beside a naive reading of the same table."""

import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from deltalake import DeltaTable

from app.views.history.state import PICKER_SPAN
from benchmarks import past
from benchmarks.report import Row
from lag.history.queries import HistoryQueries
from lag.history.span import DAY, HOUR, Scope, Span
from lag.history.store import History
from lag.verdict.status import Status

ASKED = 60
READ = 5
COLUMNS = ["topic", "partition", "minute", "lag_last"]
TROUBLE = (Status.STOPPED,)
GOAL = "goal < 300 ms"


def rows() -> Iterator[Row]:
    """Generating, one group over 24 h in either tier, longer spans, all groups; then the peer."""
    with tempfile.TemporaryDirectory(prefix="groupscope-history-") as folder:
        history = History(Path(folder) / "history")
        began = time.monotonic()
        made = past.generate(history)
        yield _size(history, made, time.monotonic() - began)
        asked = HistoryQueries(history, past.CLUSTER)
        _page(asked, past.group_name(0), Span(past.END - DAY, past.END))  # what a process does once only
        yield from _one_group(asked)
        yield from _all_groups(asked)
        yield _peer(history)


def _size(history: History, made: int, took_s: float) -> Row:
    size = sum(file.stat().st_size for file in Path(history.table_path("lag_1m")).rglob("*.parquet")) / 1e9
    remark = f"{made / 1e6:,.0f} M rows of lag_1m, {size:.1f} GB; and {past.TODAY_HOURS} h of today"
    return Row(f"generating 5,000 series, {past.DAYS} days by the minute", f"{took_s:.0f} s", remark)


def _one_group(asked: HistoryQueries) -> Iterator[Row]:
    """All that the page asks about a group it has not asked about before, and two parts of that."""
    random, today = Random(7), past.END.replace(hour=0)
    over = [today - timedelta(days=back) for back in range(past.DAYS - 1)]
    for what, ends, length in (
        ("24 h in the past", over, DAY),
        ("the last 24 h", [past.END], DAY),
        ("the last 7 days", [past.END], 7 * DAY),
    ):
        goal = GOAL if length == DAY else "by the hour"
        yield _asked(f"one group, {what}: all that the page asks", _page, asked, random, ends, length, goal)
        if length == DAY:
            yield _asked(f"  its lag by the minute, {what}", _lag, asked, random, ends, length, GOAL)
            yield _asked(f"  its 20 partitions, {what}", _partitions, asked, random, ends, length, GOAL)


def _page(asked: HistoryQueries, group: str, span: Span) -> None:
    asked.groups(Span(max(span.since, span.until - PICKER_SPAN), span.until))
    asked.topics(group, span)
    _lag(asked, group, span)
    asked.health_series(group, span)
    _partitions(asked, group, span)
    asked.burn_rates(span, group)


def _lag(asked: HistoryQueries, group: str, span: Span) -> None:
    asked.lag(Scope(group), span)


def _partitions(asked: HistoryQueries, group: str, span: Span) -> None:
    asked.partitions(Scope(group), span)


def _asked(
    what: str,
    ask: Callable[[HistoryQueries, str, Span], None],
    asked: HistoryQueries,
    random: Random,
    ends: list[datetime],
    length: timedelta,
    goal: str,
) -> Row:
    def once() -> None:
        end = random.choice(ends)
        ask(asked, past.group_name(random.randrange(past.GROUPS)), Span(end - length, end))

    return _row(what, [_ms(once) for _ in range(ASKED)], goal)


def _all_groups(asked: HistoryQueries) -> Iterator[Row]:
    for what, length in (("24 h", DAY), ("7 days", 7 * DAY), ("90 days", 90 * DAY)):
        span = Span(past.END - length, past.END)
        unit = "hour" if span.cell == HOUR else "day"
        there = f"{past.GROUPS} groups, {min(length // DAY, past.DAYS)} days of rows"
        health = [_ms(partial(asked.health_cells, span, TROUBLE))]
        yield _row(f"health of all groups, {what}", health, f"by the {unit}; {there}")
        yield _row(f"lag of all groups, {what}", [_ms(partial(asked.group_lags, span))], there)


def _peer(history: History) -> Row:
    """The rows of one group's partitions over 24 h, as one would read a Delta table without naming its days."""
    random = Random(11)

    def read() -> None:
        since = past.END.replace(hour=0) - timedelta(days=random.randrange(1, past.DAYS))
        name = past.group_name(random.randrange(past.GROUPS))
        filters: list[Any] = [("group_id", "=", name), ("minute", ">=", since), ("minute", "<", since + DAY)]
        DeltaTable(history.table_path("lag_1m")).to_pandas(
            columns=["topic", "partition", "minute", "lag_last"], filters=filters
        )

    return _row(
        "  peer: DeltaTable.to_pandas(filters=group and minutes)", [_ms(read) for _ in range(READ)], "lag_1m only"
    )


def _ms(call: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds by the clock, and of this process's own time: the machine may be shared."""
    began, own = time.perf_counter(), _own_s()
    call()
    return (time.perf_counter() - began) * 1e3, (_own_s() - own) * 1e3


def _own_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _row(what: str, taken: list[tuple[float, float]], goal: str) -> Row:
    wall = [one for one, _ in taken]
    of = f"median of {len(taken)}, worst {max(wall):,.0f} ms; " if len(taken) > 1 else ""
    own = f"{median(own for _, own in taken):,.0f} ms of the process's own time"
    return Row(what, f"{median(wall):,.0f} ms", "; ".join(part for part in (f"{of}{own}", goal) if part))
