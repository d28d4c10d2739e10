"""Downloads: text that a spreadsheet would compute stays text."""

import pandas as pd
import pytest

from app.ui import downloads


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1+1", "@SUM(A1)", " =1+1", "\n=1+1", "\t=1", "\uff1d1+1", "  \uff0b1"]
)
def test_text_like_a_formula_gets_an_apostrophe(name: str) -> None:
    frame = pd.DataFrame({"group": [name], "lag": [7]})
    assert downloads.csv(frame) == pd.DataFrame({"group": [f"'{name}"], "lag": [7]}).to_csv(index=False).encode()


@pytest.mark.parametrize("name", ["orders", "a=b", "-", "", " orders", "1+1"])
def test_other_text_and_numbers_stay_as_they_are(name: str) -> None:
    frame = pd.DataFrame({"group": [name], "lag": [-7]})
    assert downloads.csv(frame) == frame.to_csv(index=False).encode()


@pytest.mark.parametrize("unseen", ["\u200b", "\ufeff", "\x00", "\u00a0\u2060"])
def test_a_formula_behind_what_is_not_visible_stays_text(unseen: str) -> None:
    assert downloads.csv(pd.DataFrame({"group": [f"{unseen}=1+1"]})).decode().splitlines()[1:] == [f"'{unseen}=1+1"]


@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_text_of_any_kind_and_the_names_of_columns_are_made_safe(dtype: str) -> None:
    frame = pd.DataFrame({"=group": pd.Series(["=1+1", "b"], dtype=dtype), "lag": [1, 2]})
    assert downloads.csv(frame) == b"'=group,lag\n'=1+1,1\nb,2\n"
