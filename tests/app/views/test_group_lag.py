"""The lag over time on the Group page: an hour from the history and the polls, gaps, a time in the URL, no history."""

from base64 import b64decode
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.server.source import Source
from app.ui import cluster_history, state
from lag.history.span import Span
from lag.history.store import History
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import asked, figure, page_text, title
from tests.app.views.pasts import BAD, CLUSTER
from tests.lag.history.rows import NOON, poll, rows

NOON_MS = round(NOON.timestamp() * 1000)
FIRST_LIVE_S = -10 * (synthetic.SAMPLES - 1)
"""The first poll of this process, in seconds after NOON, which is the last one."""

Kept = Callable[[str | Path], Source]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> feeds.HandFeed:
    """The made-up cluster as of NOON, which is now."""
    monkeypatch.setattr(state, "now_ms", lambda: NOON_MS)
    return feeds.HandFeed(feeds.report(at_ms=NOON_MS))


@pytest.fixture
def kept(demo_source: Source) -> Kept:
    """The source with a history there."""

    def at(where: str | Path) -> Source:
        return replace(demo_source, settings=demo_source.settings.model_copy(update={"history": str(where)}))

    return at


def write(root: Path, seconds: Iterable[int], **more: Any) -> None:
    """Polls of BAD, each with a lag of its seconds before NOON."""
    its: dict[str, Any] = {"cluster": CLUSTER, "group_id": BAD, **more}
    History(root).append("group_snapshots", rows("group_snapshots", *(poll(at, lag=-at, **its) for at in seconds)))


def line(page: AppTest) -> list[tuple[datetime, float | None]]:
    """The points of the line, in UTC, up to where it changes colour and after that."""
    parts = [
        one for one in figure(page, "lag_over_time")["data"] if one["type"] == "scatter" and one["mode"] == "lines"
    ]
    points = [point for one in parts for point in zip(one["x"], _values(one["y"]), strict=True)]
    return [(datetime.fromisoformat(at), value) for at, value in sorted(dict(points).items())]


def _values(y: Any) -> list[float | None]:
    """Plotly writes numbers as base64."""
    numbers = np.frombuffer(b64decode(y["bdata"]), y["dtype"]).tolist()
    return [None if np.isnan(value) else float(value) for value in numbers]


def axis(page: AppTest) -> list[str]:
    return [str(at)[11:19] for at in figure(page, "lag_over_time")["layout"]["xaxis"]["range"]]


def band(page: AppTest) -> list[str]:
    """The hover texts of the verdicts; empty where none is known."""
    (heat,) = [one for one in figure(page, "lag_over_time")["data"] if one["type"] == "heatmap"]
    return list(heat["customdata"][0])


