"""Numbers, times and names as people read them."""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.ui import formats, theme, verdicts
from lag.model import GroupType
from lag.offsets import PartitionProblem
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY, Status


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "never"),
        (0, "0 s"),
        (0.4, "< 1 s"),
        (59.6, "1 min"),
        (843, "14 min 3 s"),
        (3600, "1 h"),
        (3605, "1 h"),
        (86_400, "1 day"),
        (586_800, "6 days 19 h"),
    ],
)
def test_durations(seconds: Any, text: str) -> None:
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (860, "860"), (1_204_331, "1.20 M"), (338_420, "338 k"), (12_345, "12.3 k"), (2e9, "2.00 G")],
)
def test_short_numbers(value: float | None, text: str) -> None:
    assert formats.short(value) == text


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([7], "7"),
        ([7, 9], "7 and 9"),
        ([9, 7, 8], "7 to 9"),
        ([1, 3, 5], "1, 3 and 5"),
        ([1, 3, 5, 7, 9, 11], "1, 3, 5, 7 and 2 more"),
    ],
)
def test_partition_numbers_as_words(numbers: list[int], text: str) -> None:
    assert formats.listing(numbers) == text


@pytest.mark.parametrize(
    ("known", "partitions", "text"), [(12, 12, "all 12"), (38, 40, "38 of 40"), (0, 3, "0 of 3"), (0, 0, "–")]
)
def test_coverage(known: int, partitions: int, text: str) -> None:
    assert formats.known_for(known, partitions) == text


def test_drain_time_is_now_without_lag_and_never_without_gain() -> None:
    assert formats.drain(None, 0) == "now"
    assert formats.drain(math.inf, 9) == "never"
    assert formats.drain(None, 9) is None
    assert formats.drain(2_460, 9) == "41 min"


def test_an_unknown_time_zone_is_utc() -> None:
    assert formats.zone("Mars/Olympus") is UTC
    assert formats.zone(None) is UTC
    assert formats.zone("../../etc/passwd") is UTC
    assert formats.zone("Europe/Berlin") == ZoneInfo("Europe/Berlin")


def test_times_in_the_viewers_zone_and_utc() -> None:
    assert formats.clock(1_795_258_817_000, ZoneInfo("Europe/Berlin")) == "12:00:17"
    assert formats.utc(1_795_258_817_000) == "2026-11-21 11:00:17 UTC"


def test_a_time_axis_does_not_go_back_with_the_clocks() -> None:
    """Clocks in Berlin went back from 03:00 to 02:00 on 25 October 2026, at 01:00 UTC."""
    berlin, hour_ms = ZoneInfo("Europe/Berlin"), 3_600_000
    change_ms = round(datetime(2026, 10, 25, 1, tzinfo=UTC).timestamp() * 1000)
    for since_ms, until_ms in ((change_ms - hour_ms, change_ms + hour_ms), (change_ms - 1, change_ms)):
        axis = formats.axis_zone(since_ms, until_ms, berlin)
        assert [f"{formats.moment(at_ms, axis):%H:%M}" for at_ms in (change_ms - hour_ms, change_ms)] == [
            "01:00",
            "02:00",
        ]
    for since_ms, until_ms in ((change_ms - hour_ms, change_ms - 1), (change_ms, change_ms + hour_ms)):
        assert formats.axis_zone(since_ms, until_ms, berlin) is berlin


def test_text_of_a_cluster_cannot_become_markup() -> None:
    assert formats.md("[x](y) **b**\n:red[z]") == r"\[x\]\(y\) \*\*b\*\* \:red\[z\]"
    assert formats.code("a`b\nc") == "`aˋb c`"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("https://x.example/a", ["https:", "//x.example/a"]),
        ("WWW.x.example", ["WWW", ".x.example"]),
        ("me@x.example", ["me@", "x.example"]),
        (":material/delete:", [":", "material/delete:"]),
        ("a:rocket:b", ["a:", "rocket:b"]),
        ("at 11:06:40 from b1:9092", ["at 11:06:40 from b1:9092"]),
    ],
)
def test_addresses_icons_and_emojis_are_broken_up(name: str, parts: list[str]) -> None:
    """Streamlit looks for them in text that has been unescaped."""
    shown = re.sub(r"\\(.)", r"\1", formats.md(name))
    assert shown.split("\u2060") == parts


def test_every_status_problem_and_type_has_words() -> None:
    assert set(VERDICTS) == set(URGENCY)
    assert all(verdicts.problem(each) for each in PartitionProblem)
    assert set(verdicts.TYPES) == set(GroupType)


@pytest.mark.parametrize("found", PartitionProblem)
def test_no_problem_of_a_share_group_is_about_a_commit(found: PartitionProblem) -> None:
    assert "commit" not in verdicts.problem(found, GroupType.SHARE)


def test_symbols_sort_by_urgency() -> None:
    symbols = [VERDICTS[status].symbol for status in URGENCY]
    assert symbols == sorted(symbols)
    assert len(set(symbols)) == len(symbols)


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK])
@pytest.mark.parametrize("status", URGENCY)
def test_text_on_the_fill_of_a_verdict_has_enough_contrast(status: Status, colours: theme.Palette) -> None:
    fill, ink = (theme.luminance(of(status, colours)) for of in (verdicts.fill, verdicts.ink))
    assert (max(fill, ink) + 0.05) / (min(fill, ink) + 0.05) >= 4.5


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK])
@pytest.mark.parametrize(
    "hue",
    [URGENCY[:3], (Status.BEYOND_END, Status.REWOUND, Status.FALLING_BEHIND), URGENCY[7:9]],
    ids=["red", "orange", "yellow"],
)
def test_verdicts_of_one_hue_differ_in_lightness(hue: Sequence[Status], colours: theme.Palette) -> None:
    for one, next_ in pairwise([theme.luminance(verdicts.fill(status, colours)) + 0.05 for status in hue]):
        assert max(one, next_) / min(one, next_) >= 1.2


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK])
@pytest.mark.parametrize("of", [verdicts.fill, verdicts.tint])
def test_no_two_verdicts_have_one_colour(of: Callable[..., str], colours: theme.Palette) -> None:
    assert len({of(status, colours) for status in URGENCY}) == len(URGENCY)


@pytest.mark.parametrize("status", URGENCY)
def test_text_on_a_tag_of_a_table_has_enough_contrast(status: Status) -> None:
    """Streamlit draws it in black where the luminance of the tag is above 0.5, else in white."""
    light, dark = (theme.luminance(verdicts.tint(status, colours)) for colours in (theme.LIGHT, theme.DARK))
    assert light > 0.5
    assert 1.05 / (dark + 0.05) >= 4.5
