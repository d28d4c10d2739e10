"""The rules that hold both at the beginning of a scenario and in its events."""

from collections.abc import Collection, Sequence

from assignors import registry
from assignors.patterns import matching
from assignors.scenario.collected import Findings
from assignors.scenario.problems import Path, nearest, shown
from assignors.scenario.schema import TopicFile


def check_assignor(name: str, path: Path, found: Findings) -> None:
    """Names only: what a file names as `module:Class` is never loaded."""
    if ":" in name:
        found.error(path, "A file cannot name a plugin, which runs as code. Give it as --plugin, or install it.")
    elif name not in registry.names():
        found.error(path, f"No assignor is named {shown(name)!r}.{nearest(name, registry.names())}")


def check_racks(topic: TopicFile, path: Path, found: Findings) -> None:
    """One list of racks for each partition."""
    if topic.racks is not None and len(topic.racks) != topic.partitions:
        found.error(
            (*path, "racks"),
            f"There are racks for {len(topic.racks):,} partitions, but {topic.name} has {topic.partitions:,}. "
            "Give one list for each.",
        )


def check_pattern(pattern: str | None, path: Path, known: Collection[str], found: Findings) -> None:
    """A pattern may wait for its topics; one that no topic of the scenario ever matches may be a typing error."""
    if pattern is not None and found.may_warn and not matching(pattern, known):
        found.warn(path, f"No topic ever matches {shown(pattern)!r}: it gets nothing.")


def check_subscription(topics: Sequence[str], path: Path, known: Collection[str], found: Findings) -> None:
    """Kafka lets a member subscribe to what does not exist; it may be a typing error."""
    for number, topic in enumerate(topics):
        if topic not in known and found.may_warn:
            found.warn(
                (*path, number), f"No topic is ever named {shown(topic)!r}: it gets nothing.{nearest(topic, known)}"
            )
