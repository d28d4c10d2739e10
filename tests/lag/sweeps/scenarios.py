"""Small groups to sweep."""

from assignors.model import Member, Topic, TopicPartition
from assignors.whatif.events import Loads, Scenario

RATES = {TopicPartition("t", at): float(rate) for at, rate in enumerate((60, 10, 10, 10, 5, 5))}
LAGS = dict.fromkeys(RATES, 600.0)


def member(name: str, owned: tuple[int, ...] = (), rack: str | None = None) -> Member:
    held = tuple(TopicPartition("t", at) for at in owned)
    return Member(name, client_id=name, rack=rack, topics=("t",), owned=held, generation=5 if owned else None)


def orders(assignor: str = "range", racks: tuple[str | None, ...] = (None, None, None)) -> Scenario:
    """Three members with two of six partitions each; the first partition has 60 % of the rate."""
    members = tuple(member(f"c-{at}", (2 * at, 2 * at + 1), rack) for at, rack in enumerate(racks))
    loads = Loads(lag_records=LAGS, produced_per_s=RATES, default_capacity_per_s=100.0)
    return Scenario("orders", assignor, {"t": Topic("t", 6)}, members, loads=loads)


def empty() -> Scenario:
    """A group that nobody is in, on one topic."""
    return Scenario("empty", "range", {"t": Topic("t", 6)}, ())


def shared() -> Scenario:
    """A share group."""
    return Scenario("shared", "share-simple", {"t": Topic("t", 6)}, (member("s-0"), member("s-1")))
