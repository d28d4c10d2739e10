"""The same change with `kafka-consumer-groups`, ready to paste."""

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from lag.reset.asked.selection import TopicChoice
from lag.reset.asked.specification import Delete, Specification
from lag.reset.model import Plan

TOOL = "kafka-consumer-groups"
CSV_NAME = "offsets.csv"


@dataclass(frozen=True, slots=True)
class KafkaTool:
    """How the tool reaches the cluster; `config` is its file of client settings."""

    bootstrap_servers: str = "localhost:9092"
    config: str | None = None

    def command(self, plan: Plan, specification: Specification, chosen: Sequence[TopicChoice], all_topics: bool) -> str:
        """The command for a plan; where the tool has no flag for it, from the plan's CSV."""
        topics = [word for choice in chosen for word in ("--topic", _topic(choice))]
        if isinstance(specification, Delete):
            named = dict.fromkeys(row.tp.topic for row in plan.changes) if all_topics else ()
            topics = [word for name in named for word in ("--topic", name)] or topics
            return self._line(plan.group_id, "--delete-offsets", *topics)
        if all_topics:
            topics = ["--all-topics"]
        if not specification.flags or not topics:
            return self.from_file(plan.group_id, CSV_NAME)
        return self._line(plan.group_id, "--reset-offsets", *topics, *specification.flags, "--execute")

    def from_file(self, group_id: str, csv: str) -> str:
        """The command that commits the offsets of a CSV."""
        return self._line(group_id, "--reset-offsets", "--from-file", csv, "--execute")

    def delete_group(self, group_id: str) -> str:
        """The command that deletes a group."""
        return self._line(group_id, "--delete")

    def _line(self, group_id: str, *arguments: str) -> str:
        config = ["--command-config", self.config] if self.config else []
        words = [TOOL, "--bootstrap-server", self.bootstrap_servers, *config, "--group", group_id, *arguments]
        return " ".join(map(quote, words))


def _topic(choice: TopicChoice) -> str:
    if choice.partitions is None:
        return choice.topic
    return f"{choice.topic}:{','.join(map(str, choice.partitions))}"
