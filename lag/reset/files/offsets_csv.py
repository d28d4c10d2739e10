"""The CSV of `kafka-consumer-groups --reset-offsets`: `--export` prints it, `--from-file` reads it.

A line is `topic,partition,offset`, or `group,topic,partition,offset` if the file is for several groups.
"""

import csv
import io
from collections.abc import Iterable, Mapping

from assignors.model import TopicPartition
from lag.errors import ConfigError
from lag.reset.model import Action, PartitionPlan


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
    for number, cells in enumerate(csv.reader(io.StringIO(text)), 1):
        if not cells:
            continue
        *group, topic, partition, offset = cells if len(cells) in (3, 4) else ("", "", "", "")
        if not (topic and _is_number(partition) and _is_number(offset)):
            raise ConfigError(f"{source}, line {number}: this is not topic,partition,offset", "Correct the line")
        if not group or group[0] == group_id:
            offsets[TopicPartition(topic, int(partition))] = int(offset)
    if not offsets:
        raise ConfigError(f"{source} has no offsets for group {group_id}", "Name a file with topic,partition,offset")
    return offsets


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