def test_the_hour_comes_from_the_history_and_the_end_from_the_polls(
    open_page: Open, kept: Kept, tmp_path: Path
) -> None:
    write(tmp_path, range(-3600, -600, 10))
    page = open_page("group", kept(tmp_path), "UTC", group=BAD)
    assert not page.exception
    assert "Lag, last hour" in [one.value for one in page.header]
    points = line(page)
    assert (len(points), axis(page)) == (361, ["11:00:00", "12:00:00"])
    assert points[0][1] == 3600
    assert points[(3600 + FIRST_LIVE_S) // 10 - 1][1] == -FIRST_LIVE_S + 10
    assert points[-1][1] == 1_181_855
    assert "Polls since" not in page_text(page)


def test_a_time_without_polls_is_a_gap_and_is_named(open_page: Open, kept: Kept, tmp_path: Path) -> None:
    write(tmp_path, [*range(-3600, -3000, 10), *range(-2400, -600, 10)])
    page = open_page("group", kept(tmp_path), "UTC", group=BAD)
    unknown = [at for at, value in line(page) if value is None]
    assert [f"{at:%H:%M:%S}" for at in unknown] == ["11:14:55"]
    assert "No polls from 11:09:50 to 11:20:00 (10 min 10 s)" in page_text(page)
    assert band(page)[:2] == ["● OK<br>11:00:00 to 11:09:50", ""]


def test_a_verdict_ends_at_the_last_poll_before_a_gap_that_the_time_ends_in(
    open_page: Open, kept: Kept, tmp_path: Path
) -> None:
    write(tmp_path, [*range(-3600, -3000, 10), *range(-2400, -600, 10)])
    chosen = {"from": "2026-11-22T11:05Z", "to": "2026-11-22T11:15Z"}
    assert band(open_page("group", kept(tmp_path), "UTC", group=BAD, **chosen)) == ["● OK<br>11:05:00 to 11:09:50"]


def test_the_present_verdict_begins_at_the_onset_of_the_page(open_page: Open, kept: Kept, tmp_path: Path) -> None:
    write(tmp_path, range(-3600, 10, 10))
    page = open_page("group", kept(tmp_path), "UTC", group=BAD)
    assert "since 11:45" in title(page)
    assert band(page) == ["● OK<br>11:00:00 to 11:45:57", "□ Stalled<br>11:45:57 to 12:00:00"]


def test_without_a_history_the_chart_says_since_when_and_names_the_command(open_page: Open) -> None:
    page = open_page("group", zone="UTC", group=BAD)
    assert axis(page) == ["11:45:10", "12:00:00"]
    text = page_text(page)
    assert "Polls since 11:45:10" in text
    assert "`groupscope serve --history PATH`" in text
    assert "Lag, last 14 min 50 s" in [one.value for one in page.header]


def test_a_short_history_says_since_when_and_names_no_command(open_page: Open, kept: Kept, tmp_path: Path) -> None:
    write(tmp_path, range(-1800, -600, 10))
    page = open_page("group", kept(tmp_path), "UTC", group=BAD)
    assert axis(page) == ["11:30:00", "12:00:00"]
    assert "Polls since 11:30:00" in page_text(page)
    assert "--history PATH" not in page_text(page)


def test_the_history_of_another_cluster_is_not_shown(open_page: Open, kept: Kept, tmp_path: Path) -> None:
    write(tmp_path, range(-3600, -600, 10), cluster="another")
    assert len(line(open_page("group", kept(tmp_path), group=BAD))) == synthetic.SAMPLES


def test_a_broken_history_is_reported_once_and_the_polls_stay(open_page: Open, kept: Kept, tmp_path: Path) -> None:
    write(tmp_path, [-3000])
    for data in tmp_path.rglob("*.parquet"):
        data.write_bytes(b"no Parquet")
    page = open_page("group", kept(tmp_path), group=BAD)
    assert not page.exception
    assert len(line(page)) == synthetic.SAMPLES
    assert page_text(page).count("cannot be read") == 1
    assert "cannot be used" in page_text(page).replace("\\", "")


def test_a_folder_without_a_history_leaves_the_polls(open_page: Open, kept: Kept, tmp_path: Path) -> None:
    page = open_page("group", kept(tmp_path / "missing"), group=BAD)
    assert not page.exception
    assert len(line(page)) == synthetic.SAMPLES


def test_a_time_in_the_url_is_the_time_of_the_chart(open_page: Open, kept: Kept, tmp_path: Path) -> None:
    write(tmp_path, range(-90_000, -89_000, 10), known=1)
    chosen = {"from": "2026-11-21T11:00Z", "to": "2026-11-21T11:10Z"}
    page = open_page("group", kept(tmp_path), "UTC", group=BAD, **chosen)
    assert not page.exception
    assert axis(page) == ["11:00:00", "11:10:00"]
    assert "Lag, 21 Nov 11:00:00 to 11:10:00" in [one.value for one in page.header]
    assert [value for _, value in line(page)] == [float(at) for at in range(90_000, 89_390, -10)]
    assert "known for 1 of 2 partitions" in page_text(page)
    page.button(key="lag_last_hour").click().run()
    assert asked(page) == {"group": BAD}


def test_a_pinned_time_stands_in_the_url(open_page: Open) -> None:
    page = open_page("group", zone="UTC", group=BAD)
    page.button(key="lag_keep").click().run()
    assert asked(page) == {"group": BAD, "from": "2026-11-22T11:00Z", "to": "2026-11-22T12:00Z"}
    assert "lag_keep" not in [button.key for button in page.button]


@pytest.mark.parametrize(
    ("since", "until"),
    [("2026-11-22T11:00Z", None), ("2026-11-22T11:00Z", "2026-11-22T11:00Z"), ("x", "y"),
     ("2026-11-20T11:00Z", "2026-11-22T11:00Z")],
)  # fmt: skip
def test_what_is_no_time_in_the_url_is_ignored(open_page: Open, since: str, until: str | None) -> None:
    page = open_page("group", zone="UTC", group=BAD, **{"from": since, "to": until or ""})
    assert axis(page) == ["11:45:10", "12:00:00"]


def test_a_time_of_which_nothing_is_known_says_so(open_page: Open) -> None:
    page = open_page("group", group=BAD, **{"from": "2026-11-21T11:00Z", "to": "2026-11-21T11:10Z"})
    assert not page.exception
    assert "The lag is known at 0 polls" in page_text(page)
    assert page.button(key="lag_last_hour")


def test_the_length_and_the_buttons_move_the_time_in_the_url(open_page: Open) -> None:
    page = open_page("group", zone="UTC", group=BAD)
    page.segmented_control(key="lag_length").set_value("5 min").run()
    assert asked(page) == {"group": BAD, "from": "2026-11-22T11:55Z", "to": "2026-11-22T12:00Z"}
    assert axis(page) == ["11:55:00", "12:00:00"]
    page.button(key="lag_arrow_back").click().run()
    assert asked(page) == {"group": BAD, "from": "2026-11-22T11:50Z", "to": "2026-11-22T11:55Z"}
    page.button(key="lag_arrow_forward").click().run()
    assert axis(page) == ["11:55:00", "12:00:00"]
    page.button(key="lag_last_hour").click().run()
    assert asked(page) == {"group": BAD}


def test_earlier_shows_the_hour_before_the_last(open_page: Open) -> None:
    page = open_page("group", zone="UTC", group=BAD)
    page.button(key="lag_arrow_back").click().run()
    assert asked(page) == {"group": BAD, "from": "2026-11-22T10:00Z", "to": "2026-11-22T11:00Z"}


def test_the_history_is_read_once_for_each_group_and_minute(
    open_page: Open, kept: Kept, feed: feeds.HandFeed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, [-3000])
    its, ends = kept(tmp_path), []
    queries = cluster_history.queries(cluster_history.ClusterHistory(str(tmp_path), CLUSTER, "demo"))
    polls = queries.polls

    def counted(group_id: str, span: Span) -> pd.DataFrame:
        ends.append(span.until)
        return polls(group_id, span)

    monkeypatch.setattr(queries, "polls", counted)
    page = open_page("group", its, group=BAD)
    for number, later_ms in enumerate((10_000, 59_000, 60_000)):
        feed.report = feeds.report(number=2 + number, at_ms=NOON_MS + later_ms)
        page.run()
    assert ends == [NOON + timedelta(minutes=1), NOON + timedelta(minutes=2)]


def test_the_lag_of_a_healthy_group_is_stated_once(open_page: Open, feed: feeds.HandFeed) -> None:
    two = [synthetic.Spec("calm", synthetic.rows("t", [9_000] * 2, [200, 112], 1), synthetic.members(1))]
    feed.report = feeds.report(two, at_ms=NOON_MS)
    page = open_page("group", group="calm")
    assert title(page) == "`calm` is OK, 312 records behind"
    conclusion = page_text(page).partition("Lag by partition")[0]
    assert "lag known for all 2 partitions" in conclusion
    assert conclusion.count("312") == 1


@pytest.mark.parametrize("polls", [1, synthetic.SAMPLES])
def test_no_later_poll_is_promised_to_show_the_lag_of_a_deleted_topic(
    open_page: Open, feed: feeds.HandFeed, polls: int
) -> None:
    feed.report = feeds.report(at_ms=NOON_MS, samples=polls)
    page = open_page("group", group="returns-processor")
    (chart,) = [line for line in page_text(page).splitlines() if "there is no lag" in line]
    assert "Its topic was deleted" in chart
    assert "the chart" not in page_text(page).lower()
