"""Random scenario files, most of them odd: what `check` accepts runs everywhere, or is refused with a reason.

A file that is accepted goes through all that takes files: each assignor, the simulation of each protocol, the API's
answers, the What-if page's tables and recommendation, sweeps. Any other exception than the project's own, and a use
that takes more than `MOST_CPU_S`, is a difference.
"""

import json
import random
import signal
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from app.cli.shared.difference import lines
from app.documents.simulation import simulations_document
from app.server.api.problem import ApiError
from app.server.api.worker.tasks import SIMULATE, WHAT_IF, answer
from app.ui.scenario.played import play
from app.views.whatif import tables, text
from assignors import fold, names
from assignors.model import AssignorError
from assignors.scenario import ScenarioError, check_bytes, dump, load_scenario
from assignors.simulation.settings import SettingsError, read
from assignors.simulation.side_by_side import simulate_all
from assignors.simulation.timeline.generations import generations
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.comparison import Outcome, compatible_assignors, with_change_to
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from assignors.whatif.recommendation import recommendation
from assignors.whatif.suggested_joins import suggested_joins, usual_topics
from lag.errors import ConfigError
from lag.sweeps.measures import current_row, row
from lag.sweeps.plan import Case, Failure
from tests.oracle.tally import Checked, generator

NAME = "scenario files"
MOST_CPU_S = 60.0
"""A simulation at its limits takes about half of it."""
PROTOCOLS = (RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE, RebalanceProtocol.CONSUMER)
REFUSALS = (AssignorError, SettingsError, ApiError, ConfigError)

IDS = ("a", "b", "c", "d", "é", "用户", "a b", "𝄞", "on", "007", "x" * 300, "a\u0301", "'", "\u202e", "-", "\n")
TOPICS = ("t", "u", "orders", "AaBB", "BBAa", "t.1", "z" * 249)
RACKS = ("r1", "r2", "é", "r3")
PATTERNS = ("t.*", ".*", "[tu]", "none", "(t|u)", "orders|t", "\\w+", "A.*")
NO_PATTERNS = ("", "t?+", "(", "[[:alpha:]]")
AMOUNTS = (0, 1, 0.5, 7, 1e15, 1e-300, 5e-324)
SETTINGS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("session.timeout.ms", (45_000, 6_000, 1_800_000, "10000")),
    ("heartbeat.interval.ms", (0, 1, 3_000, 1_000)),
    ("max.poll.interval.ms", (1, 300_000, 60_000, 2**31 - 1)),
    ("metadata.max.age.ms", (0, 1, 300_000, 30_000)),
    ("retry.backoff.ms", (0, 100, 2**31 - 1)),
    ("retry.backoff.max.ms", (0, 1_000)),
    ("auto.commit.interval.ms", (0, 1, 5_000)),
    ("enable.auto.commit", (True, False, "false")),
    ("auto.offset.reset", ("latest", "earliest", "none", "by_duration:PT1H")),
    ("group.initial.rebalance.delay.ms", (-1, 0, 3_000, 2**31 - 1)),
    ("group.max.size", (1, 2, 2**31 - 1)),
    ("group.consumer.max.size", (1, 2)),
    ("group.consumer.heartbeat.interval.ms", (5_000, 15_000)),
    ("group.consumer.session.timeout.ms", (45_000, 60_000)),
    ("group.consumer.assignment.interval.ms", (0, 1_000)),
    ("simulated.latency.ms", (0, 1, 40, 60_000, 2**31 - 1)),
    ("simulated.append.ms", (0, 5, 2**31 - 1)),
    ("simulated.plan.ms", (0, 1, 100_000)),
    ("simulated.load.ms", (0, 500, 2**31 - 1)),
    ("simulated.processing.ms", (0, 1, 700, 400_000, 2**31 - 1)),
    ("simulated.restart.ms", (0, 5_000, 2**31 - 1)),
    ("simulated.heartbeat.spread.ms", (0, 1, 2**31 - 1)),
    ("simulated.records.per.s", (0, 1, 2**31 - 1)),
    ("simulated.freeze", ("polling", "process")),
)


