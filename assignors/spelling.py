"""Suggestions for names that do not exist, and long texts in sentences.

The comparison is RapidFuzz's: its time grows with the product of two names' lengths and no faster, unlike difflib's.
"""

from collections.abc import Iterable
from itertools import islice

from rapidfuzz import fuzz, process

MAX_SHOWN_LETTERS = 60
MAX_LISTED = 16
MAX_COMPARED_LETTERS = 255
"""A longer name is not compared: no name in Kafka is that long by accident."""
MAX_COMPARED = 100_000
"""Of more names, only the first are compared: a tenth of a second for the longest."""
SIMILARITY = 0.6
"""Two names are close if this share of their letters is the same, in the same order."""


def shown(text: str) -> str:
    """A text from a file, short enough for a sentence."""
    return text if len(text) <= MAX_SHOWN_LETTERS else text[: MAX_SHOWN_LETTERS - 1] + "…"


def closest(word: str, words: Iterable[str], similarity: float = SIMILARITY) -> str | None:
    """The word that is most like `word`, the first of equals; None if none is close, or `word` is too long."""
    if len(word) > MAX_COMPARED_LETTERS:
        return None
    known = [each for each in islice(words, MAX_COMPARED) if len(each) <= MAX_COMPARED_LETTERS]
    found = process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=100 * similarity)
    return None if found is None else found[0]


def suggestion(word: str, words: Iterable[str]) -> str:
    """` Did you mean 'topics'?`; if no word is close, all words if there are only a few.

    "" for a word that is too long to be a name.
    """
    if len(word) > MAX_COMPARED_LETTERS:
        return ""
    known = list(words)
    if (close := closest(word, known)) is not None:
        return f" Did you mean {shown(close)!r}?"
    if not 0 < len(known) <= MAX_LISTED:
        return ""
    return f" {'Choose from' if known[1:] else 'The only one is'} {', '.join(map(shown, known))}."
