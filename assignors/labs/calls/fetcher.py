"""Positions, fetches and lag of one consumer (Kafka: Fetcher, OffsetFetcher, FetchMetricsManager)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from assignors.advice.offset_reset import reset_duration_ms
from assignors.labs.calls.log import Logs, PartitionLog
from assignors.labs.calls.script_machine import PartitionOffsets, Refusal, listed
from assignors.model import TopicPartition


@dataclass(slots=True)
class Reader:
    """The positions of a consumer, and the records that it has fetched but not returned yet."""

    logs: Logs
    config: dict[str, str]
    committed: dict[TopicPartition, int] = field(default_factory=dict)
    position: dict[TopicPartition, int] = field(default_factory=dict)
    fetched: list[tuple[TopicPartition, int]] = field(default_factory=list)
    consumed: dict[TopicPartition, tuple[range, ...]] = field(default_factory=dict)

    def whole(self, name: str) -> int:
        """A setting as a number."""
        return int(self.config[name])

    def end(self, log: PartitionLog) -> int:
        """The end of the log for this consumer: with read_committed the last stable offset."""
        return log.last_stable if self.config["isolation.level"] == "read_committed" else log.end

    # Positions

    def find_positions(self, assigned: Sequence[TopicPartition], now_ms: int) -> list[str]:
        """Start at the committed offset, else by auto.offset.reset; returns the resets as text. Raises Refusal."""
        found_by_reason: dict[str, list[str]] = {}
        for partition in assigned:
            if partition not in self.position and partition in self.committed:
                self.position[partition] = self.committed[partition]
            if (why := self._reset_reason(partition)) is not None:
                found = self._reset(partition, why, now_ms)
                found_by_reason.setdefault(f"{why}, so {self.config['auto.offset.reset']}", []).append(
                    f"{partition} {found}"
                )
        return [f"{why}: {listed(found)}" for why, found in found_by_reason.items()]

    def _reset_reason(self, partition: TopicPartition) -> str | None:
        """Why its position must be reset; None = it is valid."""
        if partition not in self.position:
            return "no offset is committed"
        log, at = self.logs[partition], self.position[partition]
        return None if log.start <= at <= log.end else f"{at} is out of range"

    def _reset(self, partition: TopicPartition, why: str, now_ms: int) -> str:
        policy, log = self.config["auto.offset.reset"], self.logs[partition]
        if policy == "none":
            gone = partition in self.position
            error = "OffsetOutOfRangeException" if gone else "NoOffsetForPartitionException"
            raise Refusal(error, f"{partition}: {why}, and auto.offset.reset is none")
        duration_ms = reset_duration_ms(policy)
        if duration_ms is not None:
            found = log.first_since(now_ms - duration_ms)
        else:
            found = log.start if policy == "earliest" else self.end(log)
        self.fetched = [entry for entry in self.fetched if entry[0] != partition]
        if found is None:
            self.position.pop(partition, None)
            return "(no record is new enough; the next poll tries again)"
        self.position[partition] = found
        return str(found)

    # Records

    def next_records(self, partitions: Sequence[TopicPartition]) -> list[tuple[TopicPartition, int]]:
        """The next records, at most max.poll.records, fetched if none are left; positions move behind them."""
        mine = [entry for entry in self.fetched if entry[0] in partitions]
        if not mine:
            self.fetched += (mine := self._fetch(partitions))
        given = mine[: self.whole("max.poll.records")]
        taken = set(given)
        self.fetched = [entry for entry in self.fetched if entry not in taken]
        for partition, offsets in _by_partition(given).items():
            self.position[partition] = offsets[-1] + 1
            self.consumed[partition] = (*self.consumed.get(partition, ()), *_runs(offsets))
        if len(given) < self.whole("max.poll.records"):
            self._skip_markers(partitions)
        return given

    def _skip_markers(self, partitions: Sequence[TopicPartition]) -> None:
        """Move positions past the transaction markers that follow them."""
        for partition in partitions:
            log = self.logs[partition]
            while (at := self.position.get(partition)) is not None and at < self.end(log) and at in log.markers:
                self.position[partition] = at + 1

    def _fetch(self, partitions: Sequence[TopicPartition]) -> list[tuple[TopicPartition, int]]:
        """One response within both limits; the first record is always returned, however large (KIP-74)."""
        found, total = list[tuple[TopicPartition, int]](), 0
        for partition in partitions:
            if partition not in self.position:
                continue
            of_partition = 0
            log = self.logs[partition]
            for offset in range(self.position[partition], self.end(log)):
                if offset in log.markers:
                    continue
                size = log.records[offset].size_bytes
                too_much = of_partition + size > self.whole("max.partition.fetch.bytes")
                if found and (too_much or total + size > self.whole("fetch.max.bytes")):
                    break
                found.append((partition, offset))
                of_partition, total = of_partition + size, total + size
        return found

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Continue at that offset, and drop the fetched records."""
        self.position[partition] = offset
        self.fetched = [entry for entry in self.fetched if entry[0] != partition]

    def forget(self, kept: Sequence[TopicPartition]) -> None:
        """Drop positions and records of all other partitions."""
        self.position = {partition: at for partition, at in self.position.items() if partition in kept}
        self.fetched = [entry for entry in self.fetched if entry[0] in kept]

    def offsets(self, assigned: Sequence[TopicPartition]) -> tuple[PartitionOffsets, ...]:
        return tuple(
            PartitionOffsets(
                partition,
                log.start,
                self.committed.get(partition),
                self.position.get(partition),
                log.last_stable,
                log.end,
                partition in assigned,
                log.markers,
                self.consumed.get(partition, ()),
            )
            for partition, log in self.logs.items()
        )

    # Lag

    def metrics(self, assigned: Sequence[TopicPartition]) -> str:
        """records-lag-max and records-lead-min: the consumer's own view, from its position."""
        known = [
            (self.logs[partition], self.position[partition]) for partition in assigned if partition in self.position
        ]
        if not known:
            return "no metrics: the consumer has no position yet"
        lag = max(self.end(log) - at for log, at in known)
        lead = min(at - log.start for log, at in known)
        return f"records-lag-max {lag}, records-lead-min {lead}"

    def described(self) -> str:
        """What `kafka-consumer-groups --describe` prints: log end less committed offset, "-" without a commit."""
        rows = []
        for partition, log in self.logs.items():
            at = self.committed.get(partition)
            rows.append(f"{partition}: lag {'-' if at is None else log.end - at}")
        return listed(rows)


def ranges(records: Sequence[tuple[TopicPartition, int]]) -> str:
    """ "orders-0 0–2, orders-1 0"; "no records" for none."""
    texts = (f"{partition} {_text(_runs(offsets))}" for partition, offsets in _by_partition(records).items())
    return listed(texts) or "no records"


def _by_partition(records: Sequence[tuple[TopicPartition, int]]) -> dict[TopicPartition, list[int]]:
    found: dict[TopicPartition, list[int]] = {}
    for partition, offset in records:
        found.setdefault(partition, []).append(offset)
    return found


def _runs(offsets: list[int]) -> list[range]:
    runs: list[range] = []
    for offset in offsets:
        if runs and offset == runs[-1].stop:
            runs[-1] = range(runs[-1].start, offset + 1)
        else:
            runs.append(range(offset, offset + 1))
    return runs


def _text(runs: list[range]) -> str:
    return " and ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
