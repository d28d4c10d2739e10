"""The sticky assignors when subscriptions differ (Kafka: `GeneralAssignmentBuilder`).

Members keep what they own and still want; what is free goes to whoever has fewest; then partitions move from members
with many to members with few until nothing improves. Kafka looks at every partition against every member. Here
topics in which nothing can move are passed over, and the smallest member comes from a heap.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import ABSENT, Claims, GroupArrays, Plan, collected
from assignors.client.sticky.assignment_state import NOBODY, Board, Terms, terms_of
from assignors.client.sticky.balance import Balance
from assignors.client.sticky.claims_resolution import Ownership
from assignors.client.sticky.rack_info import RackView
from assignors.client.sticky.unassigned import fill_by_rack, water_fill
from assignors.layout import Codes

Mask = NDArray[np.bool_]


def assign(arrays: GroupArrays, claims: Claims, owned: Ownership, racks: RackView | None) -> Plan:
    """Keep, deal out, balance. Raises AssignorError where Kafka throws or never returns: stale or wrong claims can do
    that.
    """
    racks = racks if racks is not None and racks.active else None
    terms = terms_of(arrays)
    board, free, revoked = _start(arrays, claims, owned, racks, terms)
    fresh = not board.size.any()
    _deal(arrays, board, free, racks)
    balance = Balance(arrays, board, _topics_of(arrays, claims, board), _previous(arrays, claims, terms), racks)
    balance.run(None if revoked else free, fresh=fresh)
    return _plan(arrays, board)


def _start(
    arrays: GroupArrays, claims: Claims, owned: Ownership, racks: RackView | None, terms: Terms
) -> tuple[Board, Mask, bool]:
    """What members keep; which partitions are free; whether a member had to give up one that exists."""
    rank_of = np.empty(len(arrays.members), dtype=np.int32)
    rank_of[terms.by_rank] = np.arange(len(rank_of))
    keeps = terms.may_own(_topics(arrays, claims)[owned.codes], rank_of[owned.owners])
    if racks is not None:
        keeps &= ~racks.mismatches(owned.codes, owned.owners)
    kept, ranks = owned.codes[keeps], rank_of[owned.owners[keeps]]
    free, twice = _free(arrays, claims, kept, terms)
    total = len(arrays.layout) + len(claims.strays)
    copies = {code: total + number for number, code in enumerate(twice)}
    where = np.full(total + len(copies), NOBODY, dtype=np.int32)
    if copies:
        kept = np.array([copies.get(code, code) for code in kept.tolist()], dtype=np.int32)
    where[kept] = ranks
    size = np.bincount(ranks, minlength=len(rank_of))
    return Board(terms, where, size, kept, copies), free, not keeps.all()


def _topics(arrays: GroupArrays, claims: Claims) -> NDArray[np.int32]:
    """Position of the topic of every code, strays included."""
    strays = np.array([topic for topic, _ in claims.strays], dtype=np.int32)
    return np.concatenate((arrays.layout.topic_table(), strays))


def _topics_of(arrays: GroupArrays, claims: Claims, board: Board) -> NDArray[np.int32]:
    topics = _topics(arrays, claims)
    return np.concatenate((topics, topics[list(board.copies)])) if board.copies else topics


def _free(arrays: GroupArrays, claims: Claims, kept: Codes, terms: Terms) -> tuple[Mask, list[int]]:
    """Which partitions are free, and which of these are kept as well.

    Kafka walks along the sorted list of the kept ones and gets stuck at one that does not exist: all behind it count
    as free again, though their owners keep them.
    """
    known = len(arrays.layout)
    free = np.ones(known, dtype=np.bool_)
    if not claims.strays:
        free[kept] = False
        return free, []
    place = {topic: at for at, topic in enumerate(terms.order)}
    met = [claims.strays[code - known] for code in kept[kept >= known].tolist()]
    stuck = min(((place[topic], number) for topic, number in met), default=(len(place), 0))
    twice = []
    for code in kept[kept < known].tolist():
        topic = int(arrays.layout.topics_of(np.array([code]))[0])
        if (place[topic], code - int(arrays.layout.offsets[topic])) < stuck:
            free[code] = False
        else:
            twice.append(code)
    return free, twice


def _previous(arrays: GroupArrays, claims: Claims, terms: Terms) -> NDArray[np.int32] | None:
    """The last owner (a rank) of each partition in an older generation than the newest; None when nobody has one.

    The highest of these generations counts; of equal ones the first member in the order of the HashMap.
    """
    newest = int(claims.generations.max(initial=ABSENT))
    order = np.array(arrays.map_order())
    stale = order[claims.generations[order] < newest]
    stale = stale[np.diff(claims.starts)[stale] > 0]
    if not len(stale):
        return None
    by_age = stale[np.argsort(-claims.generations[stale], kind="stable")]
    previous = np.full(len(arrays.layout), NOBODY, dtype=np.int32)
    rank_of = np.empty(len(order), dtype=np.int32)
    rank_of[terms.by_rank] = np.arange(len(order))
    for member in by_age[::-1].tolist():
        codes = claims.codes[claims.starts[member] : claims.starts[member + 1]]
        previous[codes[codes < len(previous)]] = rank_of[member]
    return previous


def _deal(arrays: GroupArrays, board: Board, free: Mask, racks: RackView | None) -> None:
    """Give every free partition that somebody subscribes to to the smallest subscriber, in matching racks first."""
    given = [board.sequence]
    if racks is not None:
        given += list(_deal_by_rack(arrays, board, free, racks))
    for topic, codes in _by_topic(arrays, board, free):
        missing = codes[board.where[codes] == NOBODY]
        subscribers = board.terms.subscribers(topic)
        owners = subscribers[water_fill(board.size[subscribers], len(missing))]
        board.where[missing] = owners
        board.size += np.bincount(owners, minlength=len(board.size))
        given.append(missing)
    board.sequence = np.concatenate(given)


def _deal_by_rack(arrays: GroupArrays, board: Board, free: Mask, racks: RackView) -> Iterator[Codes]:
    rack_of = racks.rack_of[board.terms.by_rank].tolist()
    for topic, codes in _by_topic(arrays, board, free):
        subscribers = board.terms.subscribers(topic).tolist()
        owners = np.array(fill_by_rack(subscribers, board.size, racks.set_of[codes].tolist(), racks, rack_of))
        placed = owners != NOBODY
        board.where[codes[placed]] = owners[placed]
        yield codes[placed]


def _by_topic(arrays: GroupArrays, board: Board, free: Mask) -> Iterator[tuple[int, Codes]]:
    """The free partitions of each topic that somebody subscribes to, topics in Kafka's order."""
    offsets = arrays.layout.offsets.tolist()
    for topic in board.terms.order:
        codes = np.flatnonzero(free[offsets[topic] : offsets[topic + 1]]) + offsets[topic]
        if len(codes) and board.terms.claimants[topic]:
            yield topic, codes.astype(np.int32)


def _plan(arrays: GroupArrays, board: Board) -> Plan:
    """Each member's list: what it kept, what it was dealt, what was moved to it and stayed."""
    moved = np.frombuffer(board.log, dtype=np.int32)
    sequence = board.sequence
    if len(moved):
        time = np.full(len(board.where), NOBODY, dtype=np.int64)
        time[moved] = np.arange(len(moved))
        last = np.flatnonzero(time != NOBODY)
        last = last[np.argsort(time[last])]
        sequence = np.concatenate((sequence[time[sequence] == NOBODY], last.astype(np.int32)))
    owners = board.terms.by_rank[board.where[sequence]]
    if board.copies:
        first = len(board.where) - len(board.copies)
        real = np.concatenate((np.arange(first), list(board.copies))).astype(np.int32)
        sequence = real[sequence]
    return collected(sequence, owners, len(arrays.members))
