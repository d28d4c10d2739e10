"""The CSV of `kafka-consumer-groups --reset-offsets`: `--export` prints it, `--from-file` reads it.

A line is `topic,partition,offset`, or `group,topic,partition,offset` if the file is for several groups.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping

from assignors.model import TopicPartition
from lag.errors import ConfigError
from lag.reset.model import Action, PartitionPlan

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


def offsets_csv(rows: Iterable[PartitionPlan]) -> str:
    """A line for each partition whose offset is set; the tool cannot delete offsets from a file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        if row.action is Action.SET:
            writer.writerow([row.tp.topic, row.tp.partition, row.to_offset])
    return text.getvalue()


def parse_offsets_csv(text: str, group_id: str, source: str) -> Mapping[TopicPartition, int]:
    """The offsets for the group. Raises ConfigError, which names `source` and the line."""
    offsets: dict[TopicPartition, int] = {}
    for number, cells in _lines(text, source):
        *group, topic, partition, offset = cells if len(cells) in (3, 4) else ("", "", "", "")
        if not (_TOPIC.fullmatch(topic) and _is_number(partition) and _is_number(offset)):
            raise _refusal(source, number)
        if not group or group[0] == group_id:
            offsets[TopicPartition(topic, int(partition))] = int(offset)
    if not offsets:
        raise ConfigError(f"{source} has no offsets for group {group_id}", "Name a file with topic,partition,offset")
    return offsets


def _lines(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that is not empty, with its number."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error:  # such as a cell of more than 131,072 characters
        raise _refusal(source, reader.line_num) from None


def _refusal(source: str, line: int) -> ConfigError:
    return ConfigError(f"{source}, line {line}: this is not topic,partition,offset", "Correct the line")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
