"""The roll-up of tables equals the plain reference series by series; running again changes nothing."""

import math
import random
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from lag.errors import HistoryError
from lag.history.maintenance import DAY_OVER_AFTER
from lag.history.resume import rollup_progress
from lag.history.resume.stream_progress import NEVER, mark_read
from lag.history.store import History, history_errors, literal
from lag.pipeline.group_worker import OWNERS
from lag.pipeline.lag_driver import LagTables, Span
from lag.pipeline.rollup import LATE, PIECE, Piece, Rollup
from lag.rollup.error_budget import DEFAULT, WINDOWS_S, Slo
from lag.verdict.catalogue import STORED
from lag.verdict.status import Status
from tests.lag.history.past import STATUS_OF
from tests.lag.history.rows import rows
from tests.lag.rollup import plain_group_minutes as plain_group
from tests.lag.rollup import plain_minutes as plain
from tests.lag.rollup.plain_group_minutes import TARGETS, Row
from tests.lag.rollup.plain_minutes import Commit, Sample
from tests.lag.rollup.test_lag_minutes import random_commits, random_samples

pytestmark = pytest.mark.timeout(600)

BEGIN = datetime(2026, 11, 22, 11, 50, tzinfo=UTC)
SECONDS = 1500
"""Ten minutes of one hour, fifteen of the next."""

UNTIL = BEGIN + timedelta(seconds=SECONDS)
IDS = {"old": bytes(15) + b"1", "new": bytes(15) + b"2"}
SLOS = (DEFAULT[0], Slo("tight", 5.0, 0.9, "h*"))
ORDERS = {
    "lag_1m": "group_id, topic, partition, minute", "lag_1h": "group_id, topic, partition, hour",
    "lag_group_topic_1m": "group_id, topic, minute", "group_health_1m": "group_id, minute",
    "slo_burn": "group_id, slo_id, at, window_s",
}  # fmt: skip
SERIES = [("g", "t", 0), ("g", "t", 1), ("g", "u", 0), ("h", "t", 0), ("h", "t", 1)]


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


Series = dict[tuple[str, str, int], tuple[list[Sample], list[Commit]]]


@dataclass(frozen=True)
class Past:
    """A history that was rolled up once: what went in, and what the run printed."""

    history: History
    series: Series
    piece: Piece


