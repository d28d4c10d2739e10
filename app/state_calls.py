"""What the Call lab shows: the story with its script in the URL, and the step."""

from dataclasses import replace

from app import state
from app.links_calls import BY_NAME, PARAMETERS, LinkError, check, decode, encode
from assignors.simulation.calls import Story

LAB = "calls"
STEP = "step"


def told() -> Story:
    """The story that the URL names, with the script that it has there. Raises LinkError."""
    return decode({name: text for name in PARAMETERS if (text := state.url(name)) is not None})


def tell(name: str) -> None:
    """Begin another story."""
    _write(BY_NAME[name])


def rewrite(script: str) -> None:
    """Play another script on the same machine; one that cannot be played is refused, and the page stays as it was."""
    its = replace(told(), script=script if script.endswith("\n") else f"{script}\n")
    try:
        check(its.kind, its.script)
        _write(its)
    except LinkError as error:
        state.refuse(LAB, str(error))


def go(at: int) -> None:
    """Go to a step."""
    state.set_url(STEP, str(at))


def _write(its: Story) -> None:
    said = encode(its)
    for name in PARAMETERS:
        state.set_url(name, said.get(name))
    state.set_url(STEP, None)
