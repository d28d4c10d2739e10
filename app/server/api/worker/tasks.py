"""The tasks that can take long: from a scenario or properties to the parts of an answer."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from app.documents.whatif import generation_document
from app.plugins import fold_any
from app.server.api.problem import ApiError, FieldErrorDocument, field_error, invalid_fields
from app.whatif_limits import TIMES_FOR_COMMAND, excess
from assignors.advice import Workload
from assignors.model import AssignorError
from assignors.scenario import Checked, Problem, ScenarioError, check_bytes
from assignors.whatif.comparison import compatible_assignors
from assignors.whatif.events import Scenario
from lag.errors import ConfigError

ALL = "all"
WHAT_IF, SIMULATE, ADVISE = "assign", "simulate", "advise"
"""The tasks, by the command that does the same."""

MOST_ANSWER_BYTES = 32 * 1024 * 1024
MOST_ROWS = 200_000
"""Rows of all tables of a simulation: an answer of about 20 MB."""

MARGIN_S = 5.0
"""A plugin has a process of its own, which ends this long before this one; the start takes a part of it."""


def what_if(file: bytes, options: Mapping[str, Any], deadline_s: float) -> Iterator[bytes]:
    """The parts of the answer: the generations under each assignor, or why it has none. Raises ApiError."""
    ends_s, checked = time.monotonic() + deadline_s - MARGIN_S, _checked(file)
    scenario = checked.scenario
    if (size := excess(scenario)) is not None:
        raise _too_large(f"{size} are too many", WHAT_IF, f"takes {TIMES_FOR_COMMAND} times as much")
    yield b"{%s" % _head(checked)
    for at, name in enumerate(_wanted(scenario, options["assignors"])):
        yield b"%s%s:" % (b"," if at else b',"assignors":{', _json(name))
        try:
            left_s = max(0.1, ends_s - time.monotonic())
            made = fold_any(scenario, name, options["plugins"], left_s, memory_mb=options["plugin_memory_mb"])
        except AssignorError as error:
            yield _json({"error": str(error)})
            continue
        yield b'{"generations":['
        for number, generation in enumerate(made):
            yield (b"," if number else b"") + _json(generation_document(generation))
        yield b"]}"
    yield b"}}"


def _wanted(scenario: Scenario, asked: list[str]) -> list[str]:
    """The assignors to run, each once: `all` is every one that suits the group; without any, the scenario's own."""
    named = [
        name
        for one in asked or [scenario.assignor]
        for name in (compatible_assignors(scenario) if one == ALL else [one])
    ]
    return list(dict.fromkeys(named))


def simulate(file: bytes, options: Mapping[str, Any], _deadline_s: float) -> Iterator[bytes]:
    """The parts of the answer: the timeline under each protocol, or why it has none. Raises ApiError."""
    from app.documents.simulation import simulations_document
    from app.server.api.worker.simulation import rows, simulated  # imported here because a what-if does without
    from assignors.simulation.budget import MessageLimitError

    checked = _checked(file)
    protocols, seed, latency_ms = options["protocols"], options["seed"], options["latency_ms"]
    try:
        outcomes = simulated(checked.scenario, protocols, seed, latency_ms, MOST_ROWS)
    except MessageLimitError:
        raise _too_large(f"A simulation of more than {MOST_ROWS:,} messages is too large", SIMULATE) from None
    if (count := rows(outcomes.values())) > MOST_ROWS:
        raise _too_large(f"The simulation has {count:,} rows, too many", SIMULATE)
    yield b"{%s," % _head(checked)
    yield b'"seed":%d,"protocols":%s}' % (seed, _json(simulations_document(outcomes)))


def advise(text: bytes, options: Mapping[str, Any], _deadline_s: float) -> Iterator[bytes]:
    """The answer: the findings on properties. Raises ApiError."""
    from app.documents.advice import advice_document
    from app.properties_advice import Kind, advise_text  # imported here because a what-if does without

    try:
        advice = advise_text(text.decode("utf-8", "replace"), Kind(options["kind"]), Workload(**options["workload"]))
    except ConfigError as error:
        raise invalid_fields([field_error("body.properties", str(error))]) from None
    yield _json(advice_document(advice))


TASKS: Mapping[str, Callable[[bytes, Mapping[str, Any], float], Iterator[bytes]]] = {
    WHAT_IF: what_if,
    SIMULATE: simulate,
    ADVISE: advise,
}


def _checked(file: bytes) -> Checked:
    try:
        return check_bytes(file, "")
    except ScenarioError as error:
        raise invalid_fields([_field(problem) for problem in error.problems]) from None


def _head(checked: Checked) -> bytes:
    """The name of the scenario and the warnings about it, without the braces."""
    warnings = [_field(problem) for problem in checked.warnings]
    return _json({"scenario": checked.scenario.name, "warnings": warnings})[1:-1]


def _field(problem: Problem) -> FieldErrorDocument:
    return field_error(f"body.{problem.path}".rstrip("."), problem.message, problem.line)


def _too_large(what: str, command: str, limit: str = "has no such limit") -> ApiError:
    return ApiError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"{what} for the server. Ask for less, or use `groupscope {command}`, which {limit}.",
    )


def _json(document: Any) -> bytes:
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()


def answer(question: Mapping[str, Any], body: bytes) -> bytes:
    """The whole answer. Raises ApiError."""
    parts = bytearray()
    for part in TASKS[question["task"]](body, question["options"], question["deadline_s"]):
        parts += part
        if len(parts) > MOST_ANSWER_BYTES:
            raise _too_large(f"An answer of more than {MOST_ANSWER_BYTES:,} bytes is too large", question["task"])
    return bytes(parts)
