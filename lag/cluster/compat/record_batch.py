"""The bytes of the records in a batch.

Uses `_maybe_uncompress`, `_buffer` and `_pos` of `DefaultRecordBatch` (kafka-python 3.0.12), because kafka-python makes
an object of every record, and nearly all records of `__consumer_offsets` are offset commits that a reader skips.
"""

from kafka.record.default_records import DefaultRecordBatch


def record_bytes(batch: DefaultRecordBatch) -> tuple[memoryview, int]:
    """The decompressed buffer of the batch, and the position of its first record. Raises what the codec raises."""
    batch._maybe_uncompress()
    return memoryview(batch._buffer), batch._pos
