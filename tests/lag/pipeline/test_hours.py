"""Lag by the hour, from lag by the minute."""

from lag.pipeline.hours import hours
from tests.lag.history.rows import rows

COUNTS: dict[str, int | bool | None] = {
    "time_lag_bounded": True,
    "commits": 0,
    "rewinds": 0,
    "rewind_records": 0,
    "status": 0,
    "samples": 4,
}


def test_an_hour_averages_the_samples_whose_lag_is_known() -> None:
    """One sample of the first minute is known, with 1,000 records, and all four of the second, with none."""
    minutes = rows(
        "lag_1m",
        COUNTS | {"minute": 0, "lag_avg": 1000, "time_lag_avg_ms": 500, "lag_samples": 1, "time_lag_samples": 1},
        COUNTS | {"minute": 60, "lag_avg": 0, "time_lag_avg_ms": 0, "lag_samples": 4, "time_lag_samples": 4},
    )
    (hour,) = hours(minutes).to_pylist()
    assert (hour["lag_avg"], hour["time_lag_avg_ms"]) == (200.0, 100)
    assert (hour["samples"], hour["lag_samples"], hour["time_lag_samples"]) == (8, 5, 5)


def test_an_hour_without_a_known_sample_has_no_average() -> None:
    (hour,) = hours(rows("lag_1m", COUNTS | {"lag_samples": 0, "time_lag_samples": 0})).to_pylist()
    assert (hour["lag_avg"], hour["time_lag_avg_ms"], hour["lag_samples"]) == (None, None, 0)
    assert (hour["lost"], hour["newly_lost"]) == (None, None)


def test_two_losses_of_an_hour_add_up() -> None:
    known = COUNTS | {"lag_samples": 4, "time_lag_samples": 4}
    losses = ((30, 30), (30, 0), (60, 60), (None, None))
    minutes = ({"minute": 60 * n, "lost": lost, "newly_lost": new} for n, (lost, new) in enumerate(losses))
    (hour,) = hours(rows("lag_1m", *(known | minute for minute in minutes))).to_pylist()
    assert (hour["lost"], hour["newly_lost"]) == (60, 90)
