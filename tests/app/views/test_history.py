"""The History page: since when, how often, how bad, of one group and of all; and its states without an answer."""

import operator
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.server.source import Source
from app.ui import formats, state, widgets
from app.views.history.charts import MOST_TIMES
from lag.history.recorder import RecorderStatus
from lag.history.store import History
from lag.verdict.status import Status
from tests.app import feeds
from tests.app.conftest import Open
from tests.app.demo import HandControls
from tests.app.reading import alt, asked, figure, page_text, table
from tests.app.views import pasts
from tests.lag.history.past import past
from tests.lag.history.rows import NOON, rows

UNTIL = "2026-11-22T12:00Z"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A day of history that ends at NOON."""
    where = str(tmp_path_factory.mktemp("past") / "history")
    pasts.write(where)
    return where


@pytest.fixture
def kept(demo_source: Source) -> Callable[[str | Path], Source]:
    """The source with a history there."""

    def at(where: str | Path) -> Source:
        state.clear()
        return replace(demo_source, settings=demo_source.settings.model_copy(update={"history": str(where)}))

    return at


def plain(page: AppTest) -> str:
    return page_text(page).replace("\\", "")


def test_a_group_says_since_when_how_often_and_how_bad(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, until=UNTIL)
    assert not page.exception
    assert page.title[0].value == (
        "`billing-settlement` was in trouble from 10:00 on (stopped), twice in the 24 h to 22 Nov 13:00, "
        "3 h 30 min in total; at worst 18.0 k records behind at 12:59"
    )
    text = plain(page)
    assert "lag known for all 2 partitions · in 1,430 of 1,440 minutes" in text
    assert "oldest record 3 min old · 3 rebalances" in text
    assert "21 Nov 13:00 to 22 Nov 13:00" in text
    assert "3 rebalances; the last at 09:59" in text


@pytest.mark.parametrize(
    ("first", "shown"), [(0, "1 h"), (-59, "1 h"), (-60, "6 h"), (-359, "6 h"), (-360, "24 h"), (-9_000, "1 h")]
)
def test_the_range_is_one_that_a_short_history_fills(
    open_page: Open, kept: Any, tmp_path: Path, first: int, shown: str
) -> None:
    made = ({"at": at, "cluster": pasts.CLUSTER, "lag_sum": 7} for at in (first, 0))
    History(tmp_path).append("lag_group_topic_1m", past("lag_group_topic_1m", *made))
    query = {"group": "g"}
    page = open_page("history", kept(tmp_path), **query)
    assert not page.exception
    assert f" {formats.in_the_last(shown)}," in page.title[0].value
    assert " in the last 7 days," in open_page("history", kept(tmp_path), **query, range="7d").title[0].value
    assert " in the 24 h to " in open_page("history", kept(tmp_path), **query, until=UNTIL).title[0].value


def test_times_are_those_of_the_viewer_and_utc_stands_beside(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, until=UNTIL)
    fig = figure(page, "history_lag")
    assert fig["data"][0]["customdata"][0] == "21 Nov 13:00 (12:00 UTC)"
    assert page.title[0].value.endswith("at 12:59")
    shown = next(element for element in page.markdown if "22 Nov 13:00" in element.value)
    assert shown.proto.help == "2026-11-21 12:00:00 UTC to 2026-11-22 12:00:00 UTC"


def test_a_gap_is_a_gap(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group=pasts.GOOD, until=UNTIL)
    assert page.title[0].value == (
        "`orders-audit` had no trouble in the 24 h to 22 Nov 13:00; at worst 6 records behind at 13:00"
    )
    assert alt(page, "history_lag") == (
        "Lag of orders-audit: at worst 6 records behind at 13:00, 6 at the end, not known at 10 of 1,440 points"
    )


def test_hours_and_partitions_stand_in_tables(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, until=UNTIL)
    hours = table(page, "by the hour: highest lag")
    assert list(hours["most_records"][:4]) == [18_003, 12_003, 6_003, 6]
    assert list(hours["rebalances"][:4]) == [0, 0, 0, 2]
    assert list(hours["trouble"][:4]) == [pd.Timedelta(hours=1)] * 3 + [pd.Timedelta(0)]
    worst = table(page, "partitions, highest lag first")
    assert list(worst["partition"]) == [1, 0]
    assert list(worst["most_records"]) == [18_000, 3]
    assert list(worst["owner_member"]) == ["m-1", "m-0"]
    burn = table(page, "Error budget")
    assert list(burn["assessment"]) == ["14.4 times as fast as allowed"]
    assert list(burn["at"]) == [pd.Timestamp("2026-11-22 13:00")]


def test_percentile_churn_lead_and_commit_gap_have_columns(open_page: Open, kept: Any, tmp_path: Path) -> None:
    judged(tmp_path, {"at": -1, "status": Status.OK, "joins": 1, "churn": 0.5}, {"at": -2, "churn": 1.0})
    its = {"at": -1, "cluster": pasts.CLUSTER}
    History(tmp_path).append("lag_group_topic_1m", past("lag_group_topic_1m", its | {"topic": "u", "lag_p95": 40.5}))
    lag = {"lag_avg": 12.0, "lag_max": 30, "lead_min": 7, "commit_gap_max_ms": 90_000}
    open_gap = {"partition": 1, "commit_gap_max_ms": 720_000, "commit_gap_open_ms": 720_000}
    History(tmp_path).append("lag_1m", past("lag_1m", its | lag, its | open_gap, its | {"partition": 2}))
    page = open_page("history", kept(tmp_path), group="g", until=UNTIL)
    hours = table(page, "by the hour: highest lag")
    assert (hours["p95_records"][0], hours["churn"][0]) == (40.5, 1.5)
    partitions = table(page, "partitions, highest lag first")
    assert list(partitions["avg_records"].fillna(-1)) == [12.0, -1, -1]
    assert list(partitions["lead_min_records"].fillna(-1)) == [7, -1, -1]
    assert list(partitions["commit_gap"]) == ["1 min 30 s", "at least 12 min", formats.DASH]


def test_a_topic_and_a_partition_narrow_it(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, topic="t", partition="0", until=UNTIL)
    assert page.title[0].value.startswith("`billing-settlement` on `t-0` was in trouble from 10:00 on")
    assert alt(page, "history_lag").startswith("Lag of billing-settlement: at worst 3 records behind")
    assert list(table(page, "partition, highest lag first")["partition"]) == [0]


def test_all_groups_stand_on_a_map_with_the_worst_first(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), until=UNTIL)
    assert not page.exception
    assert page.title[0].value == (
        "1 of 2 groups was in trouble in the 24 h to 22 Nov 13:00: "
        "`billing-settlement` for 3 h 30 min, stopped at worst"
    )
    assert "2 groups · verdicts known for 99 % of the time" in plain(page)
    assert alt(page, "health") == "Health of 2 groups over time: 1 in trouble; billing-settlement longest"
    heat = figure(page, "health")["data"][0]
    assert heat["customdata"][0][21] == "22 Nov 10:00 (09:00 UTC)<br>■ Stopped · in trouble for 1 h"
    assert heat["customdata"][0][20] == "22 Nov 09:00 (08:00 UTC)<br>● OK · 2 rebalances"
    groups = table(page, "longest in trouble first")
    assert list(groups["group"]) == [pasts.BAD, pasts.GOOD]
    assert list(groups["most_records"]) == [18_003, 6]
    assert list(groups["rebalances"]) == [3, 0]


def test_a_cluster_of_share_groups_alone_has_a_page(open_page: Open, kept: Any, tmp_path: Path) -> None:
    row = {"cluster": pasts.CLUSTER, "lag": 70, "lag_known": 2, "lag_partitions": 2, "type": "share"}
    polled = (row | {"at": at, "status": Status.STOPPED} for at in range(30))
    History(tmp_path).append("group_health_1m", past("group_health_1m", *polled))
    page = open_page("history", kept(tmp_path))
    assert page.title[0].value == "1 of 1 group was in trouble in the last hour: `g` for 30 min, stopped at worst"
    assert list(table(page, "longest in trouble first")["last_records"]) == [70]
    page = open_page("history", kept(tmp_path), group="g")
    assert page.title[0].value == (
        "`g` has been in trouble since before 13:00 (stopped), 30 min; at worst 70 records behind at 13:00"
    )


def test_a_group_that_is_no_longer_recorded_is_not_in_trouble_now(open_page: Open, kept: Any, tmp_path: Path) -> None:
    its, history = {"cluster": pasts.CLUSTER}, History(tmp_path)
    statuses = (its | {"at": at, "status": Status.OK if at < 10 else Status.STOPPED} for at in range(60))
    history.append("group_health_1m", past("group_health_1m", *statuses))
    lags = (its | {"at": at, "lag_sum": 5} for at in range(60))
    another = its | {"at": 1300, "group_id": "another", "lag_sum": 0}
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", *lags, another))
    assert open_page("history", kept(tmp_path), group="g", range="24h").title[0].value == (
        "`g` was in trouble once in the last 24 h, for 50 min; not known after 14:00 (stopped); "
        "at worst 5 records behind at 13:00"
    )
    groups = table(open_page("history", kept(tmp_path), range="24h"), "longest in trouble first")
    assert groups.set_index("group")["last_records"].isna().to_dict() == {"g": True, "another": False}


def test_the_text_filter_leaves_the_groups_that_match(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), until=UNTIL, history_q="audit")
    assert list(table(page, "longest in trouble first")["group"]) == [pasts.GOOD]


def test_the_range_is_in_the_address(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, range="1h", until="2026-11-21T18:00Z")
    assert page.title[0].value == (
        "`billing-settlement` was in trouble once in the 1 h to 21 Nov 19:00, for 30 min; "
        "ended at 18:30 (stopped); at worst 3.00 k records behind at 18:29"
    )
    assert [button.label for button in page.button if button.key and button.key.startswith("history_arrow")] == [
        "Earlier",
        "Later",
    ]


def test_earlier_goes_back_by_a_range(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, range="6h", until=UNTIL)
    page.button(key="history_arrow_back").click().run()
    assert page.query_params["until"] == "2026-11-22T06:00Z"


def test_a_pinned_time_is_the_same_when_the_history_has_grown(open_page: Open, kept: Any, tmp_path: Path) -> None:
    history, made = History(tmp_path), {"cluster": pasts.CLUSTER, "lag_sum": 7}
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", *(made | {"at": at} for at in range(-30, 1))))
    page = open_page("history", kept(tmp_path), group="g")
    pinned = asked(page.button(key="history_keep").click().run())
    assert pinned == {"group": "g", "range": "1h", "until": "2026-11-22T12:01Z"}
    before = open_page("history", kept(tmp_path), **pinned).title[0].value
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", *(made | {"at": at} for at in range(1, 90))))
    assert open_page("history", kept(tmp_path), **pinned).title[0].value == before
    assert (
        "6h" in asked(open_page("history", kept(tmp_path), group="g").button(key="history_keep").click().run())["range"]
    )


def test_earlier_keeps_a_range_that_was_not_chosen(open_page: Open, kept: Any, tmp_path: Path) -> None:
    made = ({"at": at, "cluster": pasts.CLUSTER, "lag_sum": 7} for at in range(-30, 1))
    History(tmp_path).append("lag_group_topic_1m", past("lag_group_topic_1m", *made))
    page = open_page("history", kept(tmp_path), group="g").button(key="history_arrow_back").click().run()
    assert asked(page) == {"group": "g", "range": "1h", "until": "2026-11-22T11:01Z"}


def test_a_long_range_is_shown_by_the_hour(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, range="7d", until=UNTIL)
    assert not page.exception
    assert "in 24 of 168 hours" in plain(page)
    assert "at worst 18.0 k records behind at 22 Nov 12:00" in page.title[0].value


def test_without_a_history_the_page_names_the_command(open_page: Open) -> None:
    page = open_page("history")
    assert page.title[0].value == "No history is recorded"
    assert "--history /var/lib/groupscope" in page.code[0].value


def test_without_roll_ups_the_page_names_the_command(open_page: Open, kept: Any, tmp_path: Path) -> None:
    page = open_page("history", kept(tmp_path))
    assert page.title[0].value == "Nothing is rolled up yet"
    assert "Nothing has been recorded for this cluster yet" in page_text(page)
    assert page.code[0].value == f"groupscope pipeline rollup --history {tmp_path}"
    History(tmp_path).append("end_offsets", rows("end_offsets", {"cluster": pasts.CLUSTER}))
    assert "Log ends are recorded" in page_text(open_page("history", kept(tmp_path)))


def test_the_demo_fills_by_itself(open_page: Open, kept: Any, tmp_path: Path) -> None:
    page = open_page("history", feeds.with_demo(kept(tmp_path), HandControls()))
    assert "this page fills up by itself in a minute or two" in page_text(page)


def test_what_was_not_computed_is_not_zero(open_page: Open, kept: Any, tmp_path: Path) -> None:
    made = ({"at": -at, "cluster": pasts.CLUSTER, "lag_sum": 7 * at} for at in (2, 1, 0))
    History(tmp_path).append("lag_group_topic_1m", past("lag_group_topic_1m", *made))
    until = "2026-11-22T12:01Z"
    page = open_page("history", kept(tmp_path), group="g", until=until)
    assert page.title[0].value == (
        "`g` was at worst 14 records behind at 12:58 in the 24 h to 22 Nov 13:01, 0 at the end; "
        "whether it was in trouble is not known"
    )
    hours = table(page, "highest lag")
    assert list(hours["most_records"][:2]) == [0, 14]
    assert pd.isna(hours["most_records"][2])
    assert "rebalances not computed yet" in plain(page)
    assert "Verdicts and rebalances of this group are not computed yet" in plain(page)
    assert "No objective was evaluated" in plain(page)
    assert "Verdicts are not computed yet" in plain(open_page("history", kept(tmp_path), until=until))


def test_a_group_that_nothing_is_known_of_says_so(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group="nobody", until=UNTIL)
    assert not page.exception
    assert page.title[0].value == "The lag of `nobody` is not known in the 24 h to 22 Nov 13:00"


def test_the_end_of_a_line_is_its_last_point(open_page: Open, kept: Any, tmp_path: Path) -> None:
    """The lag is known a minute before the end, then not."""
    made = ({"at": at, "cluster": pasts.CLUSTER, "lag_sum": 7, "time_lag_max_ms": 9000} for at in (-3, -2))
    History(tmp_path).append("lag_group_topic_1m", past("lag_group_topic_1m", *made))
    page = open_page("history", kept(tmp_path), group="g", range="1h", until=UNTIL)
    assert "in the 1 h to 22 Nov 13:00, not known at the end; " in page.title[0].value
    ends = "not known at the end"
    assert alt(page, "history_lag").startswith(f"Lag of g: at worst 7 records behind at 12:57, {ends}")
    assert alt(page, "history_time_lag") == f"Time lag of g: at most 9 s, {ends}"


def judged(root: str | Path, *rows: dict[str, Any], group: str = "g") -> None:
    """Verdicts of a group, and a lag of 7 records in the same minutes."""
    its = {"cluster": pasts.CLUSTER, "group_id": group}
    lags = [its | {"at": row["at"], "lag_sum": 7} for row in rows]
    History(root).append("lag_group_topic_1m", past("lag_group_topic_1m", *lags))
    History(root).append("group_health_1m", past("group_health_1m", *(its | row for row in rows)))


def test_a_duration_that_is_not_known_stays_unknown() -> None:
    found = widgets.timedeltas(pd.Series([0.4, None, 90.6, 3 * 86_400], dtype="object"))
    assert found.dtype == "timedelta64[ns]"
    assert [None if pd.isna(one) else one.total_seconds() for one in found] == [0, None, 91, 259_200]


def test_one_minute_of_a_day_is_less_than_a_percent_and_not_nothing(open_page: Open, kept: Any, tmp_path: Path) -> None:
    judged(tmp_path, {"at": -1, "status": Status.OK})
    page = open_page("history", kept(tmp_path), until=UNTIL)
    assert "1 group · verdicts known for less than 1 % of the time" in plain(page)


def test_a_group_of_which_no_verdict_is_known_had_no_calm(open_page: Open, kept: Any, tmp_path: Path) -> None:
    judged(tmp_path, *({"at": -at, "status": Status.UNKNOWN} for at in (3, 2, 1)))
    page = open_page("history", kept(tmp_path), group="g", until=UNTIL)
    assert page.title[0].value == (
        "`g` was at worst 7 records behind at 12:57 in the 24 h to 22 Nov 13:00, 7 at the end; "
        "whether it was in trouble is not known"
    )
    assert "verdict known in 0 of 1,440 minutes" in plain(page)
    assert pd.isna(table(page, "highest lag")["trouble"][0])
    page = open_page("history", kept(tmp_path), until=UNTIL)
    assert page.title[0].value.startswith(
        "Whether any of 1 group was in trouble in the 24 h to 22 Nov 13:00 is not known: `g` was furthest behind"
    )
    assert "verdicts known for 0 % of the time" in plain(page)
    assert pd.isna(table(page, "longest in trouble")["trouble"][0])


def test_groups_without_a_verdict_are_counted_beside_the_calm_ones(open_page: Open, kept: Any, tmp_path: Path) -> None:
    judged(tmp_path, {"at": -1, "status": Status.OK}, group="well")
    judged(tmp_path, {"at": -1, "status": Status.UNKNOWN}, group="dark")
    page = open_page("history", kept(tmp_path), until=UNTIL)
    assert page.title[0].value == (
        "1 group had no trouble in the 24 h to 22 Nov 13:00, as far as verdicts are known: "
        "`well` was furthest behind, 7 records at 12:59; no verdict is known for 1"
    )


@pytest.mark.parametrize(
    ("minutes", "stated"),
    [
        (1, "`g` had no trouble in the 1 h to 22 Nov 13:00 (verdict known for 1 min); at worst"),
        (53, "`g` had no trouble in the 1 h to 22 Nov 13:00 (verdict known for 53 min); at worst"),
        (54, "`g` had no trouble in the 1 h to 22 Nov 13:00; at worst"),
    ],
)
def test_calm_is_claimed_only_for_the_known_time(
    open_page: Open, kept: Any, tmp_path: Path, minutes: int, stated: str
) -> None:
    judged(tmp_path, *({"at": -at, "status": Status.OK} for at in range(1, minutes + 1)))
    page = open_page("history", kept(tmp_path), group="g", range="1h", until=UNTIL)
    assert page.title[0].value.startswith(stated)
    fleet = open_page("history", kept(tmp_path), range="1h", until=UNTIL).title[0].value
    assert fleet.startswith("1 group had no trouble in the 1 h to 22 Nov 13:00")
    assert (", as far as verdicts are known: " in fleet) == (minutes < 54)


def test_minutes_between_those_that_are_known_are_no_trouble(open_page: Open, kept: Any, tmp_path: Path) -> None:
    judged(tmp_path, *({"at": at, "status": Status.STOPPED} for at in (-600, -1)))
    page = open_page("history", kept(tmp_path), group="g", until=UNTIL)
    assert page.title[0].value.startswith("`g` was in trouble from before 03:00 on (stopped), 2 min; ")
    fleet = open_page("history", kept(tmp_path), until=UNTIL)
    assert fleet.title[0].value.endswith(": `g` for 2 min, stopped at worst")


def test_an_oldest_record_that_is_only_known_to_be_older_counts(open_page: Open, kept: Any, tmp_path: Path) -> None:
    lag = {"cluster": pasts.CLUSTER, "lag_sum": 7}
    made = (lag | {"at": -2, "time_lag_max_ms": 200}, lag | {"at": -1, "time_lag_max_ms": None})
    History(tmp_path).append("lag_group_topic_1m", past("lag_group_topic_1m", *made))
    exceeded = {"at": -1, "cluster": pasts.CLUSTER, "time_lag_max_ms": 7_200_000, "time_lag_known": False}
    History(tmp_path).append("group_health_1m", past("group_health_1m", exceeded))
    fleet = open_page("history", kept(tmp_path), until=UNTIL)
    assert list(table(fleet, "longest in trouble")["oldest"]) == [pd.Timedelta(hours=2)]
    hours = table(open_page("history", kept(tmp_path), group="g", until=UNTIL), "by the hour: highest lag")
    assert (hours["most_records"][0], pd.isna(hours["oldest"][0])) == (7, True)


def test_a_budget_that_is_not_known_or_no_longer_evaluated_says_so(open_page: Open, kept: Any, tmp_path: Path) -> None:
    judged(tmp_path, {"at": -1, "status": Status.OK})
    dark = {"at": 0, "slo_id": "dark", "burn": None, "budget_left": None}
    gone = {"at": -180, "slo_id": "gone", "burn": 0.5, "budget_left": 0.5}
    made = (its | {"cluster": pasts.CLUSTER} for its in (dark, gone))
    History(tmp_path).append("slo_burn", past("slo_burn", *made))
    budgets = table(open_page("history", kept(tmp_path), group="g", until=UNTIL), "Error budget")
    assert list(budgets["assessment"]) == ["not known", "within budget, not evaluated since 10:00"]
    assert list(budgets["budget_left_percent"].isna()) == [True, False]


def test_what_still_lasts_is_shown_as_lasting(open_page: Open, kept: Any, tmp_path: Path) -> None:
    now = (datetime.now(UTC) - NOON) // timedelta(minutes=1)
    judged(tmp_path, *({"at": now - at, "status": Status.OK if at == 4 else Status.STOPPED} for at in (4, 3, 2, 1)))
    page = open_page("history", kept(tmp_path), group="g")
    since = formats.moment(1000 * round((NOON + timedelta(minutes=now - 3)).timestamp()), formats.zone("Europe/Berlin"))
    assert page.title[0].value.startswith(f"`g` has been in trouble since {since:%H:%M} (stopped), 3 min; ")
    fleet = open_page("history", kept(tmp_path))
    assert fleet.title[0].value == ("1 of 1 group was in trouble in the last hour: `g` for 3 min, stopped at worst")


def test_the_last_rebalance_is_found_by_its_minute_however_they_are_marked(
    open_page: Open, kept: Any, tmp_path: Path
) -> None:
    judged(tmp_path, *({"at": -7 * at, "status": Status.OK, "rebalances": 1} for at in range(1, 62)))
    page = open_page("history", kept(tmp_path), group="g", until=UNTIL)
    assert "61 rebalances, marked by the hour; the last at 12:53" in plain(page)


def test_only_partitions_with_a_lag_can_be_chosen(open_page: Open, kept: Any, tmp_path: Path) -> None:
    made = ({"at": -1, "cluster": pasts.CLUSTER, "partition": at, "lag_max": at} for at in (3, 7))
    History(tmp_path).append("lag_1m", past("lag_1m", *made))
    History(tmp_path).append("lag_group_topic_1m", past("lag_group_topic_1m", {"at": -1, "cluster": pasts.CLUSTER}))
    page = open_page("history", kept(tmp_path), group="g", topic="t", until=UNTIL)
    assert page.selectbox(key="history_partition").options == ["3", "7"]


@pytest.mark.parametrize("until", ["0001-01-01T00:00Z", "2500-01-01T00:00Z"])
def test_an_end_outside_of_all_history_is_the_newest(open_page: Open, kept: Any, root: str, until: str) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, until=until)
    assert not page.exception
    assert "21 Nov 13:00 to 22 Nov 13:00" in plain(page)
    assert " in the last 24 h" in page.title[0].value


@pytest.mark.parametrize("number", ["9" * 5_000, "9" * 10])
def test_a_partition_that_cannot_be_breaks_nothing(open_page: Open, kept: Any, root: str, number: Any) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, topic="t", partition=number, until=UNTIL)
    assert not page.exception


@pytest.mark.parametrize(("zone", "length"), [("America/New_York", "30d"), ("Pacific/Auckland", "90d")])
def test_a_day_has_its_own_name_wherever_one_looks_from(
    open_page: Open, kept: Any, root: str, zone: str, length: str
) -> None:
    """Days are those of UTC: the 22nd begins on the evening of the 21st in New York."""
    page = open_page("history", kept(root), zone, range=length, until=UNTIL)
    heat = figure(page, "health")
    days = int(length.removesuffix("d"))
    assert len(heat["data"][0]["customdata"][0]) == days + 1
    assert heat["data"][0]["customdata"][0][-1] == "22 Nov 2026 (UTC)<br>■ Stopped · in trouble for 3 h · 2 rebalances"
    first = datetime(2026, 11, 22, tzinfo=UTC) - timedelta(days=days)
    assert heat["layout"]["xaxis"]["ticktext"][0] == f"{first:%d %b}"
    assert len(heat["layout"]["xaxis"]["ticktext"]) <= MOST_TIMES
    page = open_page("history", kept(root), zone, group=pasts.BAD, range=length, until=UNTIL)
    rows = table(page, "by the day: highest lag")
    assert list(rows["at"][:2]) == [pd.Timestamp("2026-11-22"), pd.Timestamp("2026-11-21")]
    assert list(rows["rebalances"][:2]) == [2, 1]


def test_an_hour_that_the_clock_shows_twice_has_two_tiles(open_page: Open, kept: Any, tmp_path: Path) -> None:
    """On 25 October 2026 it is 02:00 in Berlin at midnight and at one o'clock of UTC."""
    midnight = (datetime(2026, 10, 25, tzinfo=UTC) - NOON) // timedelta(minutes=1)
    judged(tmp_path, {"at": midnight, "status": Status.STOPPED}, {"at": midnight + 60, "status": Status.OK})
    page = open_page("history", kept(tmp_path), range="6h", until="2026-10-25T03:00Z")
    shown = [hover for hover in figure(page, "health")["data"][0]["customdata"][0] if hover]
    assert shown == [
        "25 Oct 02:00 (00:00 UTC)<br>■ Stopped · in trouble for 1 min",
        "25 Oct 02:00 (01:00 UTC)<br>● OK",
    ]


