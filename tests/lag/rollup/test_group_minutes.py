"""The life of groups by the minute equals the plain reference: on random records and on every edge case."""

import random
from dataclasses import replace
from typing import Any

import pytest

from lag.rollup.group_events import records
from lag.rollup.group_minutes import STATES, Seen, minutes
from lag.verdict.status import URGENCY, Status
from tests.lag.rollup import plain_group_minutes as plain
from tests.lag.rollup.plain_group_minutes import Row

SINCE, UNTIL = 600, 1500


def table(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows as `group_events` has them."""
    return [
        {
            "at_us": round(row.at * 1e6), "src_offset": row.offset, "record_type": row.kind, "member_id": row.member,
            "generation_or_epoch": None if row.kind in plain.TARGETS else row.number,
            "assignment_epoch": row.number if row.kind in plain.TARGETS else None,
            "state": row.state, "tombstone": row.gone, "bootstrap": row.bootstrap,
            "assignment": [{"topic": t, "topic_id": None, "partitions": list(p)} for t, p in row.owned],
        }
        for row in sorted(rows, key=lambda row: row.offset)
    ]  # fmt: skip


def ours(rows: list[Row], seen: dict[int, Seen] | None = None) -> list[dict[str, Any]]:
    polled = {at * 1_000_000: one for at, one in (seen or {}).items()}
    found = minutes(list(records(table(rows))), polled, SINCE * 1_000_000, UNTIL * 1_000_000)
    made = [one._asdict() for one in found]
    return [row | {"minute": row["minute"] // 1_000_000, "state": _word(row["state"])} for row in made]


def _word(state: int | None) -> str | None:
    return None if state is None else STATES[state]


def both(rows: list[Row]) -> list[dict[str, Any]]:
    """Ours, once they are seen to be equal."""
    found, wanted = ours(rows), plain.minutes(rows, SINCE, UNTIL)
    assert [row["minute"] for row in found] == [row["minute"] for row in wanted]
    for mine, reference in zip(found, wanted, strict=True):
        assert {name: mine[name] for name in reference} == reference
    return found


def classic(at: float, offset: int, generation: int, members: str, **rest: Any) -> list[Row]:
    """One record of a classic group: a row a member, one if it has none."""
    return [Row(at, offset, 2, generation, member, **rest) for member in [*members] or (None,)]


def joins(at: float, offset: int, member: str, epoch: int) -> list[Row]:
    """A member joins a KIP-848 group: member, epoch, the target's epoch."""
    return [Row(at, offset, 5, member=member), Row(at, offset + 1, 3, epoch), Row(at, offset + 2, 6, epoch)]


def test_generations_are_counted_and_members_that_come_and_go() -> None:
    rows = [*classic(1, 0, 4, "ab"), *classic(610, 1, 5, "abc"), *classic(630, 2, 6, "bc")]
    (row,) = both(rows)
    assert (row["generation_first"], row["generation_last"], row["rebalances"]) == (4, 6, 2)
    assert (row["joins"], row["leaves"], row["churn"]) == (1, 1, 2 / ((2 + 3 + 2) / 3))
    assert (row["members_min"], row["members_max"], row["members_last"]) == (2, 3, 2)
    assert (row["type"], row["state"], row["rebalance_ms"]) == ("classic", "Stable", None)


def test_a_static_member_that_is_replaced_makes_no_rebalance() -> None:
    (row,) = both([*classic(1, 0, 4, "ab"), *classic(610, 1, 4, "ac")])
    assert (row["rebalances"], row["joins"], row["leaves"]) == (0, 1, 1)


def test_a_generation_that_falls_is_that_of_a_recreated_group() -> None:
    (row,) = both([*classic(1, 0, 9, "ab"), *classic(610, 1, 2, "c")])
    assert (row["rebalances"], row["generation_last"]) == (2, 2)


def test_generations_whose_records_were_compacted_away_count() -> None:
    (row,) = both([*classic(1, 0, 4, "ab"), *classic(610, 7, 9, "ab")])
    assert row["rebalances"] == 5


def test_a_group_without_members_is_empty_and_a_deleted_one_is_dead() -> None:
    rows = [*classic(1, 0, 4, "a"), *classic(610, 1, 5, ""), *classic(670, 2, 0, "", gone=True)]
    empty, dead = both(rows)
    assert (empty["state"], empty["rebalances"], empty["members_last"], empty["leaves"]) == ("Empty", 1, 0, 1)
    assert (dead["state"], dead["rebalances"], dead["members_last"], dead["churn"]) == ("Dead", 0, 0, None)


def test_a_group_that_comes_back_after_its_deletion_starts_over() -> None:
    gone = [*classic(1, 0, 4, ""), *classic(2, 1, 0, "", gone=True)]
    (row,) = both([*gone, *classic(610, 2, 5, "a")])
    assert row["rebalances"] == 5


def test_what_was_there_before_us_sets_the_scene_and_is_no_news() -> None:
    old = [*classic(610, 0, 4, "ab", bootstrap=True), *classic(620, 1, 6, "abc", bootstrap=True)]
    (row,) = both([*old, *classic(640, 2, 7, "abcd")])
    assert (row["rebalances"], row["joins"], row["members_min"], row["members_last"]) == (1, 1, 2, 4)


def test_a_new_group_is_news() -> None:
    (row,) = both(classic(610, 0, 1, "ab"))
    assert (row["rebalances"], row["joins"], row["generation_first"]) == (1, 2, 1)


def test_a_kip848_rebalance_lasts_from_the_bump_until_the_last_member_has_its_target() -> None:
    rows = [
        *joins(610, 0, "a", 2), Row(610, 3, 8, 2, "a", 0), *joins(615, 4, "b", 3), Row(616, 8, 8, 3, "b", 2),
        Row(618.5, 9, 8, 3, "a", 0), Row(619.25, 10, 8, 3, "b", 0),
    ]  # fmt: skip
    (row,) = both(rows)
    assert (row["rebalances"], row["rebalance_ms"], row["state"], row["type"]) == (2, 4250, "Stable", "consumer")


def test_a_member_that_has_not_reached_its_target_is_recognised_by_its_state() -> None:
    assigning = [Row(610, 0, 5, member="a"), Row(610, 1, 3, 2)]
    reconciling = [*assigning, Row(610, 2, 6, 2), Row(610, 3, 8, 2, "a", 1)]
    assert [both(rows)[0]["state"] for rows in (assigning, reconciling)] == ["Assigning", "Reconciling"]


def test_an_epoch_that_is_bumped_again_before_anybody_settles_is_one_longer_rebalance() -> None:
    rows = [*joins(610, 0, "a", 2), Row(610, 3, 8, 2, "a", 0), *joins(620, 4, "b", 3), *joins(625, 7, "c", 4)]
    rows += [Row(630, 10 + n, 8, 4, member, 0) for n, member in enumerate("abc")]
    assert both(rows)[0]["rebalance_ms"] == 10_000


def test_a_kip848_group_that_loses_its_last_member_settles_nothing() -> None:
    rows = [*joins(1, 0, "a", 2), Row(1, 3, 8, 2, "a", 0), Row(610, 4, 5, member="a", gone=True), Row(610, 5, 3, 3)]
    (row,) = both(rows)
    assert (row["rebalances"], row["leaves"], row["rebalance_ms"], row["state"]) == (1, 1, None, "Empty")


def test_a_group_that_goes_over_to_kip848_keeps_its_members() -> None:
    rows = [*classic(1, 0, 7, "ab"), *classic(610, 1, 0, "", gone=True), *joins(610, 2, "a", 8), *joins(610, 5, "b", 8)]
    (row,) = both(rows)
    assert (row["rebalances"], row["joins"], row["leaves"], row["type"]) == (1, 0, 0, "consumer")


def test_a_minute_without_a_record_is_as_the_one_before() -> None:
    (row,) = ours(classic(1, 0, 4, "ab"), {660: Seen(3, 70_000, True, "classic", "PreparingRebalance", 2)})
    assert (row["minute"], row["rebalances"], row["members_last"], row["churn"]) == (660, 0, 2, 0.0)
    assert (row["state"], row["status"], row["time_lag_max_ms"]) == ("PreparingRebalance", 3, 70_000)


def test_a_group_without_records_is_known_from_polls_only() -> None:
    (row,) = ours([], {660: Seen(type="consumer", state="Empty", members=0)})
    assert (row["type"], row["generation_last"], row["members_last"], row["state"]) == ("consumer", None, 0, "Empty")
    (row,) = ours([], {660: Seen(12, 5, False)})
    assert (row["type"], row["members_last"], row["state"], row["time_lag_known"]) == ("unknown", None, None, False)


STOPPED, HELD, UNKNOWN, OK = (URGENCY.index(one) for one in (Status.STOPPED, Status.HELD, Status.UNKNOWN, Status.OK))


@pytest.mark.parametrize(
    ("of_commits", "verdict", "status"),
    [
        pytest.param(STOPPED, HELD, HELD, id="a transaction holds it, which commits do not show"),
        pytest.param(STOPPED, OK, OK, id="markers only"),
        pytest.param(STOPPED, None, STOPPED, id="nobody polled, or the window was too short"),
        pytest.param(STOPPED, UNKNOWN, STOPPED, id="the poll could not read it"),
        pytest.param(None, HELD, HELD, id="no commit is known"),
        pytest.param(None, UNKNOWN, UNKNOWN, id="nothing is known"),
        pytest.param(None, None, None, id="nothing was seen"),
    ],
)
def test_the_status_is_the_collectors_where_it_has_one(
    of_commits: int | None, verdict: int | None, status: int | None
) -> None:
    (row,) = ours([], {660: Seen(status=of_commits, verdict=verdict)})
    assert row["status"] == status


@pytest.mark.parametrize(
    ("seen", "time_lag_ms", "known"),
    [
        pytest.param(
            Seen(time_lag_max_ms=9, time_lag_known=True, markers=0, poll_time_lag_ms=5), 9, True, id="records"
        ),
        pytest.param(
            Seen(time_lag_max_ms=9, time_lag_known=True, markers=1, poll_time_lag_ms=0), 0, True, id="markers"
        ),
        pytest.param(Seen(time_lag_max_ms=9, time_lag_known=True, markers=1), None, False, id="markers perhaps"),
        pytest.param(Seen(markers=0, poll_time_lag_ms=7, lag_partitions=2), 7, True, id="shares: no commits"),
        pytest.param(Seen(markers=0, lag_partitions=2), None, False, id="never committed"),
        pytest.param(Seen(markers=0, poll_time_lag_ms=0, lag_partitions=0), None, None, id="no partition"),
    ],
)
def test_markers_that_nobody_reads_are_no_time_lag(seen: Seen, time_lag_ms: int | None, known: bool | None) -> None:
    (row,) = ours([], {660: seen})
    assert (row["time_lag_max_ms"], row["time_lag_known"]) == (time_lag_ms, known)


@pytest.mark.parametrize("seed", range(20))
def test_random_groups_are_as_the_reference_has_them(seed: int) -> None:
    dice = random.Random(seed)
    both(random_classic(dice))
    both(random_modern(dice))


def random_classic(dice: random.Random) -> list[Row]:
    """Generations that go on, jump, stay or fall; members that change; deletions; bootstrap rows."""
    at, generation, made = 0.0, dice.randrange(3), []
    for offset in range(60):
        at += dice.choice([0, 0.5, 7, 40, 90])
        if dice.random() < 0.1:
            made.append(Row(at, offset, 2, member=None, gone=True, bootstrap=at < 700))
            continue
        generation = dice.choice([generation, generation + 1, generation + 1, generation + 3, 1])
        members = "".join(one for one in "abcde" if dice.random() < 0.5)
        made += [replace(row, bootstrap=at < 700) for row in classic(at, offset, generation, members)]
    return made


def random_modern(dice: random.Random) -> list[Row]:
    """Any order of records, sound or not."""
    at, epoch, made = 0.0, 2, []
    for offset in range(90):
        at += dice.choice([0, 0, 0.5, 7, 30])
        member, kind = dice.choice("abc"), dice.choice([3, 5, 6, 8, 8, 8])
        epoch += kind == 3 and dice.random() < 0.6
        gone = kind in (3, 5, 8) and dice.random() < 0.12
        number = None if gone or kind == 5 else 1 if kind == 3 and dice.random() < 0.05 else epoch
        state = dice.choice([0, 0, 0, 1]) if kind == 8 and not gone else None
        made.append(Row(at, offset, kind, number, member if kind in (5, 8) else None, state, gone, at < 700))
    return made
