"""`groupscope pipeline`: record `__consumer_offsets`, roll it up, maintain the tables."""

import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.shared.options import Bootstrap, Config, HistoryPath, Json, new_command
from app.cli.shared.output import emit, emit_json, emit_table, note, warn
from app.cli.shared.signals import until_stopped
from app.ui.formats import duration
from lag.cluster.connection.settings import load_settings
from lag.errors import HistoryError
from lag.history.maintenance import MaintenanceResult, TableSize, maintain, table_size, table_sizes
from lag.history.resume.rollup_progress import load_progress
from lag.history.resume.stream_progress import NEVER, read_until
from lag.history.schemas import TABLES
from lag.history.store import History
from lag.rollup.slo import ENVIRONMENT, load_slos

EVERY_S = 60.0
STALE = timedelta(minutes=5)
"""A running stream is never further behind."""


command = new_command(
    name="pipeline", help="Record the history of a cluster and maintain it (needs Spark).", no_args_is_help=True
)


@command.command()
def stream(
    history: HistoryPath,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    once: Annotated[bool, typer.Option("--once", help="Read up to the current end of the topic, then exit.")] = False,
    json: Json = False,
) -> None:
    """Record __consumer_offsets in Delta tables.

    Every commit and every group event is recorded exactly once, even if the command is stopped or killed. Without
    --once it runs until Ctrl-C.
    """
    settings = load_settings(bootstrap_server, config, os.environ)
    from lag.pipeline.session import session
    from lag.pipeline.stream import Listeners, Outcome, Source, Stream

    source = Source.of(settings)
    outcome = Outcome(source.topic.cluster_id)
    with until_stopped():
        note("Spark is starting")
        with session() as spark:
            made = Stream(spark, History(history), source)
            outcome = made.outcome
            with until_stopped():  # again: Spark has installed its own signal handlers
                made.run(once, Listeners(_report_batch, gap=_warn, trouble=_warn))
    _print_stream(history, outcome, json)


@command.command()
def rollup(
    history: HistoryPath,
    slo: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Objectives (SLOs) to measure, TOML or JSON; by default GROUPSCOPE_SLO."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Roll up everything recorded so far, then exit.")] = False,
    json: Json = False,
) -> None:
    """Compute lag, health and error budgets from the recorded tables.

    For late rows, up to two hours are computed again. Without --once it runs every minute until Ctrl-C.
    """
    named = os.environ.get(ENVIRONMENT)
    slos = load_slos(slo or (Path(named) if named else None))
    from lag.pipeline.rollup import ROLLED_UP, Rollup
    from lag.pipeline.session import session

    rows = Counter(dict.fromkeys(ROLLED_UP, 0))
    with until_stopped():
        note("Spark is starting")
        with session() as spark:
            store = History(history)
            made = Rollup(spark, store, slos)
            with until_stopped():
                _roll_up(store, made, rows)
                while not once:
                    time.sleep(EVERY_S)
                    _roll_up(store, made, rows)
    if json:
        emit_json({"history": history, "rows": rows})
        return
    emit_table(("TABLE", "ROWS WRITTEN"), [(name, f"{n:,}") for name, n in rows.items()], right=[1])


@command.command()
def compact(history: HistoryPath, json: Json = False) -> None:
    """Merge small files, and delete rows past their retention."""
    now, store = datetime.now(UTC), History(history)
    done: list[MaintenanceResult] = []
    failed: list[HistoryError] = []
    for name in TABLES:
        note(f"{name}: merging files, deleting days past their retention")
        try:
            done += filter(None, [maintain(store, name, now)])
        except HistoryError as error:
            failed.append(error)
    _print_maintenance(history, done, json)
    for other in failed[1:]:
        warn(f"{other}")
    if failed:
        raise failed[0]


@command.command()
def status(history: HistoryPath, json: Json = False) -> None:
    """Show what each table holds."""
    store = History(history)
    found, progress = table_sizes(store), _progress(store)
    if not found and not progress:
        raise HistoryError(f"There is no history at {history}", "Check the path; serve and pipeline stream create one")
    if json:
        clusters = [{"cluster": name, "read_until": read, "rolled_up_until": done} for name, read, done in progress]
        emit_json({"history": history, "tables": [_size_document(one) for one in found], "progress": clusters})
        return
    _print_sizes(found)
    if progress:
        now, heads = datetime.now(UTC), ("CLUSTER", "STREAM HAS READ UNTIL", "ROLLED UP UNTIL")
        emit("")
        rows = [(name or "all", _until(read, now), _until(done, now)) for name, read, done in progress]
        emit_table(heads, rows)