def test_a_short_range_is_shown_by_ten_minutes(open_page: Open, kept: Any, tmp_path: Path) -> None:
    judged(tmp_path, {"at": -21, "status": Status.STOPPED}, {"at": -20, "status": Status.OK})
    page = open_page("history", kept(tmp_path), range="1h", until=UNTIL)
    heat = figure(page, "health")["data"][0]["customdata"][0]
    assert "groups by ten minutes" in plain(page)
    assert {at: text for at, text in enumerate(heat) if text} == {
        3: "22 Nov 12:30 (11:30 UTC)<br>■ Stopped · in trouble for 1 min",
        4: "22 Nov 12:40 (11:40 UTC)<br>● OK",
    }
    rows = table(
        open_page("history", kept(tmp_path), group="g", range="1h", until=UNTIL), "by ten minutes: highest lag"
    )
    assert list(rows["at"][rows["most_records"].notna()]) == [
        pd.Timestamp("2026-11-22 12:40"),
        pd.Timestamp("2026-11-22 12:30"),
    ]


def test_a_long_range_ends_with_a_whole_hour(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("history", kept(root), group=pasts.BAD, range="7d", until="2026-11-22T11:20Z")
    assert "15 Nov 13:00 to 22 Nov 13:00" in plain(page)


def test_more_groups_than_a_table_takes_are_reported(
    open_page: Open, kept: Any, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.history.fleet.MAX_ROWS", 1)
    monkeypatch.setattr("app.views.history.group_tables.MAX_ROWS", 1)
    page = open_page("history", kept(root), until=UNTIL)
    assert len(table(page, "longest in trouble")) == 1
    assert "The first 1 of 2 groups." in plain(page)
    assert "The first 1 of 2 partitions." in plain(open_page("history", kept(root), group=pasts.BAD, until=UNTIL))


def test_without_minutes_there_is_no_sentence_on_their_age(
    open_page: Open, kept: Any, root: str, tmp_path: Path
) -> None:
    copytree(root, tmp_path, dirs_exist_ok=True)
    for file in Path(tmp_path, "lag_group_topic_1m").glob("dt=*/*.parquet"):
        file.write_bytes(b"PAR1 no more")
    page = open_page("history", kept(tmp_path), group=pasts.BAD, until=UNTIL)
    assert "as of" not in plain(page)
    for file in Path(tmp_path, "group_health_1m").glob("dt=*/*.parquet"):
        file.write_bytes(b"PAR1 no more")
    page = open_page("history", kept(tmp_path), until=UNTIL)
    assert page.title[0].value == "The history of the groups cannot be read"


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("lag_1m", {"group": pasts.BAD}),
        ("lag_group_topic_1m", {"group": pasts.BAD}),
        ("lag_group_topic_1m", {}),
        ("group_health_1m", {}),
        ("slo_burn", {"group": pasts.BAD}),
    ],
)
def test_a_damaged_table_is_named_once_and_blanks_nothing_else(
    open_page: Open, kept: Any, root: str, tmp_path: Path, name: str, query: Any
) -> None:
    copytree(root, tmp_path, dirs_exist_ok=True)
    for file in Path(tmp_path, name).glob("dt=*/*.parquet"):
        file.write_bytes(b"PAR1 no more")
    page = open_page("history", kept(tmp_path), until=UNTIL, **query)
    assert not page.exception
    assert plain(page).count(f"{tmp_path}/{name} cannot be used") == 1
    assert len(page.dataframe) >= 1
    assert " in this time range." not in plain(page)  # what is not known is not empty


