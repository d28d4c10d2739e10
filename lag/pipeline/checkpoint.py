"""Where a stream stands: Spark's checkpoint, and beside it which cluster and topic it is of.

PATH/_checkpoints/stream/run.json     ours, written once, before Spark's
PATH/_checkpoints/stream/spark/       Spark's: offsets/N what batch N reads up to, commits/N that it is done
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pyarrow.fs import FileSelector, FileSystem, FileType

from lag.cluster.offsets_topic import NAME, OffsetsTopic
from lag.errors import HistoryError
from lag.history.files import file_system, write_atomically
from lag.history.store import History, history_errors, literal

FOLDER = "_checkpoints/stream"


@dataclass(frozen=True, slots=True)
class Run:
    """A stream from its first start on, however often it is started again.

    `bootstrap_until`: per partition the end of the topic at the first start.
    """

    run_id: str
    cluster_id: str
    topic_id: str | None
    bootstrap_until: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Offsets of a partition that we cannot read any more, up to `until`; a lower `until`: the log was cut back."""

    partition: int
    since: int
    until: int

    def __str__(self) -> str:
        where = f"partition {self.partition} of {NAME}"
        if self.until > self.since:
            return f"{where}: offsets {self.since} to {self.until - 1} were deleted before or while they were read"
        return f"{where}: the log was cut back from offset {self.since} to {self.until}"


class Stranger(HistoryError):
    """The topic is not the one that the checkpoint is of."""


def spark_checkpoint(history: History) -> str:
    """Spark's part."""
    return f"{history.root}/{FOLDER}/spark"


def open_run(history: History, topic: OffsetsTopic) -> Run:
    """The run to go on with, or a new one. Raises HistoryError when it is another cluster's, or of another topic."""
    with history_errors(f"{history.root}/{FOLDER}"):
        files, folder = file_system(f"{history.root}/{FOLDER}")
        run = _read(files, f"{folder}/run.json")
        if run is None:
            _refuse_doubles(history, topic)
            run = Run(str(uuid.uuid4()), topic.cluster_id, topic.topic_id, topic.last_stable)
            write_atomically(files, f"{folder}/run.json", json.dumps(asdict(run)).encode())
    refuse_strangers(history, run, topic)
    return run


def refuse_strangers(history: History, run: Run, topic: OffsetsTopic) -> None:
    """Raises Stranger when it is another topic than the run's, or another cluster's."""
    place = f"{history.root}/{FOLDER}"
    if run.cluster_id != topic.cluster_id:
        raise Stranger(
            f"The checkpoint at {place} belongs to cluster {run.cluster_id}, and this is cluster {topic.cluster_id}",
            "Name another --history for this cluster, or the brokers of that one",
        )
    if run.topic_id != topic.topic_id:
        raise Stranger(
            f"{NAME} was deleted and made anew since the checkpoint at {place}: its offsets mean other records now",
            "Name a new --history; the old one stays readable",
        )


def gaps(since: Sequence[int], until: Sequence[int], log_start: Sequence[int]) -> tuple[Gap, ...]:
    """What a batch between these offsets cannot have read whole; `log_start`: where the logs began after it was read.

    A partition that is new has none: it is read from its beginning.
    """
    return tuple(
        Gap(partition, at, bound)
        for partition, (at, end) in enumerate(zip(since, until, strict=False))
        if (bound := min(max(at, log_start[partition]), end)) != at
    )


def position(history: History) -> Sequence[int]:
    """Per partition the offset that the next batch begins with; nothing before the first batch is done."""
    with history_errors(spark_checkpoint(history)):
        files, folder = file_system(spark_checkpoint(history))
        done = _numbers(files, f"{folder}/commits")
    return batch_end(history, max(done)) if done else ()


def batch_end(history: History, number: int) -> Sequence[int]:
    """Per partition the offset that the batch reads up to; Spark writes it down before the batch begins."""
    with history_errors(spark_checkpoint(history)):
        files, folder = file_system(spark_checkpoint(history))
        with files.open_input_stream(f"{folder}/offsets/{number}") as stream:
            lines = stream.read().decode().splitlines()
        offsets = json.loads(lines[-1])[NAME]
        return tuple(offsets[str(partition)] for partition in range(len(offsets)))


def forget_planned(history: History, recorded: int) -> None:
    """Take back the plan of a batch after `recorded`, the last that a table has: its offsets may be a stranger's.

    Spark plans it anew when it is started again. No stream may be running.
    """
    with history_errors(spark_checkpoint(history)):
        files, folder = file_system(spark_checkpoint(history))
        last = max([recorded, *_numbers(files, f"{folder}/commits")])
        for number in _numbers(files, f"{folder}/offsets"):
            if number > last:
                _delete(files, f"{folder}/offsets/.{number}.crc")  # first: the next plan would not agree with it
                _delete(files, f"{folder}/offsets/{number}")


def _delete(files: FileSystem, path: str) -> None:
    if files.get_file_info(path).type == FileType.File:
        files.delete_file(path)


def _numbers(files: FileSystem, folder: str) -> list[int]:
    found = files.get_file_info(FileSelector(folder, allow_not_found=True))
    return [int(one.base_name) for one in found if one.base_name.isdigit()]


def _read(files: FileSystem, path: str) -> Run | None:
    if files.get_file_info(path).type == FileType.NotFound:
        return None
    with files.open_input_stream(path) as stream:
        text = stream.read().decode()
    try:
        said = json.loads(text)
        return Run(said["run_id"], said["cluster_id"], said["topic_id"], tuple(said["bootstrap_until"]))
    except (ValueError, KeyError, TypeError):
        raise HistoryError(f"{path} is damaged", "Restore it, or name another history") from None


def _refuse_doubles(history: History, topic: OffsetsTopic) -> None:
    if not history.exists("commits"):
        return
    where = f"cluster = {literal(topic.cluster_id)}"
    if len(history.query(f"SELECT src_offset FROM commits WHERE {where} LIMIT 1", "commits")):
        raise HistoryError(
            f"{history.root} has commits of cluster {topic.cluster_id}, and its checkpoint is gone: all would be "
            "recorded twice",
            f"Restore {history.root}/{FOLDER}, or name another --history",
        )
