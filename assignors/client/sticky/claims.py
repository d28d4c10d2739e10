"""From members to claims: what `sticky` and `cooperative-sticky` read from a subscription, as arrays."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import ABSENT, Claims, Numbers
from assignors.client.sticky import user_data
from assignors.layout import Codes, Layout, PartitionList
from assignors.model import Member, TopicPartition


def of_sticky(members: Sequence[Member], layout: Layout, *, ordered: bool) -> Claims | None:
    """Claims by user data alone. A member without user data counts as one whose user data holds `owned` and
    `generation`. `ordered`: whether the order of claims will matter; then that of user data is followed. None when
    there are no claims.
    """
    if not any(member.user_data or len(member.owned) for member in members):
        return None
    fields = _fields(members)
    read = [None if member.user_data is None else user_data.decode(member.user_data) for member in members]
    lists = [
        claim.partitions if claim is not None else _as_written(member.owned) if ordered else member.owned
        for member, claim in zip(members, read, strict=True)
    ]
    generations = [field if claim is None else claim.generation for field, claim in zip(fields, read, strict=True)]
    return _claims(fields, layout, lists, generations)


def of_cooperative(members: Sequence[Member], layout: Layout) -> Claims | None:
    """Claims by `owned`; the generation from the subscription, else from the user data. None when there are none."""
    if not any(len(member.owned) for member in members):
        return None
    fields = _fields(members)
    generations = [
        field if field != ABSENT or member.user_data is None else user_data.decode_generation(member.user_data)
        for field, member in zip(fields, members, strict=True)
    ]
    return _claims(fields, layout, [member.owned for member in members], generations)


def _fields(members: Sequence[Member]) -> list[int]:
    """The generations in the subscriptions themselves."""
    generations = [member.generation for member in members]
    return [ABSENT if generation is None or generation < 0 else generation for generation in generations]


def _as_written(owned: Sequence[TopicPartition]) -> Sequence[TopicPartition]:
    """The partitions grouped by topic, as they would come out of user data."""
    if isinstance(owned, PartitionList):
        return PartitionList(owned.layout, _codes_as_written(owned.layout, owned.codes))
    groups = user_data.by_topic(owned)
    return [TopicPartition(topic, number) for topic, numbers in groups.items() for number in numbers]


def _codes_as_written(layout: Layout, codes: Codes) -> Codes:
    if not len(codes):
        return codes
    topics = layout.topics_of(codes)
    distinct, first, which = np.unique(topics, return_index=True, return_inverse=True)
    appearing = distinct[np.argsort(first)]
    names = tuple(layout.names[topic] for topic in appearing.tolist())
    written = user_data.written_order(names, bool(first.max() == len(codes) - 1))
    rank = {name: place for place, name in enumerate(written)}
    places = np.array([rank[layout.names[topic]] for topic in distinct.tolist()])
    ordered: Codes = codes[np.argsort(places[which], kind="stable")]
    return ordered


def _claims(
    fields: Sequence[int], layout: Layout, lists: Sequence[Sequence[TopicPartition]], generations: Sequence[int]
) -> Claims:
    codes, lengths, strays = _encode(layout, lists)
    starts = np.zeros(len(fields) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return Claims(codes, starts, np.array(generations, dtype=np.int64), np.array(fields, dtype=np.int64), strays)


def _encode(
    layout: Layout, lists: Sequence[Sequence[TopicPartition]]
) -> tuple[Codes, Sequence[int], tuple[tuple[int, int], ...]]:
    """The concatenated codes of all lists, the length of each, and the pairs of codes beyond the layout."""
    encoded = _known_codes(layout, lists)
    if encoded is not None:
        return np.concatenate([*encoded, np.zeros(0, np.int32)]), [len(codes) for codes in encoded], ()
    topics, numbers, lengths = _locate(layout, lists)
    known = topics >= 0
    if not known.all():
        counts = np.add.reduceat(np.append(known, False).astype(np.int64), _starts(lengths)) * (np.array(lengths) > 0)
        topics, numbers, lengths = topics[known], numbers[known], counts.tolist()
    codes = layout.offsets[topics] + numbers
    inside = (numbers >= 0) & (numbers < layout.counts[topics])
    if inside.all():
        return codes.astype(np.int32), lengths, ()
    pairs: dict[tuple[int, int], int] = {}
    for at in np.flatnonzero(~inside).tolist():
        codes[at] = pairs.setdefault((int(topics[at]), int(numbers[at])), len(layout) + len(pairs))
    return codes.astype(np.int32), lengths, tuple(pairs)


def _known_codes(layout: Layout, lists: Sequence[Sequence[TopicPartition]]) -> list[Codes] | None:
    """The codes that the lists bring along, empty lists none; None when some have others or none."""
    layouts = {id(part.layout): part.layout for part in lists if isinstance(part, PartitionList)}
    if not all(other.is_like(layout) for other in layouts.values()):
        return None
    nothing = np.zeros(0, dtype=np.int32)
    codes = [part.codes if isinstance(part, PartitionList) else nothing for part in lists]
    plain = any(len(part) for part in lists if not isinstance(part, PartitionList))
    return None if plain else codes


def _starts(lengths: Sequence[int]) -> Numbers:
    ends = np.cumsum(np.array(lengths, dtype=np.int64))
    starts: Numbers = ends - lengths
    return starts


def _locate(
    layout: Layout, lists: Sequence[Sequence[TopicPartition]]
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[int]]:
    lengths = [len(part) for part in lists]
    if not any(isinstance(part, PartitionList) for part in lists):
        return *layout.locate(list(chain.from_iterable(lists))), lengths
    located = [layout.locate(part) for part in lists]
    topics, numbers = zip(*located, strict=True)
    return np.concatenate(topics), np.concatenate(numbers), lengths