@pytest.mark.parametrize("page_name", ["history", "about"])
def test_a_history_that_is_not_written_is_reported_at_once(
    open_page: Open, kept: Any, root: str, page_name: str
) -> None:
    status = RecorderStatus(("/data/end_offsets cannot be used: damaged. Restore it",), waiting=1200)
    page = open_page(page_name, replace(kept(root), recorder=lambda: status))
    assert not page.exception
    assert "The history is not recorded" in plain(page)
    assert "/data/end_offsets cannot be used: damaged. Restore it. 1,200 rows waiting" in plain(page)
    assert "is not recorded" not in plain(open_page(page_name, replace(kept(root), recorder=RecorderStatus)))


@pytest.mark.parametrize("query", [{}, {"group": "g"}], ids=["all groups", "one group"])
def test_the_page_says_up_to_when_it_is(open_page: Open, kept: Any, tmp_path: Path, query: dict[str, str]) -> None:
    """Its verdicts are those of the last rolled-up minute, which other pages are ahead of."""
    newest = (datetime.now(UTC) - NOON) // timedelta(minutes=1) - 2
    judged(tmp_path, *({"at": newest - back, "status": Status.OK} for back in range(3)))
    page = open_page("history", kept(tmp_path), **query)
    assert "no trouble in the last hour" in page.title[0].value
    end = (NOON + timedelta(minutes=newest + 1)).astimezone(formats.zone("Europe/Berlin"))
    assert f"as of {end:%H:%M}, " in plain(page)


