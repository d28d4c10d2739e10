"""The collectors of all clusters of this process."""

import threading
from collections.abc import Iterator, Mapping

from lag.polling.collector import Collector


class Collectors(Mapping[str, Collector]):
    """The collectors of all configured clusters, by name; as a context manager they run inside the block."""

    def __init__(self, collectors: Mapping[str, Collector]) -> None:
        self._collectors = dict(collectors)

    def __getitem__(self, name: str) -> Collector:
        return self._collectors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._collectors)

    def __len__(self) -> int:
        return len(self._collectors)

    def start(self) -> None:
        """Start all."""
        for collector in self._collectors.values():
            collector.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop all, in parallel."""
        stops = [threading.Thread(target=c.stop, args=(timeout_s,)) for c in self._collectors.values()]
        for thread in stops:
            thread.start()
        for thread in stops:
            thread.join()

    def __enter__(self) -> "Collectors":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
