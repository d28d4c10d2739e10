"""Written files take the place of all rows of a span: what lies around it stays, and nobody sees a moment between."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from lag.history.files import DataFile, TableWriter
from lag.history.maintenance import maintain
from lag.history.rewrites import file_replacement, span_replacement
from lag.history.schemas import LAG_1M, with_day
from lag.history.store import History
from tests.lag.history.past import past
from tests.lag.history.rows import rows

MIDNIGHT = datetime(2026, 11, 22, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def lag(minutes: range, lag_last: int) -> pa.Table:
    """A row for each minute after midnight."""
    return past("lag_1m", *({"minute": MIDNIGHT + at * MINUTE, "lag_last": lag_last} for at in minutes))


def written(history: History, made: pa.Table) -> list[DataFile]:
    files = TableWriter(history.root, LAG_1M)
    files.add(with_day(made, LAG_1M))
    return files.close()


def found(history: History) -> list[tuple[int, int]]:
    reported = history.query("SELECT minute, lag_last FROM lag_1m ORDER BY minute, lag_last", "lag_1m").to_pylist()
    return [((row["minute"] - MIDNIGHT) // MINUTE, row["lag_last"]) for row in reported]


def test_files_take_the_place_of_the_span_in_files_before_in_and_after_it(history: History) -> None:
    for minutes in (range(-9, -6), range(-3, 1), range(1, 2), range(2, 6), range(8, 9)):
        history.append("lag_1m", lag(minutes, 1))
    span_replacement.replace_span(
        history, "lag_1m", written(history, lag(range(-1, 3), 2)), MIDNIGHT - MINUTE, MIDNIGHT + 4 * MINUTE
    )
    assert found(history) == [
        *((at, 1) for at in (-9, -8, -7, -3, -2)), *((at, 2) for at in range(-1, 3)), (4, 1), (5, 1), (8, 1),
    ]  # fmt: skip


def test_nothing_in_its_place_empties_the_span(history: History) -> None:
    history.append("lag_1m", lag(range(5), 1))
    span_replacement.replace_span(history, "lag_1m", [], MIDNIGHT + MINUTE, MIDNIGHT + 3 * MINUTE)
    assert found(history) == [(0, 1), (3, 1), (4, 1)]


def test_files_that_lie_outside_stay_as_they_are(history: History) -> None:
    for minutes in (range(3), range(6, 9)):
        history.append("lag_1m", lag(minutes, 1))
    before = set(DeltaTable(history.table_path("lag_1m")).file_uris())
    span_replacement.replace_span(
        history, "lag_1m", written(history, lag(range(3, 6), 2)), MIDNIGHT + 3 * MINUTE, MIDNIGHT + 6 * MINUTE
    )
    assert before < set(DeltaTable(history.table_path("lag_1m")).file_uris())
    assert len(found(history)) == 9


def test_it_is_one_commit(history: History) -> None:
    history.append("lag_1m", lag(range(5), 1))
    before = DeltaTable(history.table_path("lag_1m")).version()
    span_replacement.replace_span(
        history, "lag_1m", written(history, lag(range(2), 2)), MIDNIGHT, MIDNIGHT + 2 * MINUTE
    )
    assert DeltaTable(history.table_path("lag_1m")).version() == before + 1


def test_a_file_without_bounds_may_have_rows_of_every_time(history: History) -> None:
    """Delta's log need not have any."""
    history.append("lag_1m", lag(range(1), 1))
    log = next((Path(history.root) / "lag_1m" / "_delta_log").glob("*1.json"))
    log.write_text(log.read_text().replace("minValues", "other").replace("maxValues", "others"))
    span_replacement.replace_span(history, "lag_1m", written(history, lag(range(1), 2)), MIDNIGHT, MIDNIGHT + MINUTE)
    assert found(history) == [(0, 2)]


def test_microseconds_that_the_log_cuts_off_are_of_the_span(history: History) -> None:
    history.append("end_offsets", rows("end_offsets", {"poll_ts": MIDNIGHT + timedelta(microseconds=1_999)}))
    table, since = DeltaTable(history.table_path("end_offsets")), MIDNIGHT + timedelta(microseconds=1_900)
    assert len(span_replacement.files_in_span(table, "poll_ts", since, MIDNIGHT + MINUTE)) == 1
    assert (
        span_replacement.files_in_span(table, "poll_ts", MIDNIGHT + timedelta(microseconds=3_000), MIDNIGHT + MINUTE)
        == []
    )
    assert (
        span_replacement.files_in_span(table, "poll_ts", MIDNIGHT - MINUTE, MIDNIGHT + timedelta(microseconds=1_000))
        == []
    )


def test_compaction_that_gets_in_the_way_is_no_trouble(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        history.append("lag_1m", lag(range(5), 1))
    monkeypatch.setattr(
        span_replacement, "try_replace_files", once_after(lambda: maintain(history, "lag_1m", MIDNIGHT + 5 * MINUTE))
    )
    span_replacement.replace_span(
        history, "lag_1m", written(history, lag(range(2), 2)), MIDNIGHT, MIDNIGHT + 2 * MINUTE
    )
    assert found(history) == [(0, 2), (1, 2), *((at, 1) for at in (2, 2, 3, 3, 4, 4))]


def test_two_threads_that_fill_an_empty_span_at_once_fill_it_once(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.create("lag_1m")
    mine, other = (written(history, lag(range(2), number)) for number in (1, 2))
    span_of = ("lag_1m", MIDNIGHT, MIDNIGHT + 2 * MINUTE)
    first = once_after(lambda: span_replacement.replace_span(history, span_of[0], other, *span_of[1:]))
    monkeypatch.setattr(span_replacement, "try_replace_files", first)
    span_replacement.replace_span(history, span_of[0], mine, *span_of[1:])
    assert found(history) == [(0, 1), (1, 1)]


def once_after(first: Callable[[], object]) -> Callable[..., None]:
    """`try_replace_files`, before which something else happens the first time."""
    replace_files, todo = file_replacement.try_replace_files, [first]

    def exchanged(*its: object, **how: object) -> None:
        while todo:
            todo.pop()()
        replace_files(*its, **how)  # type: ignore[arg-type]

    return exchanged
