"""Your own assignors, run in a process of their own: one that hangs, dies or prints must not take us along.

Your command line, your settings or an installed entry point choose which one runs, never a link or an uploaded file.
"""

import io
import os
import pickle
import resource
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import assignors
from app.processes.child import MOST_ANSWER_BYTES, Child, answer_of, end_with_parent, how_it_ended
from app.processes.spares import Spares
from assignors.broker.spec_arrays import BrokerList
from assignors.layout import Layout, PartitionList
from assignors.model import Assignment, AssignorError, Member, Topic, TopicPartition
from assignors.registry import BUILT_IN, refuse_unknown
from assignors.whatif.drain import Drain
from assignors.whatif.events import Scenario, UseAssignor
from assignors.whatif.generations import Generation
from assignors.whatif.moves import Moves
from assignors.whatif.quality import Quality
from assignors.whatif.skew import Skew

DEADLINE_S = 30.0
MEMORY_MB = 2_000
"""What a plugin may allocate, in units of 1,000,000 bytes."""
MOST_PRINTED_BYTES = 100_000
MOST_MESSAGE = 2_000
"""Characters of what a plugin says is wrong."""
WORKED_EXAMPLES = ("docs.plugins.weighted:Weighted", "docs.plugins.consistent:Consistent")

STATM = Path("/proc/self/statm")

_SPARES = Spares(partial(Child, "app.plugins", MOST_PRINTED_BYTES), most=2)


def keep_ready() -> None:
    """From now on, start processes for plugins in advance: a page with plugins asks some at each change."""
    _SPARES.keep()


def close() -> None:
    """End the processes that were started in advance."""
    _SPARES.close()


def worked_examples() -> list[str]:
    """The two assignors of docs/assignors.md, where the documentation is there: in a checkout, not in a wheel."""
    docs = Path(__file__).parents[1] / "docs" / "plugins"
    return [
        name for name in WORKED_EXAMPLES if docs.joinpath(f"{name.partition(':')[0].rpartition('.')[2]}.py").exists()
    ]


def fold_any(
    scenario: Scenario,
    assignor: str,
    plugins: Collection[str],
    deadline_s: float,
    fold: Callable[[Scenario, str], Sequence[Generation]] = assignors.fold,
    memory_mb: int = MEMORY_MB,
) -> Sequence[Generation]:
    """The generations under an assignor: of that name, or, as `module:Class`, one of `plugins`; nothing else is loaded.

    Computed with `fold` where only Kafka's own have a part in it, else in a process apart. Raises AssignorError, of a
    plugin also saying that it cannot be loaded, raised, gave a broken plan (whose, of what), had none within the
    deadline or with `memory_mb`, or ended its process.
    """
    if assignor not in plugins:
        refuse_unknown(assignor)
    yours = not_kafkas(scenario, assignor)
    return _fold_apart(scenario, assignor, yours, deadline_s, memory_mb) if yours else fold(scenario, assignor)


def not_kafkas(scenario: Scenario, assignor: str) -> str:
    """Those that the group has at first or changes to, as text; "" when all are Kafka's."""
    later = (event.action.assignor for event in scenario.events if isinstance(event.action, UseAssignor))
    return " or ".join(repr(name) for name in dict.fromkeys((assignor, *later)) if name not in BUILT_IN)


def _fold_apart(scenario: Scenario, assignor: str, yours: str, deadline_s: float, memory_mb: int) -> list[Generation]:
    """The module of a plugin is looked for where Python looks, and in the working directory."""
    asked = pickle.dumps((scenario, assignor, yours, memory_mb, [*sys.path, os.getcwd()]))
    ended = answer_of(_SPARES.take(), asked, deadline_s)
    if ended is None:
        message = f"The assignor {yours} timed out: it had no plan after {deadline_s:g} s, so its process was stopped."
        raise AssignorError(message)
    if not ended.is_whole:
        message = (
            f"The assignor {yours} answered with more than {MOST_ANSWER_BYTES:,} bytes, so its process was stopped."
        )
        raise AssignorError(message)
    return _read(ended.answer, ended.code, yours)


def _read(answer: bytes, code: int, yours: str) -> list[Generation]:
    try:
        generations, refusal = _Answer(io.BytesIO(answer)).load()
    except (EOFError, pickle.UnpicklingError):
        how = how_it_ended(code)
        raise AssignorError(f"The assignor {yours} ended its process {how} before it had a plan.") from None
    if refusal is not None:
        raise AssignorError(refusal)
    made: list[Generation] = generations
    return made


_ARRAYS = {("numpy", "dtype"), ("numpy", "ndarray"), ("numpy._core.numeric", "_frombuffer")}
_IN_ANSWERS = _ARRAYS | {
    (its.__module__, its.__qualname__)
    for its in (
        Assignment,
        BrokerList,
        Drain,
        Generation,
        Layout,
        Member,
        Moves,
        PartitionList,
        Quality,
        Skew,
        Topic,
        TopicPartition,
    )
}
"""What generations consist of. Anything else, such as a function of the standard library, could do harm here."""


class _Answer(pickle.Unpickler):
    """Reads generations alone: the process of a plugin can write what it likes."""

    def find_class(self, module: str, name: str) -> Any:
        """The class of that name, if it may stand in an answer."""
        if (module, name) not in _IN_ANSWERS:
            raise AssignorError(f"The plan holds a {module}.{name}. Use plain texts and TopicPartitions.")
        return super().find_class(module, name)


def _answer(scenario: Scenario, assignor: str, yours: str, memory_mb: int) -> bytes:
    """What the child found, pickled: generations, or a sentence."""
    try:
        is_name = assignor in assignors.names()
        made = assignors.fold(scenario, assignor if is_name else assignors.load_plugin(assignor))
        return pickle.dumps((made, None), pickle.HIGHEST_PROTOCOL)
    except AssignorError as error:
        return _refusal(str(error), error, memory_mb)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody else's code: anything may come out of it
        return _refusal(f"The assignor {yours} raised {type(error).__name__}: {error}", error, memory_mb)


def _refusal(message: str, error: BaseException, memory_mb: int) -> bytes:
    cut = message if len(message) <= MOST_MESSAGE else f"{message[:MOST_MESSAGE]}…"
    if _is_of_memory(error):
        cut = f"{cut.rstrip('.')}. It may allocate {memory_mb:,} MB (--plugin-memory, GROUPSCOPE_PLUGIN_MEMORY_MB)."
    return pickle.dumps((None, cut), pickle.HIGHEST_PROTOCOL)


def _is_of_memory(error: BaseException | None) -> bool:
    """Whether it is, or comes from, memory that could not be allocated."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__ or error.__context__
    return error is not None


def _limit_memory(memory_mb: int) -> None:
    """Beyond what Python and NumPy have already. Address space that is only reserved, as by threads, does not count."""
    used = resource.getpagesize() * int(STATM.read_text().split()[5]) if STATM.exists() else 0
    most = used + memory_mb * 1_000_000
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _serve() -> None:
    """The child: one question on stdin, one answer on stdout; what the plugin prints goes to stderr."""
    end_with_parent()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        scenario, assignor, yours, memory_mb, sys.path[:] = pickle.load(sys.stdin.buffer)
    except EOFError:  # a spare that was not asked
        return
    _limit_memory(memory_mb)
    with answers:
        answers.write(_answer(scenario, assignor, yours, memory_mb))
    os._exit(0)  # a thread that the plugin has left behind is not waited for


if __name__ == "__main__":
    _serve()
