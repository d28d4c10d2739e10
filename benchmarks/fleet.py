"""A made-up fleet: groups of many sizes with lag, rates and capacities, some of them badly balanced. Seeded.

python -m benchmarks.fleet 2000 > fleet.jsonl
groupscope sweep --fleet fleet.jsonl --members 1..20 --history PATH
"""

import json
import sys
from collections.abc import Iterator
from random import Random

import assignors
from assignors.model import Group, Member, Topic, TopicPartition
from assignors.scenario.dump import document
from assignors.whatif.events import Loads, Scenario

OWN = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform")
SIZES = (6, 8, 12, 16, 24, 32, 48, 64)
RACKS = ("a", "b", "c")
MOST_MEMBERS = 20


def fleet(groups: int, seed: int = 7) -> Iterator[Scenario]:
    """This many groups, the same for the same seed; 1 to 20 members each, 6 to 192 partitions in 1 to 3 topics."""
    dice = Random(seed)
    for number in range(groups):
        yield _group(f"group-{number:04d}", dice)


def _group(name: str, dice: Random) -> Scenario:
    topics = {
        f"{name}.{letter}": Topic(f"{name}.{letter}", dice.choice(SIZES))
        for letter in "abc"[: dice.choice((1, 1, 2, 3))]
    }
    own, members = dice.choice(OWN), _members(name, topics, dice)
    planned = assignors.get(own).assign(Group(name, members, topics, own)).by_member
    owning = tuple(
        Member(m.member_id, client_id=m.client_id, rack=m.rack, topics=m.topics, owned=tuple(planned[m.member_id]),
               generation=1)
        for m in members
    )  # fmt: skip
    return Scenario(name, own, topics, owning, loads=_loads(topics, len(members), dice))


def _members(name: str, topics: dict[str, Topic], dice: Random) -> tuple[Member, ...]:
    has_racks = dice.random() < 0.5
    return tuple(
        Member(
            f"{name}-{at}", client_id=f"{name}-{at}", rack=RACKS[at % 3] if has_racks else None, topics=tuple(topics)
        )
        for at in range(dice.randint(1, MOST_MEMBERS))
    )


def _loads(topics: dict[str, Topic], members: int, dice: Random) -> Loads:
    """Rates are skewed as keys are; what a member can do is near what an even share would be."""
    partitions = [TopicPartition(topic.name, at) for topic in topics.values() for at in range(topic.partitions)]
    rates = {tp: float(round(dice.lognormvariate(2.0, 0.8), 1)) for tp in partitions}
    lag = {tp: float(dice.randrange(0, 50_000)) for tp in partitions}
    capacity = float(round(sum(rates.values()) / members * dice.uniform(1.2, 4.0), 1))
    return Loads(lag_records=lag, produced_per_s=rates, default_capacity_per_s=capacity)


if __name__ == "__main__":
    for its in fleet(int(sys.argv[1])):
        print(json.dumps(document(its)))