def _report_batch(progress: Any) -> None:
    eta = "" if progress.eta_s is None or not progress.behind else f", about {progress.eta_s:,.0f} s left"
    note(
        f"batch {progress.batch}: {progress.records:,} records, {progress.records_per_s:,.0f}/s, "
        f"{progress.behind:,} offsets behind{eta}"
    )


def _warn(of: Any) -> None:
    warn(f"{of}")


def _print_stream(history: str, outcome: Any, as_json: bool) -> None:
    if as_json:
        emit_json(
            {
                "history": history,
                "cluster": outcome.cluster,
                "batches": outcome.batches,
                "records": outcome.records,
                "rows": dict(outcome.rows),
                "our_own": outcome.ours,
                "unknown_types": outcome.unknown,
                "gaps": [asdict(gap) for gap in outcome.gaps],
                "took_s": round(outcome.took_s, 3),
            }
        )
        return
    rows = [(name, f"{number:,}") for name, number in outcome.rows.items()]
    emit_table(("TABLE", "ROWS ADDED"), rows, right=[1])
    note(
        f"{outcome.records:,} records in {outcome.took_s:.1f} s, {outcome.ours:,} of them from groupscope's own readers"
    )


def _roll_up(history: History, made: Any, rows: Counter[str]) -> None:
    now = datetime.now(UTC)
    for piece in made.run(now, _report_piece):
        rows.update(piece.rows)
    read = max(read_until(history).values(), default=now)
    if now - read > STALE:
        when = "nothing yet" if read == NEVER else f"up to {read:%Y-%m-%d %H:%M} UTC"
        warn(f"the stream has read {when}; later minutes are not rolled up. Run groupscope pipeline stream")
    since, ends = now.date() - timedelta(days=1), table_size(history, "end_offsets")
    if ends is None or ends.last_day is None or ends.last_day < since:
        hint = f"Run groupscope serve --history {history.root}"
        warn(f"no log ends are recorded since {since}, so lag cannot be computed. {hint}")


def _report_piece(piece: Any, left: timedelta) -> None:
    rows = sum(piece.rows.values())
    behind = f", {left.total_seconds() / 3600:,.1f} h behind, about {piece.eta_s(left):,.0f} s left" if left else ""
    note(
        f"{piece.since:%Y-%m-%d %H:%M} to {piece.until:%H:%M}: {rows:,} rows, {rows / max(piece.took_s, 1e-3):,.0f}/s"
        + behind
    )


def _print_maintenance(history: str, done: list[MaintenanceResult], as_json: bool) -> None:
    for one in done:
        if one.days_left:
            note(f"{one.table}: days left for the next run, because others were writing to them: {one.days_left}")
    if as_json:
        emit_json({"history": history, "tables": [asdict(one) for one in done]})
        return
    heads = ("TABLE", "FILES BEFORE", "FILES NOW", "DAYS DROPPED", "OLD FILES DELETED")
    rows = [
        (one.table, *map(str, (one.files_before, one.files_after, one.days_dropped, one.old_files_deleted)))
        for one in done
    ]
    emit_table(heads, rows, right=range(1, 5))


def _progress(history: History) -> list[tuple[str, str | None, str | None]]:
    """Each cluster with how far the stream has read and the roll-up has computed; None: not at all."""
    read, rolled = read_until(history), load_progress(history)
    done = {} if rolled is None else rolled.until
    clusters = sorted(read.keys() | done.keys())
    return [(name, _iso(read.get(name)), _iso(done.get(name))) for name in clusters]


def _iso(at: datetime | None) -> str | None:
    return None if at in (None, NEVER) else at.isoformat()


def _until(at: str | None, now: datetime) -> str:
    if at is None:
        return "-"
    until = datetime.fromisoformat(at)
    return f"{until:%Y-%m-%d %H:%M:%S} UTC, {duration((now - until).total_seconds())} ago"


def _print_sizes(found: Iterable[TableSize]) -> None:
    heads = ("TABLE", "ROWS", "FILES", "MB", "FIRST DAY", "LAST DAY")
    rows = [
        (
            one.table,
            "-" if one.rows is None else f"{one.rows:,}",
            f"{one.files:,}",
            f"{one.size_bytes / 1e6:,.1f}",
            *(str(day or "-") for day in (one.first_day, one.last_day)),
        )
        for one in found
    ]
    emit_table(heads, rows, right=range(1, 4))


def _size_document(one: TableSize) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in asdict(one).items()}
