"""Named columns: a NamedTuple of arrays of equal length, or of such tuples.

Rows are taken, and parts joined, column by column.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from lag.offsets import Ints

Columns = TypeVar("Columns", bound=tuple[Any, ...])


def take(columns: Columns, rows: Ints) -> Columns:
    """The rows `rows` (int64[n]) of each column; what a row of -1 holds is undefined."""
    make: Callable[..., Columns] = type(columns)
    return make(*(_take(column, rows) for column in columns))


def _take(column: Any, rows: Ints) -> Any:
    if isinstance(column, tuple):
        return take(column, rows)
    return column[rows] if len(column) else np.zeros(len(rows), column.dtype)


def no_rows(kind: type[Columns]) -> Columns:
    """Columns int64[0]."""
    make: Any = kind
    none: Columns = make(*(np.zeros(0, np.int64) for _ in make._fields))
    return none


def in_order(columns: Columns, *by: str) -> Columns:
    """The rows sorted by the columns `by`, the first one first; equal rows stay in their order."""
    return take(columns, np.lexsort([getattr(columns, name) for name in reversed(by)]))


def concatenate(parts: Sequence[Columns]) -> Columns:
    """The rows of all parts, in order; at least one part."""
    make: Callable[..., Columns] = type(parts[0])
    columns = zip(*parts, strict=True)
    return make(*(concatenate(some) if isinstance(some[0], tuple) else np.concatenate(some) for some in columns))
