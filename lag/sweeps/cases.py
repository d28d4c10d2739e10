"""A case as a scenario: the group as it is, the members that come or go, and what fails. What-if opens the same."""

import math
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import cycle, islice
from random import Random

from assignors.model import AssignorError, Member
from assignors.whatif.events import Action, CoordinatorDown, CoordinatorUp, Crash, Event, Join, Leave, Restart, Scenario
from assignors.whatif.suggested_joins import suggested_joins, usual_topics
from lag.sweeps.plan import Failure

SCALES_MS, FAILS_MS, RESTART_EVERY_MS = 30_000, 60_000, 60_000
TOGETHER = "Members that come, go or fail together do so in one rebalance, as while the coordinator is away."


def staged(base: Scenario, members: int, failure: Failure) -> Scenario:
    """The group with that many members, and the failure. The last ones leave, suggested_joins want what most want.

    Who fails is drawn by lot from the case itself: it is the same for every assignor and in every run. Raises
    AssignorError when the failure cannot happen to the group.
    """
    scale = _scaled(base, members)
    there = [*base.members[:members], *(action.member for action in scale if isinstance(action, Join))]
    fails = _failing(there, failure, Random(_seed(base.name, members, failure)))
    together = failure is not Failure.RESTART
    events = (*_at(SCALES_MS, scale, True), *_at(FAILS_MS, fails, together))
    return replace(base, events=events, description=_description(members, failure, len(events) > len(scale + fails)))


def _scaled(base: Scenario, members: int) -> list[Action]:
    there = len(base.members)
    if members <= there:
        return [Leave(member.member_id) for member in base.members[members:]]
    topics = usual_topics(base.members) or tuple(base.topics)
    joins = suggested_joins(base, members - there, topics, None)
    racks = sorted({member.rack for member in base.members if member.rack})
    return [_in_rack(join, rack) for join, rack in zip(joins, islice(cycle(racks or [None]), len(joins)), strict=True)]


def _in_rack(join: Join, rack: str | None) -> Join:
    return replace(join, member=replace(join.member, rack=rack))


def _failing(there: Sequence[Member], failure: Failure, dice: Random) -> list[Action]:
    names = [member.member_id for member in there]
    match failure:
        case Failure.CRASH:
            return [Crash(dice.choice(names))]
        case Failure.THIRD:
            return [Crash(name) for name in sorted(dice.sample(names, math.ceil(len(names) / 3)))]
        case Failure.RACK:
            gone = dice.choice(_racks(there))
            return [Crash(member.member_id) for member in there if member.rack == gone]
        case Failure.RESTART:
            return [Restart(name) for name in names]
    return []


def _racks(there: Sequence[Member]) -> list[str]:
    racks = sorted({member.rack for member in there if member.rack})
    if len(racks) < 2:
        raise AssignorError("No rack can fail: " + ("all members are in one." if racks else "no member tells its own."))
    return racks


def _at(at_ms: int, actions: Sequence[Action], together: bool) -> list[Event]:
    if together and len(actions) > 1:
        return [Event(at_ms, action) for action in (CoordinatorDown(), *actions, CoordinatorUp())]
    return [Event(at_ms + RESTART_EVERY_MS * number, action) for number, action in enumerate(actions)]


def _seed(*parts: object) -> int:
    return int.from_bytes(sha256(repr(tuple(map(str, parts))).encode(errors="surrogatepass")).digest()[:8], "big")


_WORDS = {
    Failure.NONE: "nothing fails",
    Failure.CRASH: "one member crashes",
    Failure.THIRD: "a third of the members crashes",
    Failure.RACK: "the members of one rack crash",
    Failure.RESTART: "every member restarts in turn",
}


def _description(members: int, failure: Failure, together: bool) -> str:
    said = f"A case of a sweep: {members:,} {'member' if members == 1 else 'members'}, {_WORDS[failure]}."
    return f"{said} {TOGETHER}" if together else said
