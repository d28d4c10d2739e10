"""Which partitions a reset is about: topics by name, by pattern, with partitions, or all with a committed offset."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from assignors.model import TopicPartition
from assignors.spelling import suggestion
from lag.errors import ConfigError
from lag.name_patterns import is_valid, matches
from lag.reset.model import GroupReading

_WITH_PARTITIONS = re.compile(r"(.+):(\d{1,9}(?:,\d{1,9})*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class TopicChoice:
    """A topic and its partitions; None: all of them."""

    topic: str
    partitions: tuple[int, ...] | None = None


def choices(texts: Sequence[str], known: Collection[str]) -> list[TopicChoice]:
    """Each text is a topic, `topic:0,1`, or an RE2 pattern of whole names; `known` are the topics that there are.

    The exact name of a topic is that topic, also if it has dots. Raises ConfigError where nothing matches.
    """
    return [choice for text in texts for choice in _choices(text, known)]


def _choices(text: str, known: Collection[str]) -> Iterator[TopicChoice]:
    found = _WITH_PARTITIONS.fullmatch(text)
    name, numbers = (found[1], tuple(map(int, found[2].split(",")))) if found else (text, None)
    if name in known:
        yield TopicChoice(name, numbers)
        return
    matching = _matching(name, sorted(known))
    if not matching:
        raise ConfigError(
            f"No topic is named {name}, and none matches it as a pattern", suggestion(name, known).strip()
        )
    yield from (TopicChoice(topic, numbers) for topic in matching)


def _matching(pattern: str, names: Sequence[str]) -> list[str]:
    """The names that match as a whole. Raises ConfigError if the pattern is not valid."""
    if not is_valid(pattern):
        raise ConfigError(f"{pattern!r} is neither a topic nor a valid RE2 expression", "Check the pattern")
    return list(compress(names, matches(names, pattern)))


def partitions(
    chosen: Iterable[TopicChoice], all_committed: bool, group: GroupReading, sizes: Mapping[str, int]
) -> list[TopicPartition]:
    """The partitions in order, each once. `sizes` are the numbers of partitions of the topics that there are.

    All topics of a group are the partitions that it has committed, as for `kafka-consumer-groups --all-topics`.
    """
    found = {tp for tp, position in group.positions.items() if position.commit is not None} if all_committed else set()
    for choice in chosen:
        numbers: Iterable[int] = choice.partitions or ()
        if choice.partitions is None:
            numbers = _all_of(choice.topic, group, sizes)
        found |= {TopicPartition(choice.topic, number) for number in numbers}
    return sorted(found)


def _all_of(topic: str, group: GroupReading, sizes: Mapping[str, int]) -> Iterable[int]:
    """All partitions of the topic; if it does not exist, those that are committed."""
    if topic in sizes:
        return range(sizes[topic])
    return [tp.partition for tp, position in group.positions.items() if tp.topic == topic and position.commit]
