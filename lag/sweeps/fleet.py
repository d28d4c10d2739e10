"""The groups of a sweep: of a cluster, of a snapshot's document, or of files with scenarios."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from assignors.scenario import Problem, ScenarioError, check_bytes, check_file
from assignors.whatif.events import Scenario
from lag.errors import ConfigError, GroupscopeError
from lag.generations.live_group import scenario_of
from lag.model import Scope
from lag.verdict.health import Health

ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with one input: `where` is FILE:LINE, a file or a group, `path` a place in it ("": all of it)."""

    where: str
    path: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, self.path, self.message) if part)


@dataclass(frozen=True, slots=True)
class Fleet:
    """Groups to sweep, no two of one name, and what could not be one.

    `problems` are inputs that are wrong; `skipped` are groups that nothing can be planned for, and are as they should.
    """

    cluster: str
    scenarios: tuple[Scenario, ...]
    problems: tuple[Trouble, ...] = ()
    skipped: tuple[Trouble, ...] = ()


def of_cluster(health: Health) -> Fleet:
    """The groups of a cluster that are not our own, as they are now."""
    snapshot = health.snapshot
    found: list[Scenario] = []
    skipped: list[Trouble] = []
    for group in snapshot.groups:
        if group.internal:
            continue
        try:
            found.append(scenario_of(group, health).scenario)
        except GroupscopeError as error:
            skipped.append(Trouble(group.group_id, "", str(error)))
    problems = tuple(
        Trouble(f"{its.scope} {its.subject}", "", its.cause)
        for its in snapshot.problems
        if its.scope is not Scope.GROUP and its.kind != "unauthorized"  # what we may not see is skipped, group by group
    )
    return Fleet(snapshot.cluster_id or snapshot.cluster, tuple(found), problems, tuple(skipped))


def of_files(path: Path) -> Fleet:
    """The scenarios of a folder (`*.yaml`, `*.json`), of a file with one on each line, or of one scenario file.

    Their events are left out: a sweep has its own. Raises ConfigError when there is no such file or folder.
    """
    found: dict[str, Scenario] = {}
    problems: list[Trouble] = []
    for where, made in _each(path):
        if isinstance(made, Trouble):
            problems.append(made)
        elif made.name in found:
            problems.append(Trouble(where, "name", f"There is a group {made.name!r} already. Give each its own name."))
        else:
            found[made.name] = replace(made, events=())
    return Fleet(path.name, tuple(found.values()), tuple(problems))


Read = Iterator[tuple[str, Scenario | Trouble]]


def _each(path: Path) -> Read:
    try:
        if path.is_dir():
            yield from _of_folder(path)
        elif path.suffix in ENDINGS:
            path.stat()
            yield from _of_one(path)
        else:
            yield from _of_lines(path)
    except OSError as error:
        hint = "Name a folder of scenario files, or a file with a scenario in JSON on each line."
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint) from None


def _of_folder(path: Path) -> Read:
    for file in sorted(path.iterdir()):
        if file.suffix in ENDINGS:
            yield from _of_one(file)


def _of_one(file: Path) -> Read:
    try:
        yield str(file), check_file(file).scenario
    except ScenarioError as error:
        yield from _troubles(str(file), error.problems)


def _of_lines(path: Path) -> Read:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            try:
                yield where, check_bytes(line, "line.json").scenario
            except ScenarioError as error:  # it is one line: the number within it says nothing
                yield from _troubles(where, (replace(problem, line=None) for problem in error.problems))


def _troubles(where: str, problems: Iterable[Problem]) -> Read:
    for its in problems:
        place = where if its.line is None else f"{where}:{its.line}"
        yield place, Trouble(place, its.path, its.message)
