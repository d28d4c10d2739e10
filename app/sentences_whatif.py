"""Sentences of the What-if and Generations pages."""

from collections.abc import Sequence

import pandas as pd

from app import formats
from app.drafts import everybody, name_of
from app.tables import whatif as tables
from app.tables.whatif import Outcome
from assignors.events import (
    AddPartitions,
    ChangeRack,
    CoordinatorDown,
    Crash,
    CreateTopic,
    DeleteTopic,
    Event,
    Freeze,
    Join,
    Leave,
    Restart,
    Resume,
    Scenario,
    Subscribe,
    UseAssignor,
)

MOST_NAMED = 2


def event(its: Event, scenario: Scenario) -> str:
    """What happens, in Markdown: "`c3` joins"."""
    names = {member.member_id: name_of(member) for member in everybody(scenario)}

    def who(member_id: str) -> str:
        return formats.code(names.get(member_id, member_id))

    match its.action:
        case Join(member=member):
            return f"{formats.code(name_of(member))} joins"
        case Leave(member_id=member_id):
            return f"{who(member_id)} leaves"
        case Crash(member_id=member_id):
            return f"{who(member_id)} crashes"
        case Freeze(member_id=member_id):
            return f"{who(member_id)} stops polling"
        case Resume(member_id=member_id):
            return f"{who(member_id)} polls again"
        case Restart(member_id=member_id):
            return f"{who(member_id)} restarts"
        case Subscribe(member_id=member_id, topics=topics):
            return f"{who(member_id)} subscribes to {_few([formats.code(t) for t in topics]) or 'nothing'}"
        case ChangeRack(member_id=member_id, rack=rack):
            return f"{who(member_id)} moves to {'an unknown rack' if rack is None else 'rack ' + formats.code(rack)}"
        case AddPartitions(topic=topic, partitions=partitions):
            return f"{formats.code(topic)} grows to {formats.plural(partitions, 'partition')}"
        case CreateTopic(topic=topic):
            return f"{formats.code(topic.name)} is created with {formats.plural(topic.partitions, 'partition')}"
        case DeleteTopic(topic=topic):
            return f"{formats.code(topic)} is deleted"
        case UseAssignor(assignor=assignor):
            return f"the assignor becomes {formats.code(assignor)}"
        case CoordinatorDown():
            return "the coordinator is lost"
        case _:
            return "the coordinator is back"


def _few(items: Sequence[str], most: int = 3) -> str:
    return ", ".join(items[:most]) + (f" and {len(items) - most:,} more" if len(items) > most else "")


def conclusion(outcome: Outcome, scenario: Scenario) -> str:
    """What the chosen assignor makes of it, in one sentence (Markdown)."""
    if outcome.error is not None:
        return f"{formats.code(tables.short(outcome.assignor))} cannot plan this group"
    first, last = outcome.generations[0].quality, outcome.generations[-1].quality
    members = formats.plural(last.members, "member")
    if len(outcome.generations) == 1:
        each = f"{tables.each(first)} each" if last.members else "nobody reads"
        return f"{formats.plural(first.partitions, 'partition')} on {members}, {each}: add an event to see what moves"
    moved = outcome.moved()
    said = [
        f"{_happening(scenario)}: {_moves(moved, outcome.rebalances(), last.partitions)}",
        f"{formats.plural(len(last.idle_members), 'member')} idle" if last.idle_members else "nobody idles",
    ]
    if last.unassigned:
        said.append(f"{formats.count(last.unassigned)} without an owner")
    if (drained := _drained(outcome)) is not None:
        said.append(drained)
    return ", ".join(said)


def _moves(moved: int, rebalances: int, partitions: int) -> str:
    among = formats.plural(partitions, "partition")
    if not moved:
        return f"none of {among} moves"
    if moved <= partitions:
        return f"{moved:,} of {among} {'moves' if moved == 1 else 'move'}"
    return f"{moved:,} moves among {among} in {formats.plural(rebalances, 'rebalance')}"


def _happening(scenario: Scenario) -> str:
    events = scenario.events
    if not events:
        return "The assignor changes"
    said = [event(its, scenario) for its in events[:MOST_NAMED]]
    more = f" and {formats.plural(len(events) - MOST_NAMED, 'more event')}" if len(events) > MOST_NAMED else ""
    text = ", ".join(said) + more
    return text[:1].upper() + text[1:]


def _drained(outcome: Outcome) -> str | None:
    before, after = outcome.generations[0].quality, outcome.generations[-1].quality
    now, then = tables.drains(before), tables.drains(after)
    if then is None:
        return None
    said = "the lag never drains" if tables.is_never(after.drain.seconds) else f"the lag drains in {then}"
    said = "there is no lag" if then == "now" else said
    return f"{said} (before: {now})" if now is not None and now != then else said


def table(frame: pd.DataFrame) -> str:
    """What the comparison finds, for who cannot see it."""
    able = frame[frame["moved"].notna()]
    if able.empty:
        return "No assignor can plan this group"
    best = able.loc[able["moved"].astype(int).idxmin()]
    compared = formats.plural(len(frame), "assignor")
    return f"{compared} compared; {best['assignor']} moves fewest partitions, {best['moved']}"
