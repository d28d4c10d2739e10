from app.whatif_limits import TIMES_FOR_COMMAND, excess
from assignors.model import Member, Topic
from assignors.whatif.events import Event, Restart, Scenario


def of(members: int, partitions: int, events: int) -> Scenario:
    group = tuple(Member(f"m{number}", topics=("t",)) for number in range(members))
    return Scenario(
        "s", "sticky", {"t": Topic("t", partitions)}, group, tuple(Event(at, Restart("m0")) for at in range(events))
    )


def test_idle_members_count_as_well_as_partitions() -> None:
    """Each generation has every member: 10,000 with 500 restarts take 4 GB and minutes, with ten partitions too."""
    assert excess(of(members=10_000, partitions=10, events=500)) == "10 partitions, 10,000 members and 500 events"


def test_many_partitions_are_allowed_with_few_events() -> None:
    assert excess(of(members=1_000, partitions=900_000, events=1)) is None
    assert excess(of(members=1_000, partitions=900_000, events=2)) == "900,000 partitions, 1,000 members and 2 events"


def test_many_members_are_allowed_with_few_events() -> None:
    assert excess(of(members=2_000, partitions=10_000, events=30)) is None


def test_a_command_takes_more_but_not_everything() -> None:
    """It would take minutes and gigabytes, and write nothing before its end."""
    assert excess(of(members=1_000, partitions=100_000, events=100), TIMES_FOR_COMMAND) is None
    assert excess(of(members=1_000, partitions=100_000, events=300), TIMES_FOR_COMMAND) is not None
