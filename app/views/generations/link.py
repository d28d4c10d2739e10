"""The generation of a live group in the URL: its number, and its time where a number is there twice."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.ui import link_values, state

GENERATION, AT, UNTIL = "generation", "at", "until"


@dataclass(frozen=True, slots=True)
class Key:
    """What identifies a generation: its number, and when it was written in ms since 1970 (None: any)."""

    number: int
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The position of the generation to show. `missing`: the number in the URL, if that generation is not there."""

    position: int
    missing: int | None = None


def asked() -> Key | None:
    """The generation in the URL; None if it names none."""
    number = link_values.whole(GENERATION)
    return None if number is None else Key(number, link_values.whole(AT))


def until_ms() -> int | None:
    """The time in the URL up to which rebalances are listed, in ms since 1970; None: up to now."""
    return link_values.at_ms(UNTIL)


def place(keys: Sequence[Key], wanted: Key | None, old: int | None = None) -> Place:
    """The generation of that number, the newest of several unless the time says which; else the one nearest to it.

    Without a wanted one, the newest, or the position in an old link (`gen`).
    """
    last = len(keys) - 1
    if wanted is None:
        return Place(last if old is None else min(old, last))
    found = [at for at, key in enumerate(keys) if key.number == wanted.number]
    exact = [at for at in found if keys[at].at_ms == wanted.at_ms]
    if found:
        return Place((exact or found)[-1])
    return Place(min(range(last, -1, -1), key=lambda at: abs(keys[at].number - wanted.number)), wanted.number)


def parameters(keys: Sequence[Key], position: int) -> dict[str, str | None]:
    """The URL parameters of a generation; None: remove it."""
    key = keys[position]
    is_unique = sum(other.number == key.number for other in keys) == 1
    return {GENERATION: str(key.number), AT: None if is_unique else str(key.at_ms), "gen": None}


def write(keys: Sequence[Key], position: int) -> None:
    """Put a generation into the URL, unless it is there already."""
    for name, value in parameters(keys, position).items():
        if state.url(name) != value:
            state.set_url(name, value)
