"""Events in turn beside clients that have Kafka's own assignors, and keep between rebalances what real ones keep."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assignors.model import AssignorError, Member, Topic
from assignors.whatif.events import Action, AddPartitions, Crash, Event, Join, Leave, Scenario, Subscribe
from assignors.whatif.generations import in_turn
from tests.oracle.client_assignors import LIVELOCK, NAMES, JavaAssignors, Lists
from tests.oracle.client_groups import JavaGroup
from tests.oracle.tally import Checked, generator

TOPICS = ("t", "u", "AaBB", "BBAa")


class Course:
    """The start of a group, and actions each of which is a rebalance; `members` and `topics` are as after the last."""

    def __init__(self, r: random.Random) -> None:
        self._r = r
        self._joined = 0
        self.topics = {name: Topic(name, r.randrange(1, r.choice((4, 12, 40)))) for name in TOPICS}
        self.members = {member.member_id: member for member in (self._new() for _ in range(r.choice((1, 2, 3, 5, 14))))}
        self.start = tuple(self.members.values()), dict(self.topics)
        self.actions = [self._action() for _ in range(r.randrange(1, 8))]

    def _new(self) -> Member:
        self._joined += 1
        return Member(f"m{self._r.randrange(100)}-{self._joined}", topics=self._subscription())

    def _subscription(self) -> tuple[str, ...]:
        return tuple(self._r.sample(TOPICS, self._r.choice((1, 2, 2, 3, 4, 4, 4))))

    def _action(self) -> Action:
        kind = self._r.choice(("join", "join", "leave", "leave", "crash", "grow", "subscribe"))
        if kind == "grow":
            return self._grow()
        if kind == "subscribe":
            return self._subscribe()
        if kind == "join" or len(self.members) == 1:
            member = self._new()
            self.members[member.member_id] = member
            return Join(member)
        gone = self._r.choice(list(self.members))
        del self.members[gone]
        return Leave(gone) if kind == "leave" else Crash(gone)

    def _grow(self) -> Action:
        name = self._r.choice(self._r.choice(list(self.members.values())).topics)
        partitions = self.topics[name].partitions + self._r.randrange(1, 9)
        self.topics[name] = Topic(name, partitions)
        return AddPartitions(name, partitions)

    def _subscribe(self) -> Action:
        member = self._r.choice(list(self.members.values()))
        wanted = next(topics for topics in iter(self._subscription, None) if topics != member.topics)
        self.members[member.member_id] = replace(member, topics=wanted)
        return Subscribe(member.member_id, wanted)


class GenerationOracle:
    """Random courses through one of the client's assignors. The JVM must run."""

    def __init__(self) -> None:
        self._java = JavaAssignors()

    def __call__(self, seed: int, number: int) -> Iterator[Checked]:
        """One course: every generation's plan."""
        name = NAMES[number % len(NAMES)]
        course = Course(generator(seed, number))
        ours, course.actions = before_livelock(name, course)
        theirs = driven(self._java, name, course).plans
        difference = "" if ours == theirs else f"{name}: {course.start}, {course.actions}\nours: {ours}\nJava: {theirs}"
        yield Checked("generations", difference)


def before_livelock(name: str, course: Course) -> tuple[list[Lists], list[Action]]:
    """The plans of our generations, and the actions that led to them: up to one from whose plan Java never returns."""
    actions = course.actions
    while True:
        try:
            return folded(name, course.start, actions), actions
        except AssignorError as error:
            if LIVELOCK not in str(error):
                raise
            actions = actions[:-1]


def folded(name: str, start: tuple[tuple[Member, ...], dict[str, Topic]], actions: Sequence[Action]) -> list[Lists]:
    """The plans of our generations."""
    members, topics = start
    events = tuple(Event(1000 * at, action) for at, action in enumerate(actions, 1))
    made = in_turn(Scenario("course", name, topics, members, events))
    return [{who: list(held) for who, held in one.after.by_member.items()} for one in made]


def driven(java: JavaAssignors, name: str, course: Course) -> JavaGroup:
    """The group of clients after all actions."""
    members, topics = course.start
    group = JavaGroup(java, name, topics, members)
    for action in course.actions:
        drive(group, action)
    return group


def drive(group: JavaGroup, action: Action) -> None:
    """Let clients do what the action says."""
    match action:
        case Join(member):
            group.join(member)
        case Leave(member_id) | Crash(member_id):
            group.leave(member_id)
        case AddPartitions(topic, partitions):
            group.grow(topic, partitions)
        case Subscribe(member_id, topics):
            group.subscribe(member_id, topics)
