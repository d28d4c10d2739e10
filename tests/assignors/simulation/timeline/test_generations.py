"""Timelines as generations, and assignors under other protocols than their own."""

from dataclasses import replace

import pytest

from assignors.model import AssignorError, Member, Topic, TopicPartition
from assignors.scenario import examples, load_scenario
from assignors.simulation.assignor_choice import assignor_for
from assignors.simulation.fold import fold
from assignors.simulation.timeline.generations import generations
from assignors.whatif.events import Join, Scenario
from assignors.whatif.moves import MoveKind
from assignors.whatif.ownership_history import ownership_history
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.assignors.simulation.run.stories import COOPERATIVE, EAGER, members, played, scenario

CONSUMER, SHARE = RebalanceProtocol.CONSUMER, RebalanceProtocol.SHARE


def test_generations_of_a_played_story_are_those_of_the_folded_one() -> None:
    """Member ids get a suffix of chance, but their order by name stays; only times differ."""
    story = scenario(6, members("a", "b"), {31_000: Join(members("c")[0])})
    made, folded = generations(played(story, COOPERATIVE)), fold(story)
    assert [made.number for made in made] == [made.number for made in folded] == [1, 2, 3]
    for one, other in zip(made, folded, strict=True):
        assert {who: sorted(part) for who, part in one.after.by_member.items()} == {
            who: sorted(part) for who, part in other.after.by_member.items()
        }
        assert (one.quality.moved, one.quality.paused) == (other.quality.moved, other.quality.paused)
    assert [made.at_ms > 31_000 for made in made] == [False, True, True]


def test_nothing_moves_in_the_generation_that_was_there_before() -> None:
    owned = tuple(TopicPartition("t", number) for number in range(4))
    group = [replace(members("a")[0], owned=owned, generation=7)]
    first, second = generations(played(scenario(4, group, {31_000: Join(members("b")[0])}), EAGER))
    assert (first.number, first.event, first.before.by_member) == (7, "initial state", first.after.by_member)
    assert [move.kind for move in first.moves] == [MoveKind.KEPT] * 4
    assert (first.quality.moved, second.quality.moved) == (0, 2)


def test_the_charts_table_reads_them() -> None:
    table = ownership_history(generations(played(scenario(4, members("a"), {31_000: Join(members("b")[0])}), EAGER)))
    assert table.owners.shape == (2, 4)
    assert table.members == ("a", "b")


@pytest.mark.parametrize(
    ("name", "protocol", "expected"),
    [
        ("range", EAGER, "range"),
        ("cooperative-sticky", EAGER, "sticky"),
        ("server-range", EAGER, "range"),
        ("uniform", EAGER, "sticky"),
        ("range", COOPERATIVE, "cooperative-sticky"),
        ("range", CONSUMER, "server-range"),
        ("sticky", CONSUMER, "uniform"),
        ("server-range", CONSUMER, "server-range"),
    ],
)
def test_a_member_plans_under_another_protocol(name: str, protocol: RebalanceProtocol, expected: str) -> None:
    assert assignor_for(name, protocol) == expected


def test_share_groups_are_refused() -> None:
    story = Scenario("s", "share-simple", {"t": Topic("t", 1)}, (Member("a", topics=("t",)),))
    with pytest.raises(AssignorError, match="Share groups are not simulated"):
        played(story, EAGER)


@pytest.mark.parametrize("name", sorted(name for name in examples() if not name.endswith("-partitions")))
@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE, CONSUMER])
def test_every_small_example_comes_to_rest(name: str, protocol: RebalanceProtocol) -> None:
    assert played(load_scenario(examples()[name]), protocol).unsettled is None
