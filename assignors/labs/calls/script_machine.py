"""The base of the machines that run scripts: verbs that change a state."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from assignors.labs.calls.script import Call, parse
from assignors.model import TopicPartition
from assignors.spelling import closest


class Refusal(Exception):
    """Kafka refuses a call: the name of its exception or error code, and why."""

    def __init__(self, error: str, why: str = "") -> None:
        super().__init__(f"{error}: {why}" if why else error)
        self.error = error


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """A partition's log and the consumer's offsets in it; None where there is none.

    `markers`: the offsets of transaction markers. `consumed`: the offsets that poll has taken so far, in order; a
    record that was read twice is in two ranges.
    """

    partition: TopicPartition
    log_start: int
    committed: int | None
    position: int | None
    last_stable: int
    log_end: int
    is_assigned: bool = False
    markers: tuple[int, ...] = ()
    consumed: tuple[range, ...] = ()


@dataclass(frozen=True, slots=True)
class Verb:
    """The syntax of a call, and the function that runs it.

    Words of `usage` in brackets may be left out, those that end with "…" may be repeated, `name=` are options.
    """

    usage: str
    does: Callable[[Call], str]

    def check(self, call: Call) -> None:
        """Raises ScriptError for too few or too many words, and for unknown options."""
        parts = [part.strip("[]") for part in self.usage.split()[1:]]
        words = [part for part in parts if "=" not in part]
        needed = sum(not part.startswith("[") and "=" not in part for part in self.usage.split()[1:])
        many = any(word.endswith("…") for word in words)
        options = {part.partition("=")[0] for part in parts if "=" in part}
        fits = needed <= len(call.words) and (many or len(call.words) <= len(words))
        if not fits or call.options.keys() - options:
            raise call.wrong(f"{call.text[:60]!r} is not valid. Write `{self.usage}`.")


class Machine(ABC):
    """A state that only the verbs change."""

    @abstractmethod
    def verbs(self) -> Iterable[Verb]:
        """The calls that it supports."""

    @abstractmethod
    def state(self) -> Mapping[str, str]:
        """The present state: always the same columns; "" = nothing."""

    def offsets(self) -> tuple[PartitionOffsets, ...]:
        """The present offsets of each partition; none for machines without a log."""
        return ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One call, its outcome, and state and offsets after it. `error`: Kafka's name of the error; None = success."""

    call: Call
    outcome: str
    error: str | None
    state: Mapping[str, str]
    offsets: tuple[PartitionOffsets, ...] = ()


def play(machine: Machine, script: str) -> tuple[Turn, ...]:
    """Each call of the script in turn. Raises ScriptError for a line that cannot be simulated."""
    verbs = {verb.usage.split()[0]: verb for verb in machine.verbs()}
    return tuple(_turn(machine, verbs, call) for call in parse(script))


def _turn(machine: Machine, verbs: Mapping[str, Verb], call: Call) -> Turn:
    verb = verbs.get(call.verb)
    if verb is None:
        close = closest(call.verb, verbs)
        hint = f"Did you mean {close!r}?" if close else f"Choose from {', '.join(verbs)}."
        raise call.wrong(f"there is no call {call.verb!r}. {hint}")
    verb.check(call)
    try:
        outcome, error = verb.does(call), None
    except Refusal as refusal:
        outcome, error = str(refusal), refusal.error
    return Turn(call, outcome, error, machine.state(), machine.offsets())


def listed(values: Iterable[object]) -> str:
    """ "orders-0, orders-1" """
    return ", ".join(map(str, values))


def clock(ms: int) -> str:
    """ "0 s", "6 s", "9 min", "7 d 3 s" """
    seconds, parts = ms / 1_000, list[str]()
    for unit, each in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if whole := int(seconds // each):
            parts.append(f"{whole} {unit}")
            seconds -= whole * each
    return " ".join([*parts, f"{seconds:g} s"] if seconds or not parts else parts)
