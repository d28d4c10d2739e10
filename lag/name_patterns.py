"""Patterns of names in RE2's syntax, which matches in linear time whatever the pattern."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lag.offsets import Flags


def is_valid(pattern: str) -> bool:
    """Whether it is an RE2 expression, by itself and as part of one."""
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
        matches([""], pattern)
    except (pa.ArrowInvalid, UnicodeEncodeError):
        return False
    return True


def matches(names: Sequence[str], pattern: str) -> Flags:
    """bool[n]: the names that match as a whole."""
    found = pc.match_substring_regex(pa.array(names, pa.string()), rf"\A(?:{pattern})\z")
    flags: Flags = found.to_numpy(zero_copy_only=False).astype(np.bool_)
    return flags


def chosen(names: Sequence[str], include: str | None, exclude: str | None) -> Flags:
    """bool[n]: the names that match `include` (None: all) and not `exclude` (None: none)."""
    included = np.ones(len(names), np.bool_) if include is None else matches(names, include)
    return included if exclude is None else included & ~matches(names, exclude)