def test_an_old_end_is_reported_with_the_command(open_page: Open, kept: Any, tmp_path: Path) -> None:
    hour_ago = (datetime.now(UTC) - NOON) // timedelta(minutes=1) - 60
    made = ({"at": hour_ago - at, "cluster": pasts.CLUSTER, "lag_sum": 7} for at in range(3))
    History(tmp_path).append("lag_group_topic_1m", past("lag_group_topic_1m", *made))
    text = plain(open_page("history", kept(tmp_path)))
    assert "Nothing newer is rolled up" in text
    assert f"groupscope pipeline rollup --history {tmp_path}" in text


def test_the_group_page_leads_there_and_back(open_page: Open, kept: Any, root: str) -> None:
    page = open_page("group", kept(root), group=pasts.BAD)
    page.button(key="group_to_history").click().run()
    assert page.title[0].value.startswith(formats.code(pasts.BAD))
    assert page.button(key="history_to_group").label == "Group"


def test_overview_group_topics_and_history_show_the_same_onset(
    open_page: Open, kept: Any, feed: Any, tmp_path: Path
) -> None:
    """The viewer's zone is one where it is about noon, so the onset is of the same day."""
    health, name = feed.report.health, "fraud-scoring-v2"
    onset, now = health.group(name).finding.onset, datetime.now(UTC)
    zone = f"Etc/GMT{now.hour - 12:+d}"
    clock = formats.clock_or_day(onset.at_ms, feed.report.snapshot.at_ms, formats.zone(zone))
    last = (now - NOON) // timedelta(minutes=1) - 1
    minutes: list[dict[str, Any]] = [
        {"at": last - back, "cluster": pasts.CLUSTER, "group_id": name} for back in range(30)
    ]
    status = [{"status": Status.OK if one["at"] < last - 10 else Status.STOPPED} for one in minutes]
    history = History(tmp_path)
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", *(one | {"lag_sum": 7} for one in minutes)))
    history.append("group_health_1m", past("group_health_1m", *map(operator.or_, minutes, status)))
    source, topic = kept(tmp_path), feed.report.snapshot.group(name).partitions[0].tp.topic
    for page, query in (("overview", {}), ("group", {"group": name}), ("history", {"group": name})):
        shown = open_page(page, source, zone, **query)
        assert not shown.exception
        assert f"since {clock}" in shown.title[0].value
    readers = table(open_page("topics", source, zone, topic=topic), "Groups that read this topic").set_index("group")
    assert readers["since"][name] == clock
