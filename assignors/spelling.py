"""Suggestions for names that do not exist."""

from collections.abc import Iterable
from difflib import get_close_matches

MAX_SHOWN_LETTERS = 60
MAX_LISTED = 16


def shown(text: str) -> str:
    """A text from a file, short enough for a sentence."""
    return text if len(text) <= MAX_SHOWN_LETTERS else text[: MAX_SHOWN_LETTERS - 1] + "…"


def suggestion(word: str, words: Iterable[str]) -> str:
    """` Did you mean 'topics'?`; if no word is close, all words if there are only a few."""
    known = list(words)
    if close := get_close_matches(word, known, n=1):
        return f" Did you mean {shown(close[0])!r}?"
    if not 0 < len(known) <= MAX_LISTED:
        return ""
    return f" {'Choose from' if known[1:] else 'The only one is'} {', '.join(map(shown, known))}."
