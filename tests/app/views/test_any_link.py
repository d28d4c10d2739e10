"""A link may have anything for a value: no page fails, and what it ignores it says."""

import random

import pytest

from app.pages import PAGES
from tests.app.conftest import Open
from tests.app.reading import page_text

PARAMETERS = (
    *(
        "cluster",
        "group",
        "topic",
        "partition",
        "lag",
        "generation",
        "at",
        "gen",
        "step",
        "members",
        "measure",
        "failure",
    ),
    *(
        "range",
        "until",
        "from",
        "to",
        "cause",
        "verdict",
        "state",
        "type",
        "reads",
        "internal",
        "read",
        "internal_topics",
    ),
    *("scenario", "script", "story", "example", "assignor", "protocol", "sweep", "gain", "kind", "finder", "seed"),
    *("session", "heartbeat", "poll", "latency", "messages", "name", "contains", "columns", "moved"),
)
NASTY = {
    "infinity": "1e999",
    "not a number": "NaN",
    "negative": "-1",
    "digits": "9" * 5_000,
    "a number": "7",
    "full-width": "１２",
    "a megabyte": "x" * 1_000_000,
    "markup": "<img src=x onerror=alert(1)> :red[x] $x$ [y](javascript:1)",
    "control": "a\x00b\n\t\u202e\ufffe",
    "a time": "0001-01-01T00:00Z",
}


@pytest.mark.parametrize("value", NASTY.values(), ids=NASTY)
@pytest.mark.parametrize("page", [info.name for info in PAGES])
def test_no_value_fails_a_page(open_page: Open, page: str, value: str) -> None:
    shown = open_page(page, **dict.fromkeys(PARAMETERS, value))
    assert not shown.exception, shown.exception[0].stack_trace
    assert len(page_text(shown)) < 100_000


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("page", [info.name for info in PAGES])
def test_no_mixture_of_values_fails_a_page(open_page: Open, page: str, seed: int) -> None:
    chance = random.Random(f"{page} {seed}")
    values = [*NASTY.values(), "orders", "billing-settlement", "2026-11-22T12:00Z", "24h", "seven-for-three", "sticky"]
    chosen = {name: chance.choice(values) for name in PARAMETERS if chance.random() < 0.5}
    shown = open_page(page, **chosen)
    assert not shown.exception, shown.exception[0].stack_trace


@pytest.mark.parametrize(
    ("page", "parameter", "value", "wanted", "group"),
    [
        ("overview", "lag", "1e999", "a whole number", None),
        ("group", "from", "yesterday", "a time such as 2026-11-22T12:00Z", "billing-settlement"),
        ("group", "partition", "gone-7", "one of", "billing-settlement"),
        ("advice", "kind", "producer", "one of `consumer`, `broker`", None),
    ],
)
def test_what_a_page_ignores_it_says(
    open_page: Open, page: str, parameter: str, value: str, wanted: str, group: str | None
) -> None:
    its = {} if group is None else {"group": group}
    shown = open_page(page, **its, **{parameter: value})
    assert not shown.exception
    assert f"Ignored in the link:] `{parameter}={value}` is not {wanted}" in page_text(shown)
    assert "Ignored in the link" not in page_text(open_page(page, **its))


def test_a_long_value_is_cut_in_the_message(open_page: Open) -> None:
    assert "`lag=999" in (text := page_text(open_page("overview", lag="9" * 5_000)))
    assert "9" * 100 not in text