class Draft:
    """One file; `r` decides what is odd about it."""

    def __init__(self, r: random.Random) -> None:
        self._r = r
        self._odd = r.choice((0.0, 0.05, 0.2))  # how often a reference is to anything at all
        self._topics = r.sample(TOPICS, r.choice((0, 1, 1, 2, 3, 4)))
        self._counts = {name: r.choice((1, 1, 2, 3, 4, 13, 40)) for name in self._topics}
        self._ids = r.sample(IDS, r.choice((1, 2, 3, 4, 6)))
        self._away: dict[str, str] = {}
        self._is_up = True
        self._present = self._ids[: r.choice((0, 1, 2, len(self._ids), len(self._ids)))]

    def file(self) -> dict[str, Any]:
        """The whole file."""
        r = self._r
        made: dict[str, Any] = {
            "schema_version": 1,
            "name": r.choice(("g", "", "名", "a\nb")),
            "assignor": self._assignor(),
        }
        made["topics"] = [self._topic(name) for name in self._topics]
        made["members"] = self._start([self._member(name) for name in self._present])
        for section in ("weights", "lag", "rates"):
            if r.random() < 0.3:
                made[section] = {name: self._amounts(name) for name in self._some_topics()}
        if r.random() < 0.3:
            made["capacity"] = self._capacity()
        if r.random() < 0.6:
            made["protocol"] = {name: r.choice(values) for name, values in r.sample(SETTINGS, r.choice((1, 2, 4)))}
        made["events"] = self._events()
        return made

    def _assignor(self) -> str:
        return self._r.choice(names())

    def _is_odd(self) -> bool:
        return self._r.random() < self._odd

    def _topic(self, name: str) -> dict[str, Any]:
        r, count = self._r, self._counts.get(name, 2)
        made: dict[str, Any] = {"name": name, "partitions": 0 if self._is_odd() and r.random() < 0.1 else count}
        if r.random() < 0.3:
            made["racks"] = [r.choices(RACKS, k=r.choice((0, 1, 2, 3))) for _ in range(count)]
        return made

    def _any_topic(self) -> str:
        known = self._topics and not self._is_odd()
        return self._r.choice(self._topics if known else TOPICS)

    def _any_member(self) -> str:
        return self._r.choice(IDS if self._is_odd() else self._ids)

    def _some_topics(self) -> list[str]:
        return list(dict.fromkeys(self._any_topic() for _ in range(self._r.choice((0, 1, 2)))))

    def _subscription(self) -> dict[str, Any]:
        r = self._r
        if r.random() < 0.2:
            return {"pattern": r.choice(NO_PATTERNS if self._is_odd() and self._is_odd() else PATTERNS)}
        listed = [
            r.choice((*self._topics, *TOPICS[:1])) if not self._is_odd() else r.choice(TOPICS)
            for _ in range(r.choice((0, 1, 1, 2, 3, 6)))
        ]
        return {"topics": listed}

    def _member(self, name: str) -> dict[str, Any]:
        r = self._r
        made = {"id": name, **self._subscription()}
        for key, chance, values in (
            ("instance_id", 0.25, (f"i-{name}"[:100], "i") if self._is_odd() else (f"i-{name}",)),
            ("rack", 0.3, RACKS),
            ("client_id", 0.1, ("client", name)),
            ("host", 0.1, ("host",)),
            ("capacity", 0.1, (*AMOUNTS[1:], 0) if self._is_odd() else AMOUNTS[1:]),
        ):
            if r.random() < chance:
                made[key] = r.choice(values)
        return made

    def _start(self, members: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """They own nothing; or each partition has one owner; or two, or one that does not read it."""
        r, kind = self._r, self._r.choice(("nothing", "nothing", "clean", "clean", "wild"))
        if kind == "nothing" or not members:
            return members
        for topic in self._topics:
            for number in range(self._counts[topic]):
                readers = [one for one in members if topic in one.get("topics", ()) or kind == "wild"] or members[
                    : kind == "wild"
                ]
                for owner in r.sample(readers, min(len(readers), r.choice((0, 1, 2, 2)) if kind == "wild" else 1)):
                    owner.setdefault("owned", {}).setdefault(topic, []).append(number)
        latest = r.choice((0, 1, 5, 2_000_000_000))
        for one in members:
            if r.random() < 0.8:
                one["generation"] = max(0, latest - r.choice((0, 1, 4))) if kind == "wild" else latest
            if self._is_odd():
                one.setdefault("owned", {}).setdefault(self._any_topic(), []).append(r.choice((0, 1, 99, 999_999)))
        return members

    def _amounts(self, topic: str) -> Any:
        r, count = self._r, self._counts.get(topic, 1)
        kind = r.choice(("each", "list", "keys"))
        if kind == "each":
            return r.choice(AMOUNTS)
        if kind == "list":
            return [r.choice((*AMOUNTS, None)) for _ in range(r.choice((0, count, count + self._is_odd())))]
        return {str(r.randrange(count)): r.choice(AMOUNTS)}

    def _capacity(self) -> Any:
        amounts = AMOUNTS if self._is_odd() else AMOUNTS[1:]
        if self._r.random() < 0.5:
            return self._r.choice(amounts)
        return {self._any_member(): self._r.choice(amounts) for _ in range(2)}

    # Events

    def _events(self) -> list[dict[str, Any]]:
        r = self._r
        step = r.choice((0, 1, 1_000, 20_000, 60_000, 3_600_000))
        events, at_ms = [], r.choice((0, 0, 1, 5_000))
        for _ in range(r.choice((0, 1, 2, 4, 8, 16))):
            events.append({"at": f"{at_ms}ms", **self._event()})
            at_ms += r.choice((0, step, step, 400_000 if r.random() < 0.1 else step))
        if self._is_odd():
            r.shuffle(events)
        return events

    def _event(self) -> dict[str, Any]:
        """One that is possible as far as it goes; `check` refuses those that are not."""
        kinds: tuple[Callable[[], dict[str, Any]], ...] = (
            self._comes_or_goes,
            self._comes_or_goes,
            self._of_a_member,
            self._of_a_member,
            self._of_topics,
            self._of_the_group,
        )
        return self._r.choice(kinds)()

    def _comes_or_goes(self) -> dict[str, Any]:
        r = self._r
        absent = [name for name in self._ids if name not in self._present and name not in self._away]
        if absent and r.random() < 0.6:
            name = r.choice(absent)
            self._present.append(name)
            return {"join": self._member(name)}
        if not self._present:
            return {"leave": self._any_member()}
        name = r.choice(self._present)
        if not self._is_odd():
            self._present.remove(name)
        return {r.choice(("leave", "crash")): name}

    def _of_a_member(self) -> dict[str, Any]:
        r, name = self._r, self._any_member() if self._is_odd() or not self._present else self._r.choice(self._present)
        if self._away and r.random() < 0.5:
            name, kind = self._away.popitem()
            self._present.append(name)
            return {kind: name}
        kind = r.choice(
            (
                "freeze",
                "resume",
                "gc_pause",
                "slow",
                "split",
                "heal",
                "restart",
                "restart",
                "subscribe",
                "subscribe",
                "rack",
            )
        )
        lengths = (0, "1ms", "700ms", "10s", "50s", "400s") if not self._is_odd() else (0, "1ms", "366d", "7d", "-1s")
        values: dict[str, Any] = {
            "gc_pause": {"id": name, "lasts": r.choice(lengths)},
            "slow": {"id": name, "processing": r.choice(lengths)},
            "subscribe": {"id": name, **self._subscription()},
            "rack": {"id": name, "rack": r.choice((*RACKS, None))},
        }
        if kind in ("resume", "heal") and not self._is_odd():
            kind = "restart"
        if kind in ("freeze", "split") and name in self._present and not self._is_odd():
            self._present.remove(name)
            self._away[name] = "resume" if kind == "freeze" else "heal"
        return {kind: values.get(kind, name)}

    def _of_topics(self) -> dict[str, Any]:
        r, name = self._r, self._any_topic()
        missing = [topic for topic in TOPICS if topic not in self._topics]
        kind = r.choice(("grow", "create", "delete"))
        if kind == "create" and missing:
            name = r.choice(missing)
            self._topics.append(name)
            self._counts[name] = r.choice((1, 2, 13))
            return {"create_topic": self._topic(name)}
        if kind == "delete" and name in self._topics:
            self._topics.remove(name)
            return {"delete_topic": name}
        self._counts[name] = self._counts.get(name, 1) + r.choice((1, 2, 30, 2_000 if r.random() < 0.02 else 3))
        return {"add_partitions": {name: self._counts[name]}}

    def _of_the_group(self) -> dict[str, Any]:
        if self._r.random() < 0.4:
            return {"use_assignor": self._assignor()}
        if not self._is_odd():
            self._is_up = not self._is_up
        return {"coordinator_up" if self._is_up else "coordinator_down": True}


class _OverdueError(BaseException):
    """It takes too much time. A BaseException, so that nothing catches it on the way."""


def check(seed: int, number: int) -> Iterator[Checked]:
    """One file, and all that it can be used for."""
    data = json.dumps(Draft(generator(seed, number)).file(), ensure_ascii=False).encode()
    if why := trouble(partial(check_bytes, data, "drawn.json")):
        yield Checked(NAME, f"check: {why}\n{data.decode()}")
        return
    try:
        scenario = check_bytes(data, "drawn.json").scenario
    except ScenarioError:
        yield Checked(NAME, refused=True)
        return
    found = [f"{what}: {why}" for what, use in uses(scenario, data) if (why := trouble(use))]
    yield Checked(NAME, "\n".join((*found, data.decode())) if found else "")


def uses(scenario: Scenario, data: bytes) -> Iterator[tuple[str, Callable[[], object]]]:
    """What a file is used for, by name."""
    yield "dump", partial(_dumped, scenario)
    for name in names():
        yield f"assign {name}", partial(_assigned, scenario, name)
    for protocol in PROTOCOLS:
        yield f"simulate {protocol}", partial(_simulated, scenario, protocol)
    yield "the lab", partial(_played, scenario)
    yield (
        "POST /what-if",
        partial(_answered, WHAT_IF, data, {"assignors": ["all"], "plugins": [], "plugin_memory_mb": 2_000}),
    )
    simulated = {"protocols": [], "seed": 1, "latency_ms": 0}
    yield "POST /simulate", partial(_answered, SIMULATE, data, simulated)
    yield "the What-if page", partial(_compared, scenario)
    yield "a sweep", partial(_swept, scenario)


def trouble(use: Callable[[], object]) -> str:
    """How it ends when it should not; "" when it works or is refused with a reason."""
    try:
        within(MOST_CPU_S, use)
    except REFUSALS as error:
        return "" if str(error) else f"{type(error).__name__} without a reason"
    except (Exception, _OverdueError) as error:  # noqa: BLE001  any of them is what this looks for
        return "".join(traceback.format_exception(error)[-6:])
    return ""


def within(cpu_s: float, use: Callable[[], Any]) -> Any:
    """Its result. Raises _OverdueError when it takes more than that time of the processor."""

    def overdue(*_: object) -> None:
        raise _OverdueError(f"more than {cpu_s:g} s of CPU")

    before = signal.signal(signal.SIGVTALRM, overdue)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        return use()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _dumped(scenario: Scenario) -> None:
    written = dump(scenario)
    again = dump(load_scenario(written))
    assert again == written, f"{written} comes back as {again}"


def _assigned(scenario: Scenario, name: str) -> None:
    for generation in fold(scenario, name):
        list(lines(generation))


def _simulated(scenario: Scenario, protocol: RebalanceProtocol) -> None:
    """As the command does: the tables as JSON, and the generations."""
    outcomes = simulate_all(scenario, read(scenario.protocol), [protocol])
    json.dumps(simulations_document(outcomes), allow_nan=False)
    for outcome in outcomes.values():
        if isinstance(outcome, Timeline):
            generations(outcome, scenario.loads)


def _played(scenario: Scenario) -> None:
    play(scenario, 3, PROTOCOLS[:1])


def _answered(task: str, data: bytes, options: dict[str, Any]) -> None:
    json.loads(answer({"task": task, "deadline_s": 30.0, "options": options}, data))


def _compared(scenario: Scenario) -> None:
    found = [_outcome(scenario, name) for name in compatible_assignors(scenario)]
    own, members = scenario.assignor, {member.member_id: member.member_id for member in scenario.members_ever()}
    if (choice := recommendation(found, own)) is not None:
        text.recommended(choice, own)
    text.table(tables.compare(found, members))
    text.under_the_table(found)
    for outcome in found:
        if outcome.generations:
            text.conclusion(outcome, scenario)
    for event in scenario.events:
        text.event(event, scenario)
    suggested_joins(scenario, 2, usual_topics(scenario.members), None)


def _outcome(scenario: Scenario, name: str) -> Outcome:
    try:
        return Outcome(name, tuple(fold(*with_change_to(scenario, name))))
    except AssignorError as error:
        return Outcome(name, error=str(error))


def _swept(scenario: Scenario) -> None:
    current_row(scenario)
    for at, failure in enumerate(Failure):
        for name in compatible_assignors(scenario):
            row(scenario, Case(0, name, max(1, len(scenario.members) + at - 2), failure))
