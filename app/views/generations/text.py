"""Sentences on rebalances: time without an owner, and the list of all groups."""

from collections import Counter
from collections.abc import Mapping, Sequence

from app.ui import formats
from app.views.generations.charts import Lanes
from lag.generations.ownership import OwnershipTimeline, WithoutOwner
from lag.generations.recent import Rebalance


def gap(found: WithoutOwner | None) -> str:
    """ "2 partitions had no owner, the longest for at least 400 ms"; why, if it is not known; "" for None."""
    if found is None:
        return ""
    if found.longest_ms is None:
        return f"time without an owner unknown: {found.reason}"
    if not found.partitions:
        return "no partition was without an owner"
    least = "at least " if found.at_least else ""
    lasted = formats.brief(found.longest_ms)
    if found.partitions == 1:
        return f"1 partition had no owner for {least}{lasted}"
    each = found.total_ms == found.longest_ms * found.partitions
    which = "each" if each else "the longest"
    return f"{found.partitions:,} partitions had no owner, {which} for {least}{lasted}"


def short_gap(found: WithoutOwner) -> str | None:
    """For a table: "≥ 400 ms"; None if it is not known."""
    if found.longest_ms is None:
        return None
    return f"{'≥ ' if found.at_least else ''}{formats.brief(found.longest_ms)}" if found.partitions else "none"


def left_out(lanes: Lanes) -> str:
    """How many lanes are not drawn; "" if all are."""
    if not lanes.left_out:
        return ""
    drawn = formats.plural(len(lanes.names), lanes.kind)
    return f"The {drawn} with the most partitions are shown, {lanes.left_out:,} are not."


def total_gap(owned: OwnershipTimeline) -> str:
    """The time without an owner since the oldest generation; "" without partitions."""
    total = owned.without_owner_ms
    if not len(total):
        return ""
    if owned.reason:
        return f"Time without an owner is unknown: {owned.reason}."
    worst = int(total.argmax())
    if not total[worst]:
        return "No partition was without an owner."
    least = "at least " if owned.at_least else ""
    longest = f"{owned.partitions()[worst]}: {least}{formats.brief(int(total[worst]))}"
    every = formats.brief(int(total.sum()))
    return f"Without an owner since the oldest generation: {least}{every} in total, most {longest}."


def fleet_headline(by_group: Mapping[str, int], within: str, is_about: bool = False) -> str:
    """ "23 rebalances of 9 groups in the last hour, most in `checkout` (7)" of the number for each group."""
    if not by_group:
        return f"No rebalance {within}"
    groups = Counter(by_group)
    count = f"{'About ' if is_about else ''}{formats.plural(groups.total(), 'rebalance')}"
    if len(groups) == 1:
        return f"{count} of {formats.code(next(iter(groups)))} {within}"
    (most, times), *_ = groups.most_common(1)
    tail = f", most in {formats.code(most)} ({times:,})" if times > 1 else ""
    return f"{count} of {formats.plural(len(groups), 'group')} {within}{tail}"


def longest_gap(rebalances: Sequence[Rebalance]) -> str:
    """The rebalance whose partitions were longest without an owner; "" if none is known."""
    known = [(one.without_owner.longest_ms, one) for one in rebalances if one.without_owner.longest_ms]
    if not known:
        return ""
    _, one = max(known, key=lambda pair: pair[0])
    return f"Longest without an owner: {formats.code(one.group_id)}, generation {one.number}, {gap(one.without_owner)}"


def fleet_facts(rebalances: Sequence[Rebalance], known_since: str) -> str:
    """The line under the headline: the longest time without an owner, and for how many rebalances it is known.

    `known_since`: before that time only some rebalances are known; "": the whole range is known.
    """
    known = sum(one.without_owner.longest_ms is not None for one in rebalances)
    coverage = f"time without an owner known for {known:,} of {len(rebalances):,}" if rebalances else ""
    complete = f"complete since {known_since}" if known_since else ""
    return formats.joined(longest_gap(rebalances), coverage, complete)


def members(one: Rebalance) -> str:
    """ "3 → 4", or "3" if the number stays."""
    before, after = one.members_before, one.members_after
    return f"{after:,}" if before == after else f"{before:,} → {after:,}"
