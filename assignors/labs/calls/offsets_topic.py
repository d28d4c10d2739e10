"""`__consumer_offsets` as a log: keys, values, tombstones, and what the log cleaner leaves of them."""

from collections.abc import Iterable, Mapping

from assignors.counts import plural
from assignors.labs.calls.script import Call
from assignors.labs.calls.script_machine import Machine, Refusal, Verb, listed
from assignors.offsets_partition import DEFAULT_PARTITIONS, OFFSETS_TOPIC, offsets_partition

Key = tuple[str, str]
"""Group, and topic-partition; "" stands for the group's own record (GroupMetadata)."""

Row = tuple[Key, str | None, int | None]
"""Key, value (None: a tombstone), and until when the cleaner keeps the tombstone, once it has seen it."""

TOMBSTONES_KEPT_MS = 24 * 3_600_000
"""`delete.retention.ms` of the topic, Kafka's default: counted from the first cleaning that sees a tombstone."""


class OffsetsTopic(Machine):
    """Records of all groups by partition. Cleaning covers all records, as if no segment were active."""

    def __init__(self) -> None:
        self._now_ms = 0
        self._records: dict[int, list[Row]] = {}

    def verbs(self) -> Iterable[Verb]:
        return (
            Verb("consume GROUP PARTITION OFFSET", self._consume),
            Verb("rebalance GROUP GENERATION", self._rebalance),
            Verb("delete-group GROUP", self._delete),
            Verb("clean", self._clean),
            Verb("wait TIME", self._wait),
        )

    def state(self) -> Mapping[str, str]:
        files = (f"{OFFSETS_TOPIC}-{number}: {len(its)}" for number, its in sorted(self._records.items()))
        return {
            "records": listed(files),
            "latest": listed(f"{_key(key)} = {value}" for key, value in self._latest().items()),
        }

    def _latest(self) -> dict[Key, str]:
        newest = {key: value for its in self._records.values() for key, value, _ in its}
        return {key: value for key, value in newest.items() if value is not None}

    def _append(self, key: Key, value: str | None) -> str:
        number = offsets_partition(key[0], DEFAULT_PARTITIONS)
        self._records.setdefault(number, []).append((key, value, None))
        return f"{OFFSETS_TOPIC}-{number} gets {_key(key)} = {'a tombstone' if value is None else value}"

    def _consume(self, call: Call) -> str:
        """The record at that offset is processed; the commit names the next one."""
        partition, offset = call.partition(1), call.number(2)
        if offset < 0:
            raise Refusal("IllegalArgumentException", "an offset cannot be negative")
        return self._append((call.words[0], str(partition)), str(offset + 1))

    def _rebalance(self, call: Call) -> str:
        return self._append((call.words[0], ""), f"generation {call.number(1)}")

    def _delete(self, call: Call) -> str:
        mine = [key for key in self._latest() if key[0] == call.words[0]]
        if not mine:
            raise Refusal("GROUP_ID_NOT_FOUND", f"there is no group {call.words[0]}")
        return "; ".join(self._append(key, None) for key in mine)

    def _clean(self, call: Call) -> str:
        before = sum(map(len, self._records.values()))
        self._records = {number: self._cleaned(its) for number, its in self._records.items()}
        gone = before - sum(map(len, self._records.values()))
        return f"{plural(gone, 'record is', 'records are')} gone"

    def _cleaned(self, records: list[Row]) -> list[Row]:
        last = {key: at for at, (key, _, _) in enumerate(records)}
        newest = [self._seen(record) for at, record in enumerate(records) if last[record[0]] == at]
        return [record for record in newest if record[2] is None or self._now_ms < record[2]]

    def _seen(self, record: Row) -> Row:
        key, value, until_ms = record
        if value is None and until_ms is None:
            until_ms = self._now_ms + TOMBSTONES_KEPT_MS
        return key, value, until_ms

    def _wait(self, call: Call) -> str:
        self._now_ms += call.ms(call.words[0])
        return "time passes"


def _key(key: Key) -> str:
    return f"({key[0]}, {key[1]})" if key[1] else f"({key[0]})"
