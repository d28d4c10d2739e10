"""The checkpoint of a stream: Spark's own, and beside it the cluster and topic that it belongs to.

PATH/_checkpoints/stream/run.json     ours, written once, before Spark's
PATH/_checkpoints/stream/spark/       Spark's: offsets/N has the end offsets of batch N, commits/N marks it as done
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pyarrow.fs import FileSelector, FileSystem, FileType

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.cluster.offsets_topic import OffsetsTopic
from lag.errors import HistoryError
from lag.history.files import file_system, read_file, write_atomically
from lag.history.store import History, history_errors, literal

FOLDER = "_checkpoints/stream"


@dataclass(frozen=True, slots=True)
class Run:
    """A stream from its first start on; a restart continues the same run.

    `bootstrap_until`: for each partition the end of the topic at the first start.
    """

    run_id: str
    cluster_id: str
    topic_id: str | None
    bootstrap_until: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Offsets of a partition that can no longer be read: [since, until). `until` < `since`: the log was truncated."""

    partition: int
    since: int
    until: int

    def __str__(self) -> str:
        where = f"partition {self.partition} of {OFFSETS_TOPIC}"
        if self.until > self.since:
            return f"{where}: offsets {self.since} to {self.until - 1} were deleted before or while they were read"
        return f"{where}: the log was truncated from offset {self.since} to {self.until}"


class OtherTopic(HistoryError):
    """The topic is not the one that the checkpoint belongs to."""


def spark_checkpoint(history: History) -> str:
    """The folder or URL of Spark's checkpoint."""
    return f"{history.root}/{FOLDER}/spark"


def open_run(history: History, topic: OffsetsTopic) -> Run:
    """The stored run, or a new one. Raises HistoryError if the stored run is of another cluster or topic."""
    place = f"{history.root}/{FOLDER}/run.json"
    with history_errors(f"{history.root}/{FOLDER}"):
        run = _read(place)
        if run is None:
            _refuse_duplicates(history, topic)
            run = Run(str(uuid.uuid4()), topic.cluster_id, topic.topic_id, topic.last_stable)
            write_atomically(place, json.dumps(asdict(run)).encode())
    refuse_other_topic(history, run, topic)
    return run


def refuse_other_topic(history: History, run: Run, topic: OffsetsTopic) -> None:
    """Raises OtherTopic if the topic is not the run's, or is in another cluster."""
    place = f"{history.root}/{FOLDER}"
    if run.cluster_id != topic.cluster_id:
        raise OtherTopic(
            f"The checkpoint at {place} belongs to cluster {run.cluster_id}, but this is cluster {topic.cluster_id}",
            "Use another --history for this cluster, or connect to that one",
        )
    if run.topic_id != topic.topic_id:
        raise OtherTopic(
            f"{OFFSETS_TOPIC} was deleted and created again since the checkpoint at {place}; its offsets belong to "
            "other records",
            "Use a new --history; the old one stays readable",
        )


def gaps(since: Sequence[int], until: Sequence[int], log_start: Sequence[int]) -> tuple[Gap, ...]:
    """Offsets of a batch that were deleted before it could read them.

    For each partition: the batch covers [since, until), and `log_start` is the log start after it was read. A new
    partition has no `since` and no gap, because it is read from its beginning.
    """
    return tuple(
        Gap(partition, at, bound)
        for partition, (at, end) in enumerate(zip(since, until, strict=False))
        if (bound := min(max(at, log_start[partition]), end)) != at
    )


def position(history: History) -> Sequence[int]:
    """For each partition the offset at which the next batch begins; empty until the first batch is done."""
    with history_errors(spark_checkpoint(history)):
        files, folder = file_system(spark_checkpoint(history))
        done = _numbers(files, f"{folder}/commits")
    return batch_end(history, max(done)) if done else ()


def batch_end(history: History, number: int) -> Sequence[int]:
    """For each partition the end offset of the batch, which Spark stores before the batch begins."""
    with history_errors(spark_checkpoint(history)):
        files, folder = file_system(spark_checkpoint(history))
        with files.open_input_stream(f"{folder}/offsets/{number}") as stream:
            offsets = json.loads(stream.read().splitlines()[-1])[OFFSETS_TOPIC]
        return tuple(offsets[str(partition)] for partition in range(len(offsets)))


def forget_planned(history: History, recorded: int) -> None:
    """Delete planned batches after `recorded`, the last batch in a table: their offsets may be of another topic.

    Spark plans them again at the next start. No stream may be running.
    """
    with history_errors(spark_checkpoint(history)):
        files, folder = file_system(spark_checkpoint(history))
        last = max([recorded, *_numbers(files, f"{folder}/commits")])
        for number in _numbers(files, f"{folder}/offsets"):
            if number > last:
                _delete(files, f"{folder}/offsets/.{number}.crc")  # first, because it would not match the next plan
                _delete(files, f"{folder}/offsets/{number}")


def _delete(files: FileSystem, path: str) -> None:
    if files.get_file_info(path).type == FileType.File:
        files.delete_file(path)


def _numbers(files: FileSystem, folder: str) -> list[int]:
    found = files.get_file_info(FileSelector(folder, allow_not_found=True))
    return [int(one.base_name) for one in found if one.base_name.isdigit()]


def _read(place: str) -> Run | None:
    data = read_file(place)
    if data is None:
        return None
    try:
        stored = json.loads(data)
        return Run(stored["run_id"], stored["cluster_id"], stored["topic_id"], tuple(stored["bootstrap_until"]))
    except (ValueError, KeyError, TypeError):
        raise HistoryError(f"{place} is damaged", "Restore it, or use another history") from None


def _refuse_duplicates(history: History, topic: OffsetsTopic) -> None:
    if not history.exists("commits"):
        return
    where = f"cluster = {literal(topic.cluster_id)}"
    if len(history.query(f"SELECT src_offset FROM commits WHERE {where} LIMIT 1", "commits")):
        raise HistoryError(
            f"{history.root} has commits of cluster {topic.cluster_id}, but its checkpoint is missing: all of "
            "them would be recorded twice",
            f"Restore {history.root}/{FOLDER}, or use another --history",
        )
