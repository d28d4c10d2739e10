"""The random groups that go to the oracles bring everything that has ever made a plan hard; and the report shows it."""

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pytest

from assignors.broker.uniform.assignor import UNIFORM
from assignors.model import AssignorError, Group
from tests.oracle import burrow, client_cases, fuzz
from tests.oracle.features import changes, features
from tests.oracle.generations import Course, before_livelock
from tests.oracle.server_groups import Chain, chains
from tests.oracle.tally import Checked, Tally, generator, run

ORDERS = {"double claim, equal", "double claim, the newer first", "double claim, the older first"}
COMMON = {
    "more than 12 members",
    "member ids of one hash code",
    "more members than partitions",
    "empty subscription first",
    "different subscriptions",
    "static ids",
    "owns of a topic that is gone",
    "owns of a topic that it left",
    "owns a partition that does not exist",
}
OF_CLIENTS = COMMON | ORDERS | {"topic names of one hash code", "stale owners", "racks", "user data"}
OF_THE_BROKER = COMMON | {"double claim, equal", "topic ids of one bucket"}
CHANGES = {"a topic grows", "a topic is deleted"}


def test_groups_of_clients_have_every_feature() -> None:
    found = Counter(name for number in range(1500) for name in features(client_cases.draw(generator(1, number))))
    assert {name for name in OF_CLIENTS if not found[name]} == set()


def test_topics_of_clients_grow_and_go_between_ownership_and_plan() -> None:
    # The group after the change begins with the same random numbers as the group before it.
    pairs = ((client_cases.owned(random.Random(s)), client_cases.changed(random.Random(s))) for s in range(300))
    found = Counter(name for before, after in pairs for name in changes(before, after))
    assert {name for name in CHANGES if not found[name]} == set()


def test_groups_of_the_broker_have_every_feature() -> None:
    found: Counter[str] = Counter()
    for before, after in _steps(seed=1, count=500):
        found.update(features(after))
        found.update(changes(before, after) if before else ())
    assert {name for name in OF_THE_BROKER | CHANGES if not found[name]} == set()


def _steps(seed: int, count: int) -> Iterator[tuple[Group | None, Group]]:
    """Groups, and what they were before their last change."""
    for chain in islice(chains(seed), count):
        before = None
        for _ in range(chain.steps):
            yield before, chain.group
            try:
                plan = UNIFORM.assign(chain.group)
            except AssignorError:
                break
            before = chain.group
            chain.go_on(plan)


def test_courses_bring_every_action() -> None:
    found = Counter(type(action).__name__ for number in range(100) for action in Course(generator(1, number)).actions)
    assert set(found) == {"AddPartitions", "Crash", "Join", "Leave", "Subscribe"}


def test_a_course_ends_before_the_action_from_whose_plan_java_never_returns() -> None:
    """Found by `make fuzz`; Java was asked in a process of its own, and stopped after 25 s."""
    course = Course(generator(2631919652, 15242))
    plans, actions = before_livelock("sticky", course)
    assert actions == course.actions[:-1]
    assert len(plans) == 5


def test_a_number_of_a_seed_is_always_the_same_group() -> None:
    first, second = (client_cases.draw(generator(7, 3)) for _ in range(2))
    assert first == second
    assert first != client_cases.draw(generator(7, 4))


def test_the_report_shows_differences_and_the_way_back_to_them() -> None:
    tally = Tally()
    for number, difference in enumerate(("", "ours: a\nJava: b", "", "")):
        tally.add(number, Checked("range", difference))
        tally.add(number, Checked("sticky"))
    assert fuzz.report(17, ("range", "sticky", "uniform"), tally) == [
        "range differs: ours: a\nJava: b",
        "To reproduce: python -m tests.oracle.fuzz --seed 17 --number 1",
        "range: 4 cases, 1 differ",
        "sticky: 4 cases, 0 differ",
        "uniform: 0 cases, 0 differ",
    ]


@pytest.mark.jvm
def test_one_number_is_looked_at_again_and_each_oracle_closes_with_one_line() -> None:
    command = [sys.executable, "-m", "tests.oracle.fuzz", "--seed", "5", "--number", "8"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    steps = Chain(generator(5, 8)).steps
    partitions = sum(map(len, burrow.draw(generator(5, 8)).groups))
    assert done.stdout.splitlines() == [
        "seed 5",
        "range: 1 cases, 0 differ",
        "roundrobin: 1 cases, 0 differ",
        "sticky: 1 cases, 0 differ",
        "cooperative-sticky: 1 cases, 0 differ",
        "uniform: 0 cases, 0 differ",
        "server-range: 0 cases, 0 differ",
        f"share-simple: {steps} cases, 0 differ",  # number 8, and the three take turns
        "generations: 1 cases, 0 differ",
        "java maps: 1 cases, 0 differ",
        "classic coordinator: 1 cases, 0 differ",
        "consumer coordinator: 1 cases, 0 differ",
        "records: 60 cases, 0 differ",
        f"burrow: {burrow.GROUPS + partitions} cases, 0 differ",
        "scenario files: 1 cases, 0 differ",
        "plans: 2 cases, 0 differ",
    ]


def test_a_run_ends_with_its_time_or_its_cases() -> None:
    def check(seed: int, number: int) -> list[Checked]:
        return [Checked("even" if number % 2 == 0 else "odd")]

    assert run(check, 1, seconds=0).cases == {}
    assert run(check, 1, cases=5).cases == {"even": 3, "odd": 2}
    assert run(check, 1, numbers=range(0, 8, 2)).cases == {"even": 4}
