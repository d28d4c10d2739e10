"""What `check` accepts runs in every command and page that takes files, within a bound, or is refused with a reason."""

import json
import time
from typing import Any

import pytest

from assignors import fold, names
from assignors.model import AssignorError
from assignors.scenario import Checked, check_bytes
from assignors.simulation.settings import read
from assignors.simulation.side_by_side import simulate_all
from assignors.simulation.timeline.summary import Summary, summarize
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.events import Join, Scenario, Subscribe
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.assignors.simulation.run.stories import CONSUMER, COOPERATIVE, EAGER
from tests.oracle.scenario_files import NAME, check
from tests.oracle.tally import run

AUDIT = {"name": "audit", "partitions": 2}
ORDERS = {"name": "orders", "partitions": 13}


def checked(**sections: Any) -> Checked:
    file = {"schema_version": 1, "name": "g", "assignor": "sticky", **sections}
    return check_bytes(json.dumps(file).encode(), "g.json")


def outcome(scenario: Scenario, protocol: RebalanceProtocol) -> Timeline | AssignorError:
    return simulate_all(scenario, read(scenario.protocol), [protocol])[protocol]


def summary(scenario: Scenario, protocol: RebalanceProtocol) -> Summary:
    made = outcome(scenario, protocol)
    assert isinstance(made, Timeline)
    return summarize(made)


def two_owners(p: dict[str, Any], r: dict[str, Any]) -> Scenario:
    owned = {"topics": ["orders"], "owned": {"orders": [4, 5, 6, 7]}}
    return checked(topics=[ORDERS], members=[{"id": "p", **owned, **p}, {"id": "r", **owned, **r}]).scenario


@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE, CONSUMER])
def test_a_topic_that_a_member_lists_twice_counts_once(protocol: RebalanceProtocol) -> None:
    """`sticky` would give it a partition that it does not read, and it would join again for ever."""
    topics = [{"name": name, "partitions": 2} for name in ("orders", "payments", "audit")]
    every, some = ["orders", "payments", "audit"], ["orders", "audit", "audit"]
    found = checked(topics=topics, members=[{"id": "a", "topics": every}, {"id": "b", "topics": some}])
    assert [(one.path, one.message) for one in found.warnings] == [
        ("members[1].topics[2]", "'audit' is listed twice, and counts once: a subscription is a set.")
    ]
    assert found.scenario.members[1].topics == ("orders", "audit")
    made = outcome(found.scenario, protocol)
    assert isinstance(made, Timeline)
    assert (made.unsettled, summarize(made).rebalances) == (None, 2 if protocol is CONSUMER else 1)


def test_a_topic_that_an_event_lists_twice_counts_once() -> None:
    twice = ["audit", "audit"]
    events = [{"at": 1, "join": {"id": "b", "topics": twice}}, {"at": 2, "subscribe": {"id": "a", "topics": twice}}]
    found = checked(topics=[AUDIT], members=[{"id": "a"}], events=events)
    join, subscribe = (event.action for event in found.scenario.events)
    assert isinstance(join, Join)
    assert isinstance(subscribe, Subscribe)
    assert join.member.topics == subscribe.topics == ("audit",)
    assert [one.path for one in found.warnings] == ["events[0].join.topics[1]", "events[1].subscribe.topics[1]"]


def test_two_owners_are_refused_under_the_consumer_protocol() -> None:
    """Kafka's ConsumerGroup throws IllegalStateException: a partition has one owner."""
    refusal = outcome(two_owners({}, {}), CONSUMER)
    assert isinstance(refusal, AssignorError)
    assert str(refusal) == (
        "orders 4 is owned by 'p' and 'r' at the start. Under the consumer protocol a partition has one owner. "
        "Leave it to one, or give the other an earlier generation."
    )


@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
def test_a_classic_group_may_start_with_two_owners_and_nothing_moves(protocol: RebalanceProtocol) -> None:
    found = summary(two_owners({}, {}), protocol)
    assert (found.rebalances, found.moved, found.down_ms) == (0, 0, 0)


@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE, CONSUMER])
def test_an_owner_of_an_earlier_generation_has_been_removed_and_joins_again(protocol: RebalanceProtocol) -> None:
    made = outcome(two_owners({"generation": 5}, {"generation": 3}), protocol)
    assert isinstance(made, Timeline)
    assert [plan.generation for plan in made.plans] == [5, 6]
    assert next((span.state, span.generation) for span in made.spans if span.member == "r") == ("zombie", 3)
    assert sorted(len(part) for part in made.plans[-1].by_member.values()) == [6, 7]
    assert made.unsettled is None


@pytest.mark.parametrize("assignor", names())
def test_a_start_with_two_owners_is_assigned(assignor: str) -> None:
    (start,) = fold(two_owners({}, {}), assignor)
    assert (start.event, start.quality.assigned) == ("initial state", 4)


def test_odd_files_run_everywhere_or_are_refused() -> None:
    """As `make fuzz` does with more of them."""
    began_s = time.process_time()
    tally = run(check, 37, numbers=range(20))
    assert tally.differences == []
    assert tally.cases[NAME] - tally.refused >= 5
    assert time.process_time() - began_s < 120
