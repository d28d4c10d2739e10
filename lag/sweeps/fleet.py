"""The groups of a sweep, from a cluster or from scenario files."""

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
class InputProblem:
    """A problem of an input. `where`: FILE:LINE, a file or a group; `path`: the field, "" for the whole input.

    As text it names `where` once: messages about groups and brokers contain it.
    """

    where: str
    path: str
    message: str

    def __str__(self) -> str:
        where = "" if self.where in self.message else self.where
        return ": ".join(part for part in (where, self.path, self.message) if part)


@dataclass(frozen=True, slots=True)
class Fleet:
    """The groups of a sweep, with unique names.

    `problems`: invalid inputs. `skipped`: valid groups that no assignor can plan.
    """

    cluster: str
    scenarios: tuple[Scenario, ...]
    problems: tuple[InputProblem, ...] = ()
    skipped: tuple[InputProblem, ...] = ()


def of_cluster(health: Health, containing: str = "") -> Fleet:
    """The present groups of a cluster whose id contains the text in any case, without groupscope's own."""
    snapshot = health.snapshot
    found: list[Scenario] = []
    skipped: list[InputProblem] = []
    for group in snapshot.groups:
        if group.internal or containing.casefold() not in group.group_id.casefold():
            continue
        try:
            found.append(scenario_of(group, health).scenario)
        except GroupscopeError as error:
            skipped.append(InputProblem(group.group_id, "", str(error)))
    problems = tuple(
        InputProblem(f"{problem.scope} {problem.subject}", "", problem.cause)
        for problem in snapshot.problems
        if problem.scope is not Scope.GROUP
        and not (problem.scope is Scope.TOPIC and problem.is_refusal)  # these are in `skipped`
    )
    return Fleet(snapshot.cluster_id or snapshot.cluster, tuple(found), problems, tuple(skipped))


def of_files(path: Path) -> Fleet:
    """The scenarios of a folder (`*.yaml`, `*.json`), of a file with one on each line, or of one scenario file.

    Their events are ignored. Raises ConfigError if the file or folder cannot be read.
    """
    found: dict[str, Scenario] = {}
    problems: list[InputProblem] = []
    for where, made in _each(path):
        if isinstance(made, InputProblem):
            problems.append(made)
        elif made.name in found:
            problems.append(
                InputProblem(where, "name", f"Another group has the name {made.name!r}. Names must be unique.")
            )
        else:
            found[made.name] = replace(made, events=())
    return Fleet(path.name, tuple(found.values()), tuple(problems))


Read = Iterator[tuple[str, Scenario | InputProblem]]


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
            except ScenarioError as error:  # a line has no line numbers within it
                yield from _troubles(where, (replace(problem, line=None) for problem in error.problems))


def _troubles(where: str, problems: Iterable[Problem]) -> Read:
    for problem in problems:
        at = where if problem.line is None else f"{where}:{problem.line}"
        yield at, InputProblem(at, problem.path, problem.message)
