"""What the Call lab shows: the story with its script in the URL, and the step."""

from dataclasses import replace

from app.ui import lab_files, state
from app.views.labs.calls.link import BY_NAME, PARAMETERS, LinkError, check, decode, encode, named
from assignors.labs.calls import Story

LAB = "calls"
STEP = "step"
_STORY = "story: "


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


def as_file(its: Story) -> bytes:
    """The story's name, and its calls, as a text file."""
    return f"{lab_files.heading('call', 'the calls')}\n{_STORY}{its.name}\n{its.script}".encode()


def take(data: bytes, name: str) -> None:
    """Play an uploaded file. Raises ScenarioError."""
    lines = [line for line in lab_files.lines(data) if not line.startswith("#")]
    if not lines or not lines[0].startswith(_STORY):
        raise lab_files.refused(LinkError(f"This is no file of the call lab. It begins with the line `{_STORY}NAME`."))
    try:
        its = replace(named(lines[0].removeprefix(_STORY).strip()), script="\n".join([*lines[1:], ""]))
        check(its.kind, its.script)
        _write(its)
    except LinkError as error:
        raise lab_files.refused(error) from None


def go(at: int) -> None:
    """Go to a step."""
    state.set_url(STEP, str(at))


def _write(its: Story) -> None:
    said = encode(its)
    for name in PARAMETERS:
        state.set_url(name, said.get(name))
    state.set_url(STEP, None)
