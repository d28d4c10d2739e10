"""Sentences of the What-if and Generations pages."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

import pandas as pd

from app.ui import formats
from app.ui.charts.base import clip
from app.ui.groups.member_names import MAX_NAME_LENGTH, member_names
from app.ui.movement.tables import short
from app.ui.scenario import draft
from app.views.whatif import tables
from assignors.javahash import NEWEST_RULE_JDK
from assignors.whatif.comparison import Outcome
from assignors.whatif.drain import Drain
from assignors.whatif.events import (
    Action,
    Crash,
    CreateTopic,
    Event,
    Join,
    Leave,
    Restart,
    Scenario,
    Wording,
)
from assignors.whatif.quality import Quality
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of
from assignors.whatif.recommendation import Change, Difference, Measure, Recommendation

MOST_NAMED = 2


class _Markdown(Wording):
    """Names as code, members by the names that the page shows."""

    def __init__(self, scenario: Scenario) -> None:
        self._names = member_names(scenario.members_ever())

    def member(self, member_id: str) -> str:
        return _id(self._names.get(member_id, member_id))

    def name(self, text: str) -> str:
        return _id(text)

    def duration(self, ms: int) -> str:
        return formats.duration(ms / 1000)


def event(its: Event, scenario: Scenario) -> str:
    """What happens, in Markdown: "`c3` joins"."""
    return its.action.sentence(_Markdown(scenario))


def _id(name: str) -> str:
    return formats.code(clip(name, MAX_NAME_LENGTH))


def conclusion(outcome: Outcome, scenario: Scenario) -> str:
    """The result of the chosen assignor, in one sentence (Markdown)."""
    if outcome.error is not None:
        return f"{formats.code(short(outcome.assignor))} cannot compute an assignment"
    first, last = outcome.generations[0].quality, outcome.generations[-1].quality
    if len(outcome.generations) == 1:
        return _nothing_moves(first, scenario, outcome.assignor)
    partitions = max(first.partitions, last.partitions)
    parts = [f"{_happening(scenario, outcome.assignor)}: {_moves(outcome, partitions)}", _idle(last)]
    if last.unassigned:
        parts.append(f"{formats.count(last.unassigned)} without an owner")
    if (drained := _drained(outcome, member_names(scenario.members_ever()))) is not None:
        parts.append(drained)
    return ", ".join(parts)


def _nothing_moves(quality: Quality, scenario: Scenario, assignor: str) -> str:
    if scenario.events:
        return f"{_happening(scenario, assignor)}: no rebalance"
    if not quality.members:
        return "This group has no members: add one to see its partitions"
    members = formats.plural(quality.members, "member")
    each = f", {tables.each(quality)} each" if quality.members > 1 else ""
    return f"{formats.plural(quality.partitions, 'partition')} on {members}{each}: add an event to see what moves"


def _idle(quality: Quality) -> str:
    if not quality.members:
        return "no members left"
    return f"{formats.plural(len(quality.idle_members), 'member')} idle" if quality.idle_members else "no idle members"


def _moves(outcome: Outcome, partitions: int) -> str:
    """ "3 of 6 partitions move", with the number of moves where a partition moves several times."""
    moves, moved, among = outcome.moved(), outcome.moved_partitions(), formats.plural(partitions, "partition")
    if not moves:
        return f"none of {among} move"
    some = f"{moved:,} of {among} {'moves' if moved == 1 else 'move'}"
    return some if moves == moved else f"{some}, {moves:,} moves in {formats.plural(outcome.rebalances(), 'rebalance')}"


def _happening(scenario: Scenario, assignor: str) -> str:
    name = formats.code(short(assignor))
    if not scenario.events:
        return f"The assignor changes to {name}"
    runs = _runs(_without_brackets(scenario.events))
    happenings = [_run(run, scenario) for run in runs[:MOST_NAMED]]
    more = sum(map(len, runs[MOST_NAMED:]))
    text = ", ".join(happenings) + (f" and {formats.plural(more, 'more event')}" if more else "")
    under = f", with {name}" if assignor != scenario.assignor else ""
    return text[:1].upper() + text[1:] + under


def _without_brackets(events: Sequence[Event]) -> Sequence[Event]:
    """Without a coordinator that fails and returns at the same moment: it only groups the events in between."""
    ends = draft.brackets(events)
    return [event for at, event in enumerate(events) if at not in ends] or events


def _runs(events: Sequence[Event]) -> list[list[Event]]:
    """Runs of events to summarize: each event on its own if they are few, else neighbours of one kind."""
    if len(events) <= MOST_NAMED:
        return [[its] for its in events]
    return [list(run) for _, run in groupby(events, lambda its: _TOGETHER.get(type(its.action), id(its)))]


_TOGETHER: Mapping[type[Action], str] = {Join: "join", Leave: "leave", Crash: "crash", Restart: "restart"}


def _run(run: Sequence[Event], scenario: Scenario) -> str:
    """What several members do, or what happens."""
    if len(run) == 1:
        return event(run[0], scenario)
    return f"{len(run):,} members {_TOGETHER[type(run[0].action)]}"


def _drained(outcome: Outcome, names: Mapping[str, str]) -> str | None:
    before, after = outcome.generations[0].quality, outcome.generations[-1].quality
    now, then = tables.drains(before), tables.drains(after)
    if then is None:
        return None
    result = "there is no lag" if then == "now" else f"the lag drains in {then}"
    if after.drain.seconds == math.inf:
        result = f"the lag never drains: {_why_never(after.drain, names)}"
    return f"{result} (before: {now})" if now is not None and now != then else result


def _why_never(drain: Drain, names: Mapping[str, str]) -> str:
    if drain.member is None:
        return formats.md(drain.reason or "")
    others = f" and {formats.plural(drain.others, 'other member')} together" if drain.others else ""
    return f"{_id(names.get(drain.member, drain.member))}{others} cannot keep up"


def recommended(found: Recommendation, own: str) -> str:
    """Which assignor to choose, with the reasons (Markdown): "Change to `sticky`: 2 moves instead of 3"."""
    name, other = formats.code(short(found.assignor)), formats.code(short(found.other))
    change = f"**Change to {name}**"
    if found.assignor == own:
        change = f"**Keep {name}** rather than change to {other}"
    gains, costs = (", ".join(map(_difference, side)) for side in (found.gains, found.costs))
    if not gains and not costs:
        return f"**Keep {name}**: no other is better" if found.assignor == own else f"{change}: {other} has no result"
    but = f"; but {costs}" if gains and costs else costs
    return f"{change}: {gains}{but}{'' if found.change is None else _once(found.change)}"


def _once(its: Change) -> str:
    moves, paused = formats.plural(its.moves, "move"), formats.plural(its.paused, "partition")
    return f". The change itself, once: {moves}, {paused} paused"


RECOMMENDED_BY = (
    "The assignors that a group of this type can use are compared. Lasting effects count first: partitions without an "
    "owner, idle members, drain time, how evenly partitions are spread; then what the events cost: paused partitions, "
    "moves and rebalances. What changing the assignor costs once is named apart."
)


def _difference(its: Difference) -> str:
    """ "3 moves instead of 8"."""
    if its.measure is Measure.DRAIN:
        then = "never drains" if its.value == math.inf else f"drains in {formats.duration(its.value)}"
        return f"the lag {then} (otherwise {'never' if its.other == math.inf else formats.duration(its.other)})"
    one, many = _MEASURED[its.measure]
    return f"{formats.plural(int(its.value), one, many)} instead of {its.other:,.0f}"


_MEASURED = {
    Measure.UNASSIGNED: ("partition without an owner", "partitions without an owner"),
    Measure.IDLE: ("idle member", "idle members"),
    Measure.SPREAD: (
        "partition between the fullest and the emptiest member",
        "partitions between the fullest and the emptiest member",
    ),
    Measure.SPLIT: ("partition number not co-partitioned", "partition numbers not co-partitioned"),
    Measure.OTHER_RACK: ("partition in another rack", "partitions in another rack"),
    Measure.PAUSED: ("partition paused", "partitions paused"),
    Measure.MOVES: ("move", "moves"),
    Measure.REBALANCES: ("rebalance", "rebalances"),
}
"""Measure -> what it counts, one and many."""


def table(frame: pd.DataFrame) -> str:
    """The finding of the comparison, as an alternative text."""
    able = frame[frame["moved"].notna()]
    if able.empty:
        return "No assignor can compute an assignment"
    best = able.loc[able["moved"].astype(int).idxmin()]
    compared = formats.plural(len(frame), "assignor")
    return f"{compared} compared; {best['assignor']} needs the fewest moves: {int(best['moved']):,}"


def still_planning(awaited: Sequence[str], for_s: int) -> str:
    """Which assignors have not answered yet (Markdown)."""
    names = formats.few([formats.code(short(name)) for name in awaited], 8)
    verb = "is" if len(awaited) == 1 else "are"
    return f":small[:gray[:material/hourglass_top: {names} {verb} running, {for_s} s]]"


def under_the_table(outcomes: Sequence[Outcome]) -> list[str]:
    """Which assignors have no result and why, each reason once; and why drain times are unknown (Markdown)."""
    failed: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.error is not None:
            failed.setdefault(outcome.error, []).append(formats.code(short(outcome.assignor)))
    problems = []
    for error, names in failed.items():
        cannot = "No assignor can" if len(names) == len(outcomes) else f"{formats.few(names, 8)} cannot"
        problems.append(f":red[:material/error: {cannot} compute an assignment:] {formats.md(error)}")
    return [*problems, *_unknown_drains(outcomes)]


def on_a_broker(outcomes: Sequence[Outcome], scenario: Scenario) -> str:
    """What else the results of the broker's assignors depend on; "" where none is shown (Markdown)."""
    theirs = [o.assignor for o in outcomes if protocol_of(o.assignor) in _BROKERS]
    if not theirs:
        return ""
    names = formats.few([formats.code(name) for name in theirs], 3)
    java = (
        f"A broker on a Java version older than {NEWEST_RULE_JDK} can give a different result (different hash order)."
    )
    return f"{names}: {_topic_ids(scenario)}. {java}"


_BROKERS = (RebalanceProtocol.CONSUMER, RebalanceProtocol.SHARE)
"""The protocols in which the broker computes the assignment."""


def _topic_ids(scenario: Scenario) -> str:
    created = [its.action.topic for its in scenario.events if isinstance(its.action, CreateTopic)]
    topics = [*scenario.topics.values(), *created]
    unknown = sum(topic.topic_id is None for topic in topics)
    if not unknown:
        return "computed with the topics' ids"
    verb = "is" if unknown == 1 else "are"
    which = f"{unknown:,} of {len(topics):,} topic ids {verb}" if unknown < len(topics) else "the topic ids are"
    return f"{which} unknown and derived from the topic names; on a real cluster, the result can be different"


def _unknown_drains(outcomes: Sequence[Outcome]) -> list[str]:
    """The first reason; none where no lag is known."""
    unknown = [
        o.last.drain for o in outcomes if o.last and o.last.drain.seconds is None and "lag_records" in o.last.skews
    ]
    return [f"Drain time unknown: {formats.md(unknown[0].reason or '')}."] if unknown else []
