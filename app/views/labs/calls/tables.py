"""A run of the Call lab as rows: every call with its outcome and the state after it."""

from collections.abc import Mapping, Sequence

import pandas as pd

from assignors.labs.calls import Turn

NONE = "–"


def turns_frame(turns: Sequence[Turn]) -> pd.DataFrame:
    """One row per call: step (from 1), call, outcome, error, and each column of the state that ever has a value."""
    columns = [name for name in turns[0].state if any(turn.state[name] for turn in turns)]
    rows = [
        {
            "step": number,
            "call": turn.call.text,
            "outcome": turn.outcome,
            "error": turn.error,
            **{name: turn.state[name] or NONE for name in columns},
        }
        for number, turn in enumerate(turns, 1)
    ]
    return pd.DataFrame(rows)


IN_THE_PICTURE = frozenset({"position", "committed", "log end"})


def changed(turns: Sequence[Turn], at: int) -> Mapping[str, tuple[str, str]]:
    """What the call at that index changed: column -> before, after. Without the offsets that a picture shows."""
    before = turns[at - 1].state if at else dict.fromkeys(turns[at].state, "")
    return {name: (before[name], value) for name, value in _in_words(turns[at]).items() if before[name] != value}


def unchanged(turns: Sequence[Turn], at: int) -> Mapping[str, str]:
    """The rest of the state after that call, without empty values and the offsets that a picture shows."""
    changes = changed(turns, at)
    return {name: value for name, value in _in_words(turns[at]).items() if value and name not in changes}


def changed_text(turns: Sequence[Turn], at: int) -> str:
    """ "group: Stable → Empty; members: A-1 → –"; a first value stands alone. "" where nothing changed."""
    changes = changed(turns, at).items()
    texts = (f"{name}: {f'{before} → ' if before else ''}{after or NONE}" for name, (before, after) in changes)
    return "; ".join(texts)


def _in_words(turn: Turn) -> Mapping[str, str]:
    drawn = IN_THE_PICTURE if turn.offsets else ()
    return {name: value for name, value in turn.state.items() if name not in drawn}
