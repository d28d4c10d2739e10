"""The history of a group: points with what they cover, periods of one verdict, and what is not there."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta, timezone
from math import inf
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest

from app.server.settings import Settings
from app.server.source import Source
from lag.history.queries import HistoryQueries
from lag.polling.report import Report
from tests.app.server.api.conformity import ask
from tests.app.server.api.reports import installed, report, source_of
from tests.app.views import pasts
from tests.lag.history.rows import NOON

BAD = f"/clusters/demo/groups/{pasts.BAD}/history"
NOON_MS = int(NOON.timestamp() * 1000)
MINUTE_MS = 60_000


def times(since_minutes: int, until_minutes: int = 0) -> str:
    """The query for the minutes before noon, written with an offset."""
    since, until = (NOON - timedelta(minutes=minutes) for minutes in (since_minutes, until_minutes))
    zone = timezone(timedelta(hours=1))
    return f"since={quote(since.astimezone(zone).isoformat())}&until={quote(until.isoformat())}"


def recorded(read: Report) -> Report:
    """The report of the cluster that has the history."""
    return replace(read, snapshot=replace(read.snapshot, cluster_id=pasts.CLUSTER))


@pytest.fixture(scope="module")
def its() -> Source:
    return source_of(demo=recorded(report()))


@pytest.fixture(autouse=True, scope="module")
def _served(its: Source, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    root = tmp_path_factory.mktemp("history")
    pasts.write(str(root))
    with installed(replace(its, settings=Settings(history=str(root)))):
        yield


def test_the_last_hours_by_the_minute() -> None:
    answer = ask(BAD, times(180)).json
    assert (answer["step_s"], answer["since_ms"], answer["until_ms"]) == (60, NOON_MS - 180 * MINUTE_MS, NOON_MS)
    assert len(answer["lag"]) == 180
    assert answer["lag"][-1] == {
        "at_ms": NOON_MS - MINUTE_MS,
        "lag": 18_003,
        "time_lag_s": 180.0,
        "known": 2,
        "partitions": 2,
    }
    assert answer["verdicts"] == [
        {"verdict": "stopped", "since_ms": NOON_MS - 180 * MINUTE_MS, "until_ms": NOON_MS},
    ]


def test_a_gap_is_null_and_ends_a_period() -> None:
    first_ms = NOON_MS - pasts.MINUTES * MINUTE_MS
    answer = ask(BAD, times(pasts.MINUTES)).json
    unseen = [point["at_ms"] for point in answer["lag"] if point["lag"] is None]
    assert unseen == [first_ms + at * MINUTE_MS for at in pasts.GAP]
    assert {point["known"] for point in answer["lag"] if point["lag"] is None} == {0}
    minutes = [
        (each["verdict"], *((each[key] - first_ms) // MINUTE_MS for key in ("since_ms", "until_ms")))
        for each in answer["verdicts"]
    ]
    assert minutes == [
        ("ok", 0, 300),
        ("stopped", 300, 330),
        ("ok", 330, 600),
        ("ok", 610, 1_260),
        ("stopped", 1_260, 1_440),
    ]


def test_a_time_lag_without_an_end_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    lag = pd.DataFrame({"at_us": [0], "lag_records": [5.0], "time_lag_s": [inf], "known": [1], "partitions": [1]})
    monkeypatch.setattr(HistoryQueries, "lag", lambda *_: lag)
    (point,) = ask(BAD, times(1)).json["lag"]
    assert point == {"at_ms": 0, "lag": 5, "time_lag_s": None, "known": 1, "partitions": 1}


def test_a_partition_alone() -> None:
    lags = [ask(BAD, f"{times(1)}&topic=t&partition={part}").json["lag"][0]["lag"] for part in (0, 1)]
    assert lags == [3, 18_000]


def test_times_in_milliseconds_are_those_of_the_answer() -> None:
    answer = ask(BAD, f"since={NOON_MS - 180 * MINUTE_MS}&until={NOON_MS}").json
    assert (answer["since_ms"], answer["until_ms"]) == (NOON_MS - 180 * MINUTE_MS, NOON_MS)


def test_a_long_span_is_by_the_hour() -> None:
    answer = ask(BAD, times(5 * 24 * 60)).json
    assert (answer["step_s"], len(answer["lag"])) == (3_600, 120)
    assert answer["lag"][-1]["lag"] == 18_003


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("since=yesterday", "query.since: Input should be a valid datetime"),
        ("since=2026-06-15T12:00:00", "query.since: Input should have timezone info"),
        ("since=1781524800", "query.since: Is 1781524800 in seconds? In milliseconds it is 1970-01-21T14:52:04.800Z"),
        ("until=1781524800000000", "query.until: Is 1781524800000000 in microseconds?"),
        ("since=2026", "query.since: 2026 in milliseconds is 1970-01-01T00:00:02.026Z"),
        ("since=1781524800.5", "query.since: Write a time such as 2026-11-25T08:00:00Z, or whole milliseconds"),
        ("since=-5", "query.since: Write a time such as 2026-11-25T08:00:00Z, or whole milliseconds"),
        ("since=1e999", "query.since: Input should be a valid datetime"),
        ("until=NaN", "query.until: Input should be a valid datetime"),
        ("until=9999-12-31T23:59:59Z", "query.until: Input should be less than 2200"),
        ("since=2026-06-15T12:00:00Z&until=2026-06-15T12:00:00Z", "query: since must be 1 minute to 90 days"),
        ("since=2026-01-01T00:00:00Z&until=2026-06-15T12:00:00Z", "query: since must be 1 minute to 90 days"),
        ("since=2026-01-01T00:00:00Z", "query.since: since must be 1 minute to 90 days"),
        ("partition=1", "query: A partition needs its topic"),
        ("topic=t&partition=-1", "query.partition: Input should be greater than or equal to 0"),
    ],
)
def test_wrong_times_are_named(query: str, detail: str) -> None:
    answer = ask(BAD, query)
    assert (answer.status, answer.json["detail"][: len(detail)]) == (400, detail)


def test_a_group_that_is_neither_there_nor_recorded_is_not_found() -> None:
    assert ask("/clusters/demo/groups/biling/history").status == 404
    assert ask("/clusters/demo/groups/billing/history").status == 200


def test_a_topic_that_is_neither_there_nor_recorded_is_not_found() -> None:
    found = {topic: ask(BAD, f"{times(5)}&topic={topic}") for topic in ("t", "orders", "order")}
    assert {topic: answer.status for topic, answer in found.items()} == {"t": 200, "orders": 200, "order": 404}
    assert {point["lag"] for point in found["orders"].json["lag"]} == {None}
    assert found["order"].json["detail"] == "There is no topic 'order'. Did you mean 'orders'?"


def test_a_partition_that_is_neither_there_nor_recorded_is_not_found() -> None:
    asked = {("t", 0): 200, ("t", 2): 404, ("orders", 1): 200, ("orders", 2): 404}
    found = {key: ask(BAD, f"{times(5)}&topic={key[0]}&partition={key[1]}") for key in asked}
    assert {key: answer.status for key, answer in found.items()} == asked
    answer = found["t", 2]
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["detail"] == "There is no partition 2 of topic 't'."


def test_a_server_without_a_history_says_so(its: Source) -> None:
    with installed(its):
        answer = ask(BAD)
    assert (answer.status, answer.json["detail"]) == (404, "This server keeps no history. Start it with --history.")


def test_a_history_that_cannot_be_read_is_unavailable(its: Source, tmp_path: Path) -> None:
    for table in ("lag_group_topic_1m", "group_health_1m"):
        (tmp_path / table / "_delta_log").mkdir(parents=True)
        (tmp_path / table / "_delta_log" / "00000000000000000000.json").write_text("{")
    with installed(replace(its, settings=Settings(history=str(tmp_path)))):
        answer = ask(f"/clusters/demo/groups/{quote('billing')}/history")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
