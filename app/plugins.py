"""Your own assignors, run in a process of their own: one that hangs, dies or prints must not take us along.

Which one runs is said by your command line, your settings or an installed entry point, never by an uploaded file.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import assignors
from assignors.events import Scenario
from assignors.generations import Generation
from assignors.model import Assignor, AssignorError
from assignors.registry import BUILT_IN

DEADLINE_S = 30.0
WORKED_EXAMPLES = ("docs.plugins.weighted:Weighted", "docs.plugins.consistent:Consistent")


def worked_examples() -> list[str]:
    """The two assignors of docs/assignors.md, where the documentation is there: in a checkout, not in a wheel."""
    docs = Path(__file__).parents[1] / "docs" / "plugins"
    return [
        name for name in WORKED_EXAMPLES if docs.joinpath(f"{name.partition(':')[0].rpartition('.')[2]}.py").exists()
    ]


def fold_any(scenario: Scenario, assignor: str, deadline_s: float = DEADLINE_S) -> Sequence[Generation]:
    """The generations under an assignor of Kafka's by name, computed here, or under any other, as `fold_plugin`."""
    return assignors.fold(scenario, assignor) if assignor in BUILT_IN else fold_plugin(scenario, assignor, deadline_s)


def fold_plugin(scenario: Scenario, reference: str, deadline_s: float = DEADLINE_S) -> list[Generation]:
    """The generations under a plugin: `module:Class`, or the name of an entry point.

    The module is looked for where Python looks, and in the working directory. Raises AssignorError saying that it
    cannot be loaded, raised, gave a broken plan (whose, of what), had none within the deadline, or ended its process.
    """
    asked = pickle.dumps((scenario, reference, [*sys.path, os.getcwd()]))
    # -P: a folder `app` of the working directory is not ours.
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "app.plugins"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            answer, _ = process.communicate(asked, deadline_s)
        except subprocess.TimeoutExpired:
            told = f"The assignor {reference!r} hung: it had no plan after {deadline_s:g} s, and was ended."
            raise AssignorError(told) from None
        finally:
            _end(process)
    return _read(answer, process.returncode, reference)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """With everything that it has started itself."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _read(answer: bytes, code: int, reference: str) -> list[Generation]:
    try:
        generations, refusal = pickle.loads(answer)
    except (EOFError, pickle.UnpicklingError):
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        raise AssignorError(f"The assignor {reference!r} ended its process {how} before it had a plan.") from None
    if refusal is not None:
        raise AssignorError(refusal)
    made: list[Generation] = generations
    return made


def _answer(scenario: Scenario, reference: str) -> tuple[list[Generation] | None, str | None]:
    """What the child found: generations, or a sentence."""
    try:
        return assignors.fold(scenario, _load(reference)), None
    except AssignorError as error:
        return None, str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody else's code: anything may come out of it
        return None, f"The assignor {reference!r} raised {type(error).__name__}: {error}"


def _load(reference: str) -> Assignor:
    return assignors.load_plugin(reference) if ":" in reference else assignors.get(reference)


def _serve() -> None:
    """The child: one question on stdin, one answer on stdout; what the plugin prints goes to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    scenario, reference, sys.path[:] = pickle.load(sys.stdin.buffer)
    with answers:
        pickle.dump(_answer(scenario, reference), answers, pickle.HIGHEST_PROTOCOL)
    os._exit(0)  # a thread that the plugin has left behind is not waited for


if __name__ == "__main__":
    _serve()
