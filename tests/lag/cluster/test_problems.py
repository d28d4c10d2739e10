"""Refusals of many groups and topics are one problem for each cause."""

from lag.cluster.problems import leaderless, without_coordinator
from lag.cluster.requests.error_codes import group_problem
from lag.merged_problems import merged, of_topics
from lag.model import Problem, Scope

GROUP_DENIED, TOPIC_DENIED = 30, 29


def denied(*names: str, code: int = GROUP_DENIED) -> list[Problem]:
    return [group_problem(name, code) for name in names]


def test_one_refused_group_is_reported_as_refused() -> None:
    assert list(map(str, merged(denied("billing")))) == [
        "group billing: not authorised to describe it. Grant DESCRIBE on group billing"
    ]


def test_five_thousand_refused_groups_are_one_problem() -> None:
    (found,) = merged(denied(*(f"g-{number:04}" for number in reversed(range(5_000)))))
    assert found == Problem(
        "unauthorized",
        Scope.GROUP,
        "g-0000, g-0001, g-0002 and 4,997 more",
        "not authorised to describe it",
        "Grant DESCRIBE on these groups",
        5_000,
    )


def test_each_cause_is_given_by_itself() -> None:
    found = merged([*denied("b", "a"), *denied("c", code=TOPIC_DENIED)])
    assert [(p.subject, p.hint, p.affected) for p in found] == [
        ("a, b", "Grant DESCRIBE on these groups", 2),
        ("c", "Grant DESCRIBE on the group's topics", 1),
    ]


def test_topics_that_may_not_be_described_are_named() -> None:
    cause = "not authorised to describe it: its log end is unknown"
    assert list(map(str, of_topics({"pay"}))) == [f"topic pay: {cause}. Grant DESCRIBE on topic pay"]
    assert list(map(str, of_topics({"pay", "tax"}))) == [f"topic pay, tax: {cause}. Grant DESCRIBE on these topics"]


def test_nothing_refused_is_no_problem() -> None:
    assert (merged([]), of_topics(frozenset())) == ([], [])


def test_partitions_without_a_leader_are_named() -> None:
    assert [str(leaderless("pay", partitions)) for partitions in ((3,), (0, 2), range(11))] == [
        "topic pay: partition 3 has no leader. Start a broker that has a replica of it",
        "topic pay: 2 partitions have no leader (0, 2). Start a broker that has a replica of them",
        "topic pay: 11 partitions have no leader (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …). "
        "Start a broker that has a replica of them",
    ]


def test_partitions_whose_groups_have_no_coordinator_are_counted() -> None:
    causes = [[problem.cause for problem in without_coordinator(leaders)] for leaders in ((1, 2), (1, -1), (-1, -1))]
    assert causes == [
        [],
        ["1 of 2 partitions of __consumer_offsets has no leader"],
        ["2 of 2 partitions of __consumer_offsets have no leader"],
    ]
