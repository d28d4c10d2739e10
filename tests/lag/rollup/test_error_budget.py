"""Error budgets: equal to counting minute by minute; the file of levels, and what is wrong with one."""

import math
import random
import re
from pathlib import Path

import numpy as np
import pytest

from lag.errors import ConfigError
from lag.rollup.error_budget import DEFAULT, WINDOWS_S, Slo, Tallies, burns, ends
from lag.rollup.slo import load_slos

MINUTE = 60_000_000


def tallies(verdicts: str, since: int = 0) -> Tallies:
    """A minute for each letter: good, bad, unknown; a space: no minute."""
    there = [number for number, letter in enumerate(verdicts) if letter != " "]
    columns = [np.array([int(verdicts[number] == letter) for number in there], np.int64) for letter in "gbu"]
    return Tallies(np.array([(since + number) * MINUTE for number in there], np.int64), *columns)


def test_windows_end_every_five_minutes_and_where_the_roll_up_does() -> None:
    assert (ends(0, 12 * MINUTE) // MINUTE).tolist() == [5, 10, 12]
    assert (ends(5 * MINUTE, 10 * MINUTE) // MINUTE).tolist() == [10]


def test_one_bad_minute_in_five_burns_twenty_times_too_fast() -> None:
    made = burns(tallies("ggbgg"), np.array([5 * MINUTE]), 0.99, [300])
    assert (made.good[0], made.bad[0], made.burn[0]) == (4, 1, pytest.approx(1 / 5 / 0.01))
    assert made.budget_left[0] == pytest.approx(1 - 1 / (0.01 * 5))


def test_unknown_minutes_are_neither_good_nor_bad() -> None:
    made = burns(tallies("uubg"), np.array([5 * MINUTE]), 0.9, [300])
    assert (made.unknown[0], made.burn[0]) == (2, pytest.approx(1 / 2 / 0.1))
    unknown = burns(tallies("uuu"), np.array([5 * MINUTE]), 0.9, [300])
    assert (unknown.unknown[0], math.isnan(unknown.burn[0]), math.isnan(unknown.budget_left[0])) == (3, True, True)


def test_windows_without_a_minute_have_no_row() -> None:
    made = burns(tallies("gg"), np.array([2 * MINUTE, 9 * MINUTE]), 0.99, [300, 3600])
    assert list(zip((made.at_us // MINUTE).tolist(), made.window_s.tolist(), strict=True)) == [
        (2, 300), (2, 3600), (9, 3600),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_random_minutes_are_as_counting_has_them(seed: int) -> None:
    dice = random.Random(seed)
    verdicts = "".join(dice.choice("ggggbu ") for _ in range(2000))
    at = np.array(sorted(dice.sample(range(1, 2100), 40)), np.int64)
    made = burns(tallies(verdicts), at * MINUTE, 0.95)
    wanted = []
    for end in at.tolist():
        for window in WINDOWS_S:
            inside = verdicts[max(0, end - window // 60) : end].replace(" ", "")
            if inside:
                good, bad, unknown = (inside.count(letter) for letter in "gbu")
                burn = bad / (good + bad) / 0.05 if good + bad else math.nan
                left = 1 - bad / (0.05 * window / 60) if good + bad else math.nan
                wanted.append((end, window, good, bad, unknown, burn, left))
    found = zip(made.at_us // MINUTE, made.window_s, made.good, made.bad, made.unknown, made.burn, made.budget_left)  # noqa: B905
    assert np.array(list(found)) == pytest.approx(np.array(wanted), nan_ok=True)


def test_a_file_of_levels_is_read(tmp_path: Path) -> None:
    toml, json = tmp_path / "slo.toml", tmp_path / "slo.json"
    toml.write_text('[[slo]]\nslo_id = "a"\nthreshold_s = 30\ntarget = 0.995\ngroups = "billing-*"\n')
    json.write_text('{"slo": [{"slo_id": "a", "threshold_s": 30, "target": 0.995, "groups": "billing-*"}]}')
    assert load_slos(toml) == load_slos(json) == (Slo("a", 30.0, 0.995, "billing-*"),)
    assert (load_slos(None), DEFAULT) == (DEFAULT, (Slo("time-lag", 60.0, 0.99, "*"),))


def test_a_pattern_is_as_of_a_shell() -> None:
    billing = re.compile(Slo(groups="billing-*").regex)
    assert [bool(billing.search(name)) for name in ("billing-eu", "billing", "my-billing-eu")] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("[[slo]]\nslo_id = 'a'\ntarget = 1.0\n", "slo.0.target: Input should be less than 1"),
        ("[[slo]]\nslo_id = 'a'\nthresold_s = 1\n", "slo.0.thresold_s: Extra inputs are not permitted"),
        ("[[slo]]\nslo_id = 'a'\n[[slo]]\nslo_id = 'a'\n", "two objectives have the same slo_id"),
        ("slo = []\n", "slo: Tuple should have at least 1 item"),
        ("slo = [\n", "Invalid value"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_fix(tmp_path: Path, text: str, reported: str) -> None:
    file = tmp_path / "slo.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(reported)) as refused:
        load_slos(file)
    assert "slo_id" in refused.value.hint


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        load_slos(tmp_path / "none.toml")
