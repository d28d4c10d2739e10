"""A case as a scenario: the present group, then members join or leave, then the failure. What if opens the same."""

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

SCALE_AT_MS, FAIL_AT_MS, RESTART_EVERY_MS = 30_000, 600_000, 60_000
TOGETHER = "Changes at the same time happen in one rebalance, because the coordinator is down meanwhile."


def case_scenario(base: Scenario, members: int, failure: Failure) -> Scenario:
    """The scenario of a group with that many members and the failure.

    The last members leave; new ones subscribe to what most subscribe to. Who fails is random with a seed from group,
    members and failure, so it is the same for every assignor and in every run. Raises AssignorError if the failure is
    impossible.
    """
    scale = _scaled(base, members)
    present = [*base.members[:members], *(action.member for action in scale if isinstance(action, Join))]
    fails = _failing(present, failure, Random(_seed(base.name, members, failure)))
    together = failure is not Failure.RESTART
    events = (*_at(SCALE_AT_MS, scale, True), *_at(FAIL_AT_MS, fails, together))
    return replace(base, events=events, description=_description(members, failure, len(events) > len(scale + fails)))


def _scaled(base: Scenario, members: int) -> list[Action]:
    now = len(base.members)
    if members <= now:
        return [Leave(member.member_id) for member in base.members[members:]]
    topics = usual_topics(base.members) or tuple(base.topics)
    joins = suggested_joins(base, members - now, topics, None)
    racks = sorted({member.rack for member in base.members if member.rack})
    return [_in_rack(join, rack) for join, rack in zip(joins, islice(cycle(racks or [None]), len(joins)), strict=True)]


def _in_rack(join: Join, rack: str | None) -> Join:
    return replace(join, member=replace(join.member, rack=rack))


def _failing(members: Sequence[Member], failure: Failure, random: Random) -> list[Action]:
    names = [member.member_id for member in members]
    match failure:
        case Failure.CRASH:
            return [Crash(random.choice(names))]
        case Failure.THIRD:
            return [Crash(name) for name in sorted(random.sample(names, math.ceil(len(names) / 3)))]
        case Failure.RACK:
            gone = random.choice(_racks(members))
            return [Crash(member.member_id) for member in members if member.rack == gone]
        case Failure.RESTART:
            return [Restart(name) for name in names]
    return []


def _racks(members: Sequence[Member]) -> list[str]:
    racks = sorted({member.rack for member in members if member.rack})
    if len(racks) < 2:
        raise AssignorError("No rack can fail: " + ("all members are in one." if racks else "no member has one."))
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
    Failure.THIRD: "a third of the members crash",
    Failure.RACK: "the members of one rack crash",
    Failure.RESTART: "every member restarts, one after the other",
}


def _description(members: int, failure: Failure, together: bool) -> str:
    text = f"A case of a sweep: {members:,} {'member' if members == 1 else 'members'}, {_WORDS[failure]}."
    return f"{text} {TOGETHER}" if together else text
