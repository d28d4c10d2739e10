"""Which columns of a table fit, and where the others are."""

import pandas as pd
import pytest

from app.ui.fitting import fitting, has_values, hidden_note

COLUMNS = {
    "group": {"label": "Group", "width": 100},
    "lag": {"label": "Lag", "width": 80},
    "host": {"label": "Host", "width": 60},
    "rack": {"label": "Rack", "width": 50},
}


@pytest.mark.parametrize(
    ("most_px", "shown"),
    [
        (290, ["group", "lag", "host", "rack"]),
        (289, ["group", "lag", "host"]),
        (239, ["group", "lag"]),
        (10, ["group", "lag"]),
    ],
)
def test_spare_columns_are_left_out_until_the_rest_fits(most_px: int, shown: list[str]) -> None:
    assert fitting(COLUMNS, ["rack", "instance", "host"], most_px) == shown


def test_the_note_names_the_columns_that_are_left_out() -> None:
    assert (
        hidden_note(COLUMNS, ["group", "lag"])
        == "More columns: Host, Rack. Show them with the eye icon above the table."
    )
    assert hidden_note(COLUMNS, list(COLUMNS)) == ""


@pytest.mark.parametrize(
    ("values", "has"), [(["", None], False), ([None, "a"], True), ([float("nan")], False), ([0], True)]
)
def test_empty_text_and_missing_values_are_no_values(values: list[object], has: bool) -> None:
    assert has_values(pd.Series(values, dtype="object")) is has
