"""The sticky assignors when subscriptions differ (Kafka: `GeneralAssignmentBuilder`).

Members keep what they own and still subscribe to; unassigned partitions go to the member with fewest; then partitions
move until nothing improves.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import ABSENT, Claims, GroupArrays, Plan, collected
from assignors.client.sticky.assignment_state import (
    NO_MEMBER,
    AssignmentState,
    Subscriptions,
    subscriptions_of,
)
from assignors.client.sticky.balance import Balance
from assignors.client.sticky.claims_resolution import Ownership
from assignors.client.sticky.rack_info import RackView
from assignors.client.sticky.unassigned import smallest_first, smallest_in_rack_first
from assignors.layout import Codes

Mask = NDArray[np.bool_]


def assign(arrays: GroupArrays, claims: Claims, owned: Ownership, racks: RackView | None) -> Plan:
    """Keep, assign, balance. Raises AssignorError where Kafka throws or never returns, which wrong claims can cause."""
    racks = racks if racks is not None and racks.active else None
    subscriptions = subscriptions_of(arrays)
    state, unassigned, revoked = _start(arrays, claims, owned, racks, subscriptions)
    fresh = not state.counts.any()
    _assign_unassigned(arrays, state, unassigned, racks)
    topic_of = _topic_of(arrays, claims, state)
    balance = Balance(arrays, state, topic_of, _previous_owners(arrays, claims, subscriptions), racks)
    balance.run(None if revoked else unassigned, fresh=fresh)
    return _plan(arrays, state)


def _start(
    arrays: GroupArrays, claims: Claims, owned: Ownership, racks: RackView | None, subscriptions: Subscriptions
) -> tuple[AssignmentState, Mask, bool]:
    """What members keep; which partitions are unassigned; whether a member gives up one that exists."""
    rank_of = np.empty(len(arrays.members), dtype=np.int32)
    rank_of[subscriptions.by_rank] = np.arange(len(rank_of))
    keeps = subscriptions.are_subscribed(_claimed_topics(arrays, claims)[owned.codes], rank_of[owned.owners])
    if racks is not None:
        keeps &= ~racks.mismatches(owned.codes, owned.owners)
    kept, ranks = owned.codes[keeps], rank_of[owned.owners[keeps]]
    unassigned, twice = _unassigned(arrays, claims, kept, subscriptions)
    total = len(arrays.layout) + len(claims.strays)
    duplicates = {code: total + number for number, code in enumerate(twice)}
    owner_of = np.full(total + len(duplicates), NO_MEMBER, dtype=np.int32)
    if duplicates:
        kept = np.array([duplicates.get(code, code) for code in kept.tolist()], dtype=np.int32)
    owner_of[kept] = ranks
    counts = np.bincount(ranks, minlength=len(rank_of))
    return AssignmentState(subscriptions, owner_of, counts, kept, duplicates), unassigned, not keeps.all()


def _claimed_topics(arrays: GroupArrays, claims: Claims) -> NDArray[np.int32]:
    """int32[n_codes]: the topic of every code, with those of claimed partitions that do not exist."""
    strays = np.array([topic for topic, _ in claims.strays], dtype=np.int32)
    return np.concatenate((arrays.layout.topic_table(), strays))


def _topic_of(arrays: GroupArrays, claims: Claims, state: AssignmentState) -> NDArray[np.int32]:
    topics = _claimed_topics(arrays, claims)
    return np.concatenate((topics, topics[list(state.duplicates)])) if state.duplicates else topics


def _unassigned(
    arrays: GroupArrays, claims: Claims, kept: Codes, subscriptions: Subscriptions
) -> tuple[Mask, list[int]]:
    """Which partitions are unassigned, and which of these are kept as well.

    Kafka iterates over the sorted list of the kept partitions and stops at one that does not exist: all behind it count
    as unassigned, though their owners keep them.
    """
    known = len(arrays.layout)
    unassigned = np.ones(known, dtype=np.bool_)
    if not claims.strays:
        unassigned[kept] = False
        return unassigned, []
    place = {topic: at for at, topic in enumerate(subscriptions.sorted_topics)}
    met = [claims.strays[code - known] for code in kept[kept >= known].tolist()]
    stop = min(((place[topic], number) for topic, number in met), default=(len(place), 0))
    twice = []
    for code in kept[kept < known].tolist():
        topic = int(arrays.layout.topics_of(np.array([code]))[0])
        if (place[topic], code - int(arrays.layout.offsets[topic])) < stop:
            unassigned[code] = False
        else:
            twice.append(code)
    return unassigned, twice


def _previous_owners(arrays: GroupArrays, claims: Claims, subscriptions: Subscriptions) -> NDArray[np.int32] | None:
    """int32[n_partitions]: the rank that last owned each partition before the newest generation; None without any.

    The highest of these generations counts; of equal ones the first member in the order of the HashMap.
    """
    newest = int(claims.generations.max(initial=ABSENT))
    order = np.array(arrays.map_order())
    older = order[claims.generations[order] < newest]
    older = older[np.diff(claims.starts)[older] > 0]
    if not len(older):
        return None
    by_age = older[np.argsort(-claims.generations[older], kind="stable")]
    previous = np.full(len(arrays.layout), NO_MEMBER, dtype=np.int32)
    rank_of = np.empty(len(order), dtype=np.int32)
    rank_of[subscriptions.by_rank] = np.arange(len(order))
    for member in by_age[::-1].tolist():
        codes = claims.codes[claims.starts[member] : claims.starts[member + 1]]
        previous[codes[codes < len(previous)]] = rank_of[member]
    return previous


def _assign_unassigned(arrays: GroupArrays, state: AssignmentState, unassigned: Mask, racks: RackView | None) -> None:
    """Assign every partition that has subscribers to the one with fewest, in matching racks first."""
    given = [state.assigned]
    if racks is not None:
        given += list(_assign_by_rack(arrays, state, unassigned, racks))
    for topic, codes in _by_topic(arrays, state, unassigned):
        missing = codes[state.owner_of[codes] == NO_MEMBER]
        subscribers = state.subscriptions.subscribers(topic)
        owners = subscribers[smallest_first(state.counts[subscribers], len(missing))]
        state.owner_of[missing] = owners
        state.counts += np.bincount(owners, minlength=len(state.counts))
        given.append(missing)
    state.assigned = np.concatenate(given)


def _assign_by_rack(arrays: GroupArrays, state: AssignmentState, unassigned: Mask, racks: RackView) -> Iterator[Codes]:
    rack_of = racks.rack_of[state.subscriptions.by_rank].tolist()
    for topic, codes in _by_topic(arrays, state, unassigned):
        subscribers = state.subscriptions.subscribers(topic).tolist()
        sets = racks.set_of[codes].tolist()
        owners = np.array(smallest_in_rack_first(subscribers, state.counts, sets, racks, rack_of))
        placed = owners != NO_MEMBER
        state.owner_of[codes[placed]] = owners[placed]
        yield codes[placed]


def _by_topic(arrays: GroupArrays, state: AssignmentState, unassigned: Mask) -> Iterator[tuple[int, Codes]]:
    """The unassigned partitions of each topic that has subscribers, topics in Kafka's order."""
    offsets = arrays.layout.offsets.tolist()
    for topic in state.subscriptions.sorted_topics:
        codes = np.flatnonzero(unassigned[offsets[topic] : offsets[topic + 1]]) + offsets[topic]
        if len(codes) and state.subscriptions.subscriber_counts[topic]:
            yield topic, codes.astype(np.int32)


def _plan(arrays: GroupArrays, state: AssignmentState) -> Plan:
    """Each member's list: what it kept, what it was assigned, what moved to it and stayed."""
    moved = np.frombuffer(state.moved, dtype=np.int32)
    codes = state.assigned
    if len(moved):
        time = np.full(len(state.owner_of), -1, dtype=np.int64)
        time[moved] = np.arange(len(moved))
        last = np.flatnonzero(time >= 0)
        last = last[np.argsort(time[last])]
        codes = np.concatenate((codes[time[codes] < 0], last.astype(np.int32)))
    owners = state.subscriptions.by_rank[state.owner_of[codes]]
    if state.duplicates:
        first = len(state.owner_of) - len(state.duplicates)
        partition_of = np.concatenate((np.arange(first), list(state.duplicates))).astype(np.int32)
        codes = partition_of[codes]
    return collected(codes, owners, len(arrays.members))
