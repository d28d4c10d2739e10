"""Many byte strings in one buffer, laid out as in Arrow."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lag.records.java_text import text

Int64s = NDArray[np.int64]
NULL = -1


@dataclass(frozen=True, slots=True, eq=False)
class BytesColumn:
    """Item i is `data[starts[i] : starts[i] + lengths[i]]`; None if the length is -1.

    `data`: uint8; `starts`, `lengths`: int64[n].
    """

    data: NDArray[np.uint8]
    starts: Int64s
    lengths: Int64s

    @classmethod
    def of(cls, items: Iterable[bytes | None]) -> "BytesColumn":
        """From separate byte strings."""
        listed = list(items)
        present = [item or b"" for item in listed]
        ends = np.fromiter(accumulate(map(len, present), initial=0), np.int64, len(listed) + 1)
        nulls = np.fromiter((item is None for item in listed), bool, len(listed))
        return cls.of_buffer(b"".join(present), ends, None if not nulls.any() else ~nulls)

    @classmethod
    def of_buffer(cls, data: Any, offsets: NDArray[Any], valid: NDArray[np.bool_] | None = None) -> "BytesColumn":
        """From the buffer and the n+1 offsets of an Arrow binary array; None where not `valid`: bool[n]."""
        starts = offsets[:-1].astype(np.int64)
        lengths = offsets[1:].astype(np.int64) - starts
        if valid is not None:
            lengths[~valid] = NULL
        return cls(np.frombuffer(data, np.uint8), starts, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[bytes | None]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> bytes | None:
        start, length = int(self.starts[index]), int(self.lengths[index])
        return None if length < 0 else self.data[start : start + length].tobytes()

    def take(self, rows: NDArray[Any] | slice) -> "BytesColumn":
        """Some of the items (indices, a mask or a slice), in the same buffer."""
        return BytesColumn(self.data, self.starts[rows], self.lengths[rows])

    def texts(self) -> list[str | None]:
        """All items as text; invalid UTF-8 becomes U+FFFD."""
        view = self.data.data
        bounds = zip(self.starts.tolist(), self.lengths.tolist(), strict=True)
        return [None if n < 0 else "" if n == 0 else text(view[at : at + n]) for at, n in bounds]
