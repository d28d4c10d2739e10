"""The undo plan takes every change back, and its CSV is what Kafka's tool reads."""

from hypothesis import given
from hypothesis import strategies as st

from assignors.model import TopicPartition
from lag.model import GroupType
from lag.reset.applying.undo import undo_plan
from lag.reset.applying.verify import Outcome, is_done, results
from lag.reset.files.offsets_csv import offsets_csv, parse_offsets_csv
from lag.reset.model import Action, Commit, Kind, PartitionPlan, Plan
from tests.support.known import known

OFFSETS = st.none() | st.integers(0, 100)
Pairs = list[tuple[int | None, int | None]]


def plan(pairs: Pairs) -> Plan:
    rows = tuple(
        PartitionPlan(
            TopicPartition("orders", number), Action.DELETE if to is None else Action.SET, before, to, "m" * number,
            topic_id="t", log_start=0, log_end=100,
        )
        for number, (before, to) in enumerate(pairs)
        if (before, to) != (None, None)
    )  # fmt: skip
    return Plan(Kind.OFFSETS, "c", "billing", GroupType.CLASSIC, 0, "Empty", None, (), "a test", rows)


def applied(made: Plan, commits: dict[TopicPartition, Commit]) -> dict[TopicPartition, Commit]:
    after = dict(commits)
    for row in made.changes:
        if row.to_offset is None:
            after.pop(row.tp, None)
        else:
            after[row.tp] = Commit(row.to_offset, row.to_metadata)
    return after


@given(st.lists(st.tuples(OFFSETS, OFFSETS), max_size=5))
def test_a_plan_and_its_undo_leave_everything_as_it_was(pairs: Pairs) -> None:
    made = plan(pairs)
    before = {r.tp: Commit(r.from_offset, r.from_metadata) for r in made.partitions if r.from_offset is not None}
    after = applied(made, before)
    undo = known(undo_plan(made, 1))
    assert is_done(results(made, after))
    assert applied(undo, after) == before
    assert is_done(results(undo, before))
    assert [row.tp for row in undo.partitions] == [row.tp for row in made.changes]


@given(st.lists(st.tuples(OFFSETS, OFFSETS), max_size=5), st.integers(0, 5))
def test_killed_in_between_each_partition_is_at_the_one_or_the_other(pairs: Pairs, done: int) -> None:
    made = plan(pairs)
    before = {r.tp: Commit(r.from_offset, r.from_metadata) for r in made.partitions if r.from_offset is not None}
    half = before | applied(plan(pairs[:done]), before) if done else before
    half = {tp: commit for tp, commit in half.items() if tp.partition >= done or tp in applied(made, before)}
    for each, row in zip(results(made, half), made.partitions, strict=True):
        expected = Outcome.DONE if row.tp.partition < done or not row.is_change else Outcome.NOT_DONE
        assert each.outcome is expected


def test_an_undone_first_commit_is_a_deletion_and_not_in_the_csv() -> None:
    undo = known(undo_plan(plan([(None, 5), (7, 3)]), 1))
    assert [(row.action, row.from_offset, row.to_offset) for row in undo.partitions] == [
        (Action.DELETE, 5, None),
        (Action.SET, 3, 7),
    ]
    assert offsets_csv(undo.partitions) == "orders,1,7\n"
    assert parse_offsets_csv("orders,1,7\n", "billing", "file") == {TopicPartition("orders", 1): 7}


def test_a_dropped_topic_cannot_be_committed_again() -> None:
    gone = PartitionPlan(TopicPartition("gone", 0), Action.DELETE, 5, None, topic_is_gone=True)
    undo = known(undo_plan(Plan(Kind.DELETE_GROUP, "c", "g", None, 0, "Empty", None, (), "x", (gone,)), 1))
    assert [(row.action, bool(row.reason)) for row in undo.partitions] == [(Action.NONE, True)]


def test_a_csv_of_several_groups_gives_those_of_one() -> None:
    text = "billing,orders,0,5\nother,orders,1,6\n"
    assert parse_offsets_csv(text, "billing", "file") == {TopicPartition("orders", 0): 5}
