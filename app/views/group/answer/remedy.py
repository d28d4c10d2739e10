"""The change that a hint asks for as a what-if, and what it would do to the group."""

from dataclasses import dataclass

from app.ui import formats
from app.ui.scenario.draft import MOST_AT_ONCE, Draft
from app.views.group.view import GroupView
from assignors.whatif.comparison import Outcome
from assignors.whatif.drain import Drain
from assignors.whatif.events import Action, Restart, Scenario
from assignors.whatif.suggested_joins import suggested_joins, usual_topics
from lag.verdict.hints import Hint, Remedy, places

HEADROOM = 1.1
"""The capacity that is suggested, over what is produced: the rest drains the backlog."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the group: `condition` is an English clause, `actions` are the events of the what-if."""

    condition: str
    actions: tuple[Action, ...]


def change(hint: Hint | None, view: GroupView, draft: Draft) -> Change | None:
    """The change that the hint asks for; None where a what-if cannot show it."""
    scenario = draft.scenario
    match hint:
        case Hint(remedy=Remedy.RESTART_MEMBER, member_id=str(member)):
            return Change(f"{view.names.get(member, member)} restarts", (Restart(member),))
        case Hint(remedy=Remedy.ADD_MEMBERS):
            most = places(view.group.assignor, (row.tp.topic for row in view.lags))
            return _more_members(scenario, _missing(scenario, most))
    return None


def _missing(scenario: Scenario, members_with_partitions: int) -> int:
    """How many more members process what is produced and the backlog: at least 1, and no more than get a partition."""
    loads, members = scenario.loads, len(scenario.members)
    capacity, produced = loads.default_capacity_per_s, sum(loads.produced_per_s.values())
    needed = int(HEADROOM * produced / capacity) + 1 - members if capacity else 1
    return max(1, min(needed, MOST_AT_ONCE, members_with_partitions - members))


def _more_members(scenario: Scenario, count: int) -> Change:
    joins = suggested_joins(scenario, count, usual_topics(scenario.members), None)
    return Change(f"{formats.plural(count, 'member')} {'joins' if count == 1 else 'join'}", tuple(joins))


def effect(outcome: Outcome) -> str:
    """What the change does, with the drain time before and after; why it is unknown if the outcome has an error."""
    last = outcome.last
    if last is None:
        return f"unknown: {outcome.error}"
    moved = outcome.moved_partitions()
    parts = [
        f"{moved:,} of {formats.plural(last.partitions, 'partition')} {'moves' if moved == 1 else 'move'}",
        f"{outcome.paused():,} paused",
        f"{formats.plural(len(last.idle_members), 'idle member')}",
        _drains(outcome.generations[0].quality.drain, last.drain),
    ]
    return ", ".join(parts)


def _drains(before: Drain, after: Drain) -> str:
    then, now = _drain(before), _drain(after)
    why = f" ({after.reason})" if after.seconds is None and after.reason else ""
    return f"drain time {now if then == now else f'{then} → {now}'}{why}"


def _drain(drain: Drain) -> str:
    return "unknown" if drain.seconds is None else formats.duration(drain.seconds)