@pytest.fixture(scope="module")
def past(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Past:
    """Random lag, a classic group g, whose records name topics, and h of KIP-848, whose records have ids."""
    history = History(tmp_path_factory.mktemp("past"))
    series = put_series(history)
    history.append("group_events", rows("group_events", *event_rows("g", EVENTS, ids=False)))
    history.append("group_events", rows("group_events", *event_rows("h", MODERN, ids=True)))
    poll = {"group_id": "g", "type": "classic", "state": "Stable", "members": 2, "lag_known": 0, "lag_partitions": 0}
    polls = [poll | {"complete": True, "poll_ts": BEGIN + timedelta(seconds=at)} for at in (5, 700)]
    history.append("group_snapshots", rows("group_snapshots", *polls))
    (piece,) = roll_up(spark, history)
    return Past(history, series, piece)


def put_series(history: History) -> Series:
    """Random samples of three partitions and commits of five series."""
    dice = random.Random(7)
    samples = {place: random_samples(dice) for place in sorted({(topic, part) for _, topic, part in SERIES})}
    commits = {one: random_commits(dice) for one in SERIES}
    ends = [
        {"topic": topic, "partition": part, "poll_ts": BEGIN + timedelta(seconds=s.at), "log_start": s.start,
         "log_end": s.end, "last_stable": s.stable, "topic_id": IDS.get(s.topic or "")}
        for (topic, part), many in samples.items() for s in many
    ]  # fmt: skip
    made = [
        {"group_id": group, "topic": topic, "partition": part, "src_offset": number, "committed": c.offset,
         "op": int(c.offset is None), "topic_id": IDS.get(c.topic or ""), "bootstrap": c.bootstrap,
         "src_ts": BEGIN + timedelta(seconds=c.at),
         "commit_ts": None if c.offset is None else BEGIN + timedelta(seconds=c.at)}
        for (group, topic, part), many in commits.items() for number, c in enumerate(many)
    ]  # fmt: skip
    dice.shuffle(ends)
    dice.shuffle(made)
    history.append("end_offsets", rows("end_offsets", *ends))
    history.append("commits", rows("commits", *made))
    return {one: (samples[one[1:]], commits[one]) for one in SERIES}


def roll_up(spark: SparkSession, history: History) -> list[Piece]:
    return Rollup(spark, history, SLOS).run(UNTIL, lambda *_: None)


def lag_by_the_minute(spark: SparkSession, history: History, minutes: int) -> list[dict[str, Any]]:
    """Lag alone."""
    for name in ("commits", "end_offsets", "lag_1m", "lag_1h", "lag_group_topic_1m"):
        history.create(name)
    until = BEGIN + timedelta(minutes=minutes)
    LagTables(spark, history).compute(Span(BEGIN, until, until, {}, OWNERS.empty_table()))
    return of(history, "lag_1m", "minute")


def of(history: History, table: str, order: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = history.query(f"SELECT * FROM {table} ORDER BY {order}", table).to_pylist()
    return found


def same(mine: Any, wanted: Any) -> bool:
    if isinstance(wanted, float):
        return mine is not None and (mine == wanted or math.isclose(mine, wanted, rel_tol=1e-6, abs_tol=0.51))
    return bool(mine == wanted)


def test_lag_is_as_the_reference_has_it(past: Past) -> None:
    minutes = of(past.history, "lag_1m", "group_id, topic, partition, minute")
    by_series = {one: [row for row in minutes if place(row) == one] for one in SERIES}
    for one, (samples, commits) in past.series.items():
        wanted = plain.minutes(samples, commits, 0, SECONDS)
        assert [seconds(row["minute"]) for row in by_series[one]] == [row.pop("minute") for row in wanted]
        for mine, reference in zip(by_series[one], wanted, strict=True):
            reported = mine | {"status": str(STATUS_OF[mine["status"]])}
            assert {name: reported[name] for name, value in reference.items() if not same(reported[name], value)} == {}
    assert past.piece.rows["lag_1m"] == len(minutes)
    check_hours(of(past.history, "lag_1h", "group_id, topic, partition, hour"), by_series)
    check_topics(of(past.history, "lag_group_topic_1m", "group_id"), minutes)


def test_running_again_changes_nothing(spark: SparkSession, past: Past) -> None:
    before = {name: of(past.history, name, order) for name, order in ORDERS.items()}
    assert {name: len(found) for name, found in before.items()} == past.piece.rows
    assert roll_up(spark, past.history) == []
    (Path(past.history.root) / rollup_progress.PATH).unlink()
    (piece,) = roll_up(spark, past.history)
    assert piece.rows == past.piece.rows
    assert {name: of(past.history, name, order) for name, order in ORDERS.items()} == before


def place(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["group_id"], row["topic"], row["partition"]


def seconds(at: datetime) -> int:
    return round((at - BEGIN).total_seconds())


LAST_KNOWN = (
    "committed_last",
    "log_start",
    "log_end",
    "lag_last",
    "lag_rc_last",
    "eta_s",
    "time_to_loss_s",
    "commit_gap_open_ms",
)
MOST = ("lag_max", "lost", "time_lag_max_ms", "time_lag_min_ms", "commit_gap_max_ms")
LEAST = ("lag_raw_min", "lead_min")
SUMS = ("commits", "rewinds", "samples", "lag_samples", "time_lag_samples", "rewind_records", "newly_lost")
OF_THE_LAST_MINUTE = ("status", "owner_member")
WEIGHED, MEANS = {"lag_avg": "lag_samples", "time_lag_avg_ms": "time_lag_samples"}, ("consume_rate", "produce_rate")
KEY = ("cluster", "group_id", "topic", "partition", "hour", "dt")


def check_hours(hours: list[dict[str, Any]], by_series: dict[Any, list[dict[str, Any]]]) -> None:
    """Every column, of both hours of every series."""
    begins = [BEGIN.replace(minute=0), UNTIL.replace(minute=0)]
    assert [(place(row), row["hour"]) for row in hours] == [(one, at) for one in sorted(SERIES) for at in begins]
    for row in hours:
        wanted = hour_of([one for one in by_series[place(row)] if one["minute"].replace(minute=0) == row["hour"]])
        assert wanted.keys() | set(KEY) == row.keys()
        assert {name: row[name] for name, value in wanted.items() if not same(row[name], value)} == {}


def hour_of(minutes: list[dict[str, Any]]) -> dict[str, Any]:
    """What an hour is, minute by minute in order."""
    known = {name: [one[name] for one in minutes if one[name] is not None] for name in minutes[0]}
    made = {name: known[name][-1] if known[name] else None for name in LAST_KNOWN}
    made |= {name: minutes[-1][name] for name in OF_THE_LAST_MINUTE}
    made |= {name: max(known[name], default=None) for name in MOST}
    made |= {name: min(known[name], default=None) for name in LEAST}
    made |= {name: sum(known[name]) if known[name] else None for name in SUMS}
    made |= {name: float(np.mean(known[name])) if known[name] else None for name in MEANS}
    for name, samples in WEIGHED.items():
        weights = [one[samples] for one in minutes if one[name] is not None]
        made[name] = float(np.average(known[name], weights=weights)) if weights else None
    return made | {"time_lag_bounded": all(known["time_lag_bounded"])}


def check_topics(topics: list[dict[str, Any]], minutes: list[dict[str, Any]]) -> None:
    together: dict[Any, list[dict[str, Any]]] = {}
    for row in minutes:
        together.setdefault((row["group_id"], row["topic"], row["minute"]), []).append(row)
    assert {(row["group_id"], row["topic"], row["minute"]) for row in topics} == set(together)
    hidden = 0
    for row in topics:
        many = together[row["group_id"], row["topic"], row["minute"]]
        lags = [one["lag_last"] for one in many if one["lag_last"] is not None]
        assert (row["partitions"], row["lag_known"]) == (len(many), len(lags))
        assert row["lag_sum"] == (sum(lags) if lags else None)
        assert row["lag_max"] == max(lags, default=None)
        ages = [one["time_lag_max_ms"] for one in many if one["time_lag_max_ms"] is not None]
        bounded = all(one["time_lag_bounded"] for one in many)
        assert row["time_lag_max_ms"] == (max(ages, default=None) if bounded else None)
        hidden += bool(ages) and not bounded
        assert row["lag_p95"] == (pytest.approx(float(np.percentile(lags, 95))) if lags else None)
        assert row["skew"] == (pytest.approx(max(lags) / np.mean(lags)) if lags and sum(lags) else None)
        assert dict(row["partitions_by_status"]) == {
            name: sum(one["status"] == name for one in many) for name in {one["status"] for one in many}
        }
    assert hidden  # one partition is known, and another one is older than what was sampled


EVENTS = [
    Row(-4000, 0, 2, 3, "a", bootstrap=True, owned=(("t", (0, 1)),)),
    Row(-3000, 1, 2, 4, "a", owned=(("t", (0,)),)), Row(-3000, 1, 2, 4, "b", owned=(("t", (1,)), ("u", (0,)))),
    Row(130, 2, 2, 6, "b", owned=(("t", (0, 1)), ("u", (0,)))),
    Row(900, 3, 2, 7, owned=()),
]  # fmt: skip
MODERN = [
    Row(20, 5, 5, member="m"), Row(20, 6, 3, 2), Row(20, 7, 6, 2), Row(24.5, 8, 8, 2, "m", 0, owned=(("t", (1,)),)),
]  # fmt: skip


def test_health_owners_and_budgets_are_as_records_and_lag_show(past: Past) -> None:
    minutes = of(past.history, "lag_1m", "group_id, topic, partition, minute")
    check_owners(minutes)
    health = of(past.history, "group_health_1m", "group_id, minute")
    for group, events in (("g", EVENTS), ("h", MODERN)):
        check_health([row for row in health if row["group_id"] == group], events, minutes)
    burns = of(past.history, "slo_burn", "group_id, slo_id, at, window_s")
    assert {(row["group_id"], row["slo_id"]) for row in burns} == {("g", "time-lag"), ("h", "time-lag"), ("h", "tight")}
    check_burns(burns, health)


def event_rows(group: str, events: list[Row], ids: bool) -> list[dict[str, Any]]:
    """As the stream writes them; of a partition `t` with an id, that of its newest log is given."""
    return [
        {"group_id": group, "src_offset": e.offset, "record_type": e.kind, "member_id": e.member, "state": e.state,
         "generation_or_epoch": None if e.kind in TARGETS else e.number,
         "assignment_epoch": e.number if e.kind in TARGETS else None, "bootstrap": e.bootstrap,
         "ts": BEGIN + timedelta(seconds=e.at), "tombstone": e.gone,
         "assignment": [{"topic": None if ids else t, "topic_id": IDS["old"] if ids else None, "partitions": list(p)}
                        for t, p in e.owned]}
        for e in events
    ]  # fmt: skip


def check_owners(minutes: list[dict[str, Any]]) -> None:
    """The owner at the end of each minute."""
    wanted: dict[Any, list[tuple[int, str | None]]] = {
        ("g", "t", 0): [(-1, "a"), (130, "b"), (900, None)],
        ("g", "t", 1): [(-1, "b"), (900, None)],
        ("g", "u", 0): [(-1, "b"), (900, None)],
        ("h", "t", 1): [(-1, None), (24, "m")],
    }
    for row in minutes:
        known = [name for at, name in wanted.get(place(row), [(-1, None)]) if at < seconds(row["minute"]) + 60]
        assert row["owner_member"] == known[-1], (place(row), row["minute"])


def check_health(found: list[dict[str, Any]], events: list[Row], minutes: list[dict[str, Any]]) -> None:
    group = found[0]["group_id"]
    reported = {row.pop("minute"): row for row in plain_group.minutes(events, 0, SECONDS)}
    by_minute: dict[datetime, list[dict[str, Any]]] = {}
    for row in minutes:
        if row["group_id"] == group:
            by_minute.setdefault(row["minute"], []).append(row)
    assert {seconds(row["minute"]) for row in found} >= reported.keys()
    assert {row["minute"] for row in found} >= by_minute.keys()
    for row in found:
        assert reported.get(seconds(row["minute"]), {}).items() <= row.items()
        lags = by_minute.get(row["minute"], [])
        at_least = [max(one["time_lag_max_ms"] or 0, one["time_lag_min_ms"] or 0) for one in lags
                    if (one["time_lag_max_ms"], one["time_lag_min_ms"]) != (None, None)]  # fmt: skip
        assert row["time_lag_max_ms"] == max(at_least, default=None)
        known = all(one["time_lag_bounded"] and one["time_lag_max_ms"] is not None for one in lags)
        assert row["time_lag_known"] == (known if lags else None)
        assert row["status"] == min((one["status"] for one in lags), default=None)


def check_burns(burns: list[dict[str, Any]], health: list[dict[str, Any]]) -> None:
    """Every five minutes, each window that has a minute, counted minute by minute; all are within the longest one."""
    first = BEGIN.replace(minute=5)
    steps = [first + timedelta(minutes=5 * n) for n in range((UNTIL - first) // timedelta(minutes=5) + 1)]
    of_slo = [(group, slo) for group in "gh" for slo in SLOS if slo.groups == "*" or group == "h"]
    wanted = [
        found
        for (group, slo), at, window_s in product(of_slo, steps, WINDOWS_S)
        if (found := burn_of([one for one in health if one["group_id"] == group], slo, at, window_s))
    ]
    wanted.sort(key=lambda row: [row[name] for name in ("group_id", "slo_id", "at", "window_s")])
    assert [{name: row[name] for name in wanted[0]} for row in burns] == wanted
    assert {row["burn"] is None for row in burns} == {True, False}


def burn_of(health: list[dict[str, Any]], slo: Slo, at: datetime, window_s: int) -> dict[str, Any] | None:
    begin = at - timedelta(seconds=window_s)
    inside = [one for one in health if begin <= one["minute"] < at and one["time_lag_known"] is not None]
    judged = [verdict(one, slo) for one in inside]
    good, bad, unknown = (judged.count(word) for word in ("good", "bad", "unknown"))
    share, reported = 1 - slo.target, good + bad > 0
    made = {
        "group_id": health[0]["group_id"], "slo_id": slo.slo_id, "at": at, "window_s": window_s, "good_minutes": good,
        "bad_minutes": bad, "unknown_minutes": unknown, "total_minutes": len(judged), "target": slo.target,
        "threshold_ms": slo.threshold_ms, "burn": pytest.approx(bad / (good + bad) / share) if reported else None,
        "budget_left": pytest.approx(1 - bad / (share * window_s / 60)) if reported else None,
    }  # fmt: skip
    return made if judged else None


def verdict(minute: dict[str, Any], slo: Slo) -> str:
    lag = minute["time_lag_max_ms"]
    if lag is not None and lag > 1000 * slo.threshold_s:
        return "bad"
    return "good" if minute["time_lag_known"] else "unknown"


def test_minutes_older_than_a_day_count_by_the_hour(spark: SparkSession, history: History) -> None:
    """Two days ago a good and a bad minute of one hour; now a good one."""
    old = BEGIN - timedelta(days=2)
    reported = [(old, 5_000), (old + timedelta(minutes=1), 90_000), (BEGIN, 0)]
    minutes = [{"group_id": "g", "minute": at, "type": "classic", "rebalances": 0, "joins": 0, "leaves": 0,
                "time_lag_max_ms": lag, "time_lag_known": True} for at, lag in reported]  # fmt: skip
    made = Rollup(spark, history)
    history.append("group_health_1m", rows("group_health_1m", *minutes))
    made._replace("slo_burn", made._budgets(BEGIN, BEGIN + timedelta(minutes=5)), BEGIN, BEGIN + timedelta(minutes=5))
    found = {row["window_s"]: (row["good_minutes"], row["bad_minutes"]) for row in of(history, "slo_burn", "window_s")}
    assert found == {300: (1, 0), 1800: (1, 0), 3600: (1, 0), 21600: (1, 0), 86400: (1, 0), 2592000: (2, 1)}


def test_a_commit_that_comes_late_changes_the_minutes_that_it_belongs_to(spark: SparkSession, history: History) -> None:
    samples = [{"poll_ts": BEGIN + timedelta(seconds=10 * n), "log_end": 100, "last_stable": 100} for n in range(18)]
    history.append("end_offsets", rows("end_offsets", *samples))
    early = {"committed": 40, "src_ts": BEGIN, "commit_ts": BEGIN, "src_offset": 1}
    history.append("commits", rows("commits", early))
    assert [row["lag_last"] for row in lag_by_the_minute(spark, history, 3)] == [60, 60, 60]
    late = early | {"committed": 90, "commit_ts": BEGIN + timedelta(seconds=70), "src_offset": 2}
    history.append("commits", rows("commits", late))
    assert [row["lag_last"] for row in lag_by_the_minute(spark, history, 3)] == [60, 10, 10]


def test_the_health_of_a_group_is_the_collectors_verdict_where_there_is_one(
    spark: SparkSession, history: History
) -> None:
    """By its commits alone it has stopped; a poll knows of the transaction, and of a partition without a commit."""
    held = STORED[Status.HELD]
    samples = [{"poll_ts": BEGIN + timedelta(minutes=n), "log_end": 100, "last_stable": 100} for n in range(14)]
    history.append("end_offsets", rows("end_offsets", *samples))
    history.append("commits", rows("commits", {"committed": 40, "src_ts": BEGIN, "commit_ts": BEGIN}))
    poll = {"group_id": "g", "type": "classic", "state": "Stable", "members": 2, "complete": True}
    seen = poll | {"lag": 60, "lag_known": 1, "lag_partitions": 2, "markers": 0, "time_lag_ms": 7}
    polls = [seen | {"poll_ts": BEGIN + timedelta(minutes=at), "status": code} for at, code in ((11, None), (12, held))]
    history.append("group_snapshots", rows("group_snapshots", *polls))
    Rollup(spark, history).run(BEGIN + timedelta(minutes=13), lambda *_: None)
    made = of(history, "group_health_1m", "minute")[-3:]
    assert [row["status"] for row in made] == [STORED[Status.STOPPED], STORED[Status.STOPPED], held]
    assert [(row["lag"], row["lag_known"], row["lag_partitions"]) for row in made] == [
        (None,) * 3,
        (60, 1, 2),
        (60, 1, 2),
    ]


@pytest.fixture
def only_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what is made of it."""
    monkeypatch.setattr(Rollup, "_replace", lambda *_: 0)


@pytest.mark.usefixtures("only_lag")
def test_what_the_stream_has_not_read_waits_for_it_and_is_then_as_if_it_had_never_been_away(
    spark: SparkSession, history: History
) -> None:
    """Away for most of an hour, while the group goes on: no group is reported as stopped, before or after."""
    rollup, report, asked = Rollup(spark, history), lambda *_: None, timedelta(minutes=65)
    minutes = [BEGIN + timedelta(minutes=n) for n in range(65)]
    ends = [{"poll_ts": at, "log_end": 10 * n + 10, "last_stable": 10 * n + 10} for n, at in enumerate(minutes)]
    commits = [
        {"committed": 10 * n + 5, "src_ts": at, "commit_ts": at, "src_offset": n} for n, at in enumerate(minutes)
    ]
    history.append("end_offsets", rows("end_offsets", *ends))
    mark_read(history, "c1", NEVER)
    assert rollup.run(BEGIN + asked, report) == []
    history.append("commits", rows("commits", *commits[:10]))
    mark_read(history, "c1", BEGIN + timedelta(minutes=10, seconds=30))
    assert [piece.until for piece in rollup.run(BEGIN + asked, report)] == [minutes[10]]
    assert [row["minute"] for row in of(history, "lag_1m", "minute")] == minutes[:10]
    assert rollup.run(BEGIN + asked, report) == []
    history.append("commits", rows("commits", *commits[10:]))
    mark_read(history, "c1", BEGIN + asked)
    rollup.run(BEGIN + asked, report)
    found = of(history, "lag_1m", "minute")
    assert [(row["minute"], row["lag_last"], row["status"]) for row in found] == [
        (at, 5, STORED[Status.OK]) for at in minutes
    ]


@pytest.mark.usefixtures("only_lag")
def test_each_cluster_of_a_history_is_judged_as_far_as_its_own_stream_has_read(
    spark: SparkSession, history: History
) -> None:
    """That of c1 is no more; c3 has none, and nothing is held back there."""
    clusters, minutes = ("c1", "c2", "c3"), [BEGIN + timedelta(minutes=n) for n in range(20)]
    ends = [{"cluster": name, "poll_ts": at, "log_end": 9, "last_stable": 9} for name in clusters for at in minutes]
    commits = [{"cluster": name, "committed": 4, "src_ts": BEGIN, "commit_ts": BEGIN} for name in clusters]
    history.append("end_offsets", rows("end_offsets", *ends))
    history.append("commits", rows("commits", *commits))
    mark_read(history, "c1", minutes[5])
    mark_read(history, "c2", minutes[15])
    Rollup(spark, history).run(minutes[-1], lambda *_: None)
    found = of(history, "lag_1m", "minute")
    assert {name: [row["minute"] for row in found if row["cluster"] == name] for name in clusters} == {
        "c1": minutes[:5], "c2": minutes[:15], "c3": minutes[:15],
    }  # fmt: skip


def test_a_day_is_not_put_in_order_while_its_last_hours_may_still_be_written_again() -> None:
    """A run begins LATE before the newest minute, with that whole hour."""
    assert timedelta(hours=1) + LATE <= DAY_OVER_AFTER


def test_an_empty_history_has_nothing_to_roll_up(spark: SparkSession, history: History) -> None:
    assert roll_up(spark, history) == []


def test_the_last_commit_before_the_window_counts_however_old(spark: SparkSession, history: History) -> None:
    days_ago = BEGIN - timedelta(days=5)
    commits = [{"committed": n, "src_ts": days_ago, "commit_ts": days_ago, "src_offset": n} for n in (3, 7, 5)]
    history.append("commits", rows("commits", *commits))
    history.append("end_offsets", rows("end_offsets", {"poll_ts": BEGIN, "log_end": 10, "last_stable": 10}))
    (row,) = lag_by_the_minute(spark, history, 1)
    assert (row["committed_last"], row["lag_last"], row["commits"]) == (7, 3, 0)


@pytest.mark.usefixtures("only_lag")
def test_a_negative_offset_of_an_earlier_version_before_the_window_is_no_commit(
    spark: SparkSession, history: History
) -> None:
    days_ago = BEGIN - timedelta(days=5)
    same = {"src_ts": days_ago, "commit_ts": days_ago}
    commits = [same | {"committed": 7, "src_offset": 1}, same | {"committed": -2, "src_offset": 2}]
    history.append("commits", rows("commits", *commits))
    history.append("end_offsets", rows("end_offsets", {"poll_ts": BEGIN, "log_end": 10, "last_stable": 10}))
    assert lag_by_the_minute(spark, history, 1) == []


@pytest.mark.usefixtures("only_lag")
def test_the_last_commit_before_the_window_is_carried_from_run_to_run(spark: SparkSession, history: History) -> None:
    """It is read once: later it may be gone. Another process may run the next time."""
    days_ago = BEGIN - timedelta(days=5)
    history.append("commits", rows("commits", {"committed": 7, "src_ts": days_ago, "commit_ts": days_ago}))
    polls = [{"poll_ts": BEGIN + timedelta(minutes=at), "log_end": 10, "last_stable": 10} for at in (0, 125, 126)]
    report = lambda *_: None  # noqa: E731
    history.append("end_offsets", rows("end_offsets", *polls[:2]))
    assert len(Rollup(spark, history).run(BEGIN + timedelta(minutes=126), report)) == 1
    history.replace("commits", rows("commits").slice(0, 0), f"src_ts = {literal(days_ago)}")
    history.append("end_offsets", rows("end_offsets", polls[2]))
    Rollup(spark, history).run(BEGIN + timedelta(minutes=127), report)
    assert [row["lag_last"] for row in of(history, "lag_1m", "minute")] == [3, 3, 3]


@pytest.mark.usefixtures("only_lag")
def test_a_cluster_whose_stream_comes_back_catches_up_while_the_others_go_on(
    spark: SparkSession, history: History
) -> None:
    """Eight hours away: longer than anything is computed again. A commit of that time is the last one there is."""
    begin, clusters = BEGIN.replace(minute=0), ("c1", "c2")
    polls = [begin + timedelta(hours=hour) for hour in range(11)]
    ends = [{"cluster": name, "poll_ts": at, "log_end": 9, "last_stable": 9} for name in clusters for at in polls]
    commits = [{"cluster": name, "committed": 4, "src_ts": begin, "commit_ts": begin} for name in clusters]
    late = {"cluster": "c1", "committed": 6, "src_ts": polls[3], "commit_ts": polls[3], "src_offset": 1}
    history.append("end_offsets", rows("end_offsets", *ends))
    history.append("commits", rows("commits", *commits))
    for read, until in ((1, 1), (1, 5), (1, 9)):
        mark_read(history, "c1", polls[read])
        mark_read(history, "c2", polls[until])
        Rollup(spark, history).run(polls[-1], lambda *_: None)
    lag = {
        name: [row["lag_last"] for row in of(history, "lag_1m", "minute") if row["cluster"] == name]
        for name in clusters
    }
    assert lag == {"c1": [5], "c2": [5] * 9}
    history.append("commits", rows("commits", late))
    mark_read(history, "c1", polls[-1])
    Rollup(spark, history).run(polls[-1], lambda *_: None)
    lag = {
        name: [row["lag_last"] for row in of(history, "lag_1m", "minute") if row["cluster"] == name]
        for name in clusters
    }
    assert lag == {"c1": [5] * 3 + [3] * 7, "c2": [5] * 9}


@pytest.mark.usefixtures("only_lag")
def test_a_run_goes_back_as_far_as_new_files_have_rows_and_late_at_most(spark: SparkSession, history: History) -> None:
    begin, minute = BEGIN.replace(minute=0), timedelta(minutes=1)

    def record(since: int, until: int, *late: int) -> None:
        ends = [
            {"poll_ts": begin + at * minute, "log_end": 2 * at, "last_stable": 2 * at} for at in range(since, until)
        ]
        times = [*range(since, until, 10), *late]
        commits = [{"commit_ts": begin + at * minute, "src_ts": begin + max(at, since) * minute} for at in times]
        made = [commit | {"src_offset": since + n, "committed": times[n]} for n, commit in enumerate(commits)]
        history.append("end_offsets", rows("end_offsets", *ends))
        history.append("commits", rows("commits", *made))

    def run(at: int) -> list[float]:
        pieces = Rollup(spark, history).run(begin + at * minute, lambda *_: None)
        return [(piece.since - begin) / minute for piece in pieces]

    record(0, 240)
    assert run(240) == [0]
    record(240, 270)
    assert run(270) == [240]
    record(270, 300, 205)
    assert run(300) == [180]
    record(300, 310, 31)
    assert run(310) == [180]
    record(310, 330)
    DeltaTable(history.table_path("end_offsets")).optimize.compact()
    assert run(330) == [180]
    assert run(331) == [300]
    lag = of(history, "lag_1m", "minute")
    assert [row["lag_last"] for row in lag[200:210]] == [200, 202, 204, 206, 208, 205, 207, 209, 211, 213]
    for name in ("lag_1m", "lag_1h", "lag_group_topic_1m"):
        shutil.rmtree(history.table_path(name))
    assert run(331) == [0]
    assert of(history, "lag_1m", "minute")[60:] == lag[60:]


@pytest.mark.usefixtures("only_lag")
def test_hours_after_a_clock_that_ran_ahead_are_computed(spark: SparkSession, history: History) -> None:
    """It is six hours ahead for one run. The next run comes four hours after it was set right."""
    begin, hour = BEGIN.replace(minute=0), timedelta(hours=1)

    def record(since: int, until: int) -> None:
        polls = [begin + number * hour / 2 for number in range(2 * since, 2 * until)]
        ends = [{"poll_ts": at, "log_end": 9, "last_stable": 9} for at in polls]
        history.append("end_offsets", rows("end_offsets", *ends))

    def run(at: int) -> list[tuple[float, float]]:
        mark_read(history, "c1", begin + at * hour)
        pieces = Rollup(spark, history).run(begin + at * hour, lambda *_: None)
        return [((piece.since - begin) / hour, (piece.until - begin) / hour) for piece in pieces]

    history.append("commits", rows("commits", {"committed": 4, "src_ts": begin, "commit_ts": begin}))
    record(0, 1)
    assert run(1) == [(0, 1)]
    assert run(7) == [(1, 7)]
    record(1, 5)
    assert run(5) == [(0, 5)]
    assert run(5) == []
    record(5, 6)
    assert run(6) == [(5, 6)]
    found = of(history, "lag_1m", "minute")
    assert [(row["minute"] - begin) / hour for row in found] == [number / 2 for number in range(12)]


def test_a_recorded_file_that_is_gone_is_named(spark: SparkSession, history: History) -> None:
    history.append("commits", rows("commits", {"committed": 4, "src_ts": BEGIN, "commit_ts": BEGIN}))
    history.append("end_offsets", rows("end_offsets", {"poll_ts": BEGIN, "log_end": 9, "last_stable": 9}))
    (file,) = Path(history.table_path("end_offsets")).glob("*/*.parquet")
    file.unlink()
    with pytest.raises(HistoryError, match=f"FileNotFoundError: .*{file.name}"), history_errors(history.root):
        lag_by_the_minute(spark, history, 1)


@pytest.mark.usefixtures("only_lag")
def test_commits_of_before_a_stream_first_started_count_though_a_run_came_before_it(
    spark: SparkSession, history: History
) -> None:
    """What that run remembers is that there were none."""
    old, polls = BEGIN - timedelta(hours=5), [BEGIN + timedelta(minutes=at) for at in range(3)]
    history.append(
        "end_offsets", rows("end_offsets", *({"poll_ts": at, "log_end": 9, "last_stable": 9} for at in polls))
    )
    assert len(roll_up(spark, history)) == 1
    history.append("commits", rows("commits", {"committed": 4, "src_ts": old, "commit_ts": old}))
    mark_read(history, "c1", polls[-1] + timedelta(minutes=1))
    assert len(roll_up(spark, history)) == 1
    assert [row["lag_last"] for row in of(history, "lag_1m", "minute")] == [5, 5, 5]


def test_a_first_run_that_was_killed_after_lag_leaves_no_gap_in_what_follows_from_it(
    spark: SparkSession, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    polls = [BEGIN + timedelta(minutes=20 * at) for at in range(12)]
    history.append(
        "end_offsets", rows("end_offsets", *({"poll_ts": at, "log_end": 9, "last_stable": 9} for at in polls))
    )
    history.append("commits", rows("commits", {"committed": 4, "src_ts": BEGIN, "commit_ts": BEGIN}))
    end = polls[-1] + timedelta(minutes=1)
    with monkeypatch.context() as patched:
        patched.setattr(Rollup, "_replace", killed)
        with pytest.raises(KeyboardInterrupt):
            Rollup(spark, history).run(end, lambda *_: None)
    assert [row["minute"] for row in of(history, "lag_1m", "minute")] == polls
    Rollup(spark, history).run(end, lambda *_: None)
    assert [row["minute"] for row in of(history, "group_health_1m", "minute")] == polls


def killed(*_: object) -> int:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("only_lag")
def test_tables_that_were_deleted_are_recreated(spark: SparkSession, history: History) -> None:
    history.append("commits", rows("commits", {"committed": 4, "src_ts": BEGIN, "commit_ts": BEGIN}))
    history.append("end_offsets", rows("end_offsets", {"poll_ts": BEGIN, "log_end": 9, "last_stable": 9}))
    for _ in range(2):
        assert len(roll_up(spark, history)) == 1
        assert roll_up(spark, history) == []
        shutil.rmtree(history.table_path("lag_1m"))


@pytest.mark.usefixtures("only_lag")
def test_the_last_commit_before_the_window_is_carried_from_piece_to_piece(
    spark: SparkSession, history: History
) -> None:
    times = {0: BEGIN - timedelta(days=1), 1: BEGIN + timedelta(hours=3)}
    commits = [
        {"group_id": group, "committed": committed, "src_ts": times[day], "commit_ts": times[day], "src_offset": number}
        for number, (group, committed, day) in enumerate((("old", 2, 0), ("both", 3, 0), ("both", 7, 1), ("new", 8, 1)))
    ]
    history.append("commits", rows("commits", *commits))
    polls = [BEGIN + timedelta(hours=5), BEGIN + timedelta(hours=5) + 2 * PIECE]
    ends = [{"poll_ts": at, "log_end": 10, "last_stable": 10} for at in polls]
    history.append("end_offsets", rows("end_offsets", *ends))
    assert len(Rollup(spark, history).run(polls[-1] + timedelta(minutes=1), lambda *_: None)) == 3
    found = [(row["group_id"], row["minute"], row["lag_last"]) for row in of(history, "lag_1m", "group_id, minute")]
    assert found == [
        (group, at, 10 - committed) for group, committed in (("both", 7), ("new", 8), ("old", 2)) for at in polls
    ]
