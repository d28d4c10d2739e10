"""The assignors by name: Kafka's own, and plugins.

A plugin is found by the entry point group `groupscope.assignors` (name = `module:Class`), or given as `module:Class`.
The class is called without arguments; its instance is an `assignors.model.Assignor`.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from assignors.model import Assignor, AssignorError
from assignors.spelling import suggestion

ENTRY_POINT_GROUP = "groupscope.assignors"

BUILT_IN = {
    "range": "assignors.client.range:RangeAssignor",
    "roundrobin": "assignors.client.roundrobin:RoundRobinAssignor",
    "sticky": "assignors.client.sticky:StickyAssignor",
    "cooperative-sticky": "assignors.client.cooperative:CooperativeStickyAssignor",
    "uniform": "assignors.broker.uniform.assignor:UniformAssignor",
    "server-range": "assignors.broker.server_range:ServerRangeAssignor",
    "share-simple": "assignors.broker.share_simple:ShareSimpleAssignor",
}


def names() -> tuple[str, ...]:
    """All names that `get` knows: Kafka's as Kafka spells them, then those of entry points, sorted."""
    return (*BUILT_IN, *sorted(_installed().keys() - BUILT_IN))


def get(name: str) -> Assignor:
    """The assignor of that name. Raises AssignorError when there is none, or when it cannot be loaded."""
    refuse_unknown(name)
    return load_plugin(BUILT_IN[name] if name in BUILT_IN else _installed()[name].value)


def refuse_unknown(name: str) -> None:
    """Raise AssignorError when no assignor has that name. Nothing is loaded."""
    if name in names():
        return
    raise AssignorError(f"No assignor is named {name!r}.{suggestion(name, names())}")


@cache
def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def load_plugin(reference: str) -> Assignor:
    """An instance of the class that `module:Class` names. Raises AssignorError saying what is wrong with it."""
    module, _, attribute = reference.partition(":")
    if not (module and attribute):
        raise AssignorError(f"{reference!r} does not name an assignor. Write it as module:Class.")
    try:
        made = _class(module, attribute)()
    except (Exception, SystemExit) as error:  # a plugin may raise anything
        message = f"The assignor {reference!r} cannot be loaded: {type(error).__name__}: {error}."
        raise AssignorError(message) from error
    if not isinstance(made, Assignor):
        raise AssignorError(f"{reference!r} is not an assignor: it needs a name and a method assign(group).")
    return made


def _class(module: str, attribute: str) -> Callable[[], object]:
    made: Callable[[], object] = getattr(import_module(module), attribute)
    return made
