"""A disk that is full: no file of this process grows beyond a size, as with `ulimit -f`."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_disk(after_bytes: int) -> Iterator[None]:
    """The kernel writes that much of a file, then fails. Python ignores the signal that it sends as well."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (after_bytes, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
