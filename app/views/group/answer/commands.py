"""Kafka's own commands for a verdict on a group, ready to paste."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from app.ui import formats
from app.views.group.view import GroupView
from lag.model import FOREVER, TOPICS_UNAUTHORIZED, UNAUTHORIZED, ClusterSnapshot, GroupType
from lag.offsets import PartitionLag, PartitionProblem
from lag.verdict.status import Status

TOOLS = {GroupType.SHARE: "kafka-share-groups", GroupType.STREAMS: "kafka-streams-groups"}
RETENTION_FACTOR = 2
MOST_PARTITIONS_NAMED = 20


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, or several, each on a line of its own, and what they are for."""

    purpose: str
    line: str


@dataclass(frozen=True, slots=True)
class Tools:
    """The command line tools for one cluster; with `secured` they need a file with the client's credentials."""

    bootstrap_servers: str
    secured: bool = False

    def line(self, tool: str, *arguments: str) -> str:
        """The command line; ids are quoted for a POSIX shell."""
        config = ["--command-config", "client.properties"] if self.secured else []
        words = [tool, "--bootstrap-server", self.bootstrap_servers, *config, *arguments]
        return " ".join(quote(word) for word in words)


def commands(view: GroupView, snapshot: ClusterSnapshot, tools: Tools) -> list[Command]:
    """What to run for the group's verdict, first things first."""
    status = view.health.finding.status
    affected = [row for row in view.lags if row.tp in set(view.partitions_with(status))]
    worst = max(affected, key=lambda row: (row.held_records, row.lost_records or 0, row.lag_records or 0), default=None)
    match status:
        case Status.STALLED if worst is not None and worst.committed is not None:
            return [_read_record(worst, worst.committed, tools)]
        case Status.LOST if worst is not None:
            return [_retention(worst, snapshot, tools)]
        case Status.HELD if affected:
            return _transactions(affected, tools)
        case Status.BEYOND_END if affected:
            return [_reset(view, affected, tools)]
        case Status.TOPIC_DELETED if any(row.committed is not None for row in affected):
            return [_forget_topics(view, affected, tools)]
        case Status.NO_MEMBERS:
            return [Command("Show its state", _groups(view, tools, "--describe", "--state"))]
        case Status.UNKNOWN if (grant := _grant(view, tools)) is not None:
            return [grant]
    describe = _groups(view, tools, "--describe", "--members", "--verbose")
    return [Command("Show its members and their hosts", describe)]


def _groups(view: GroupView, tools: Tools, action: str, *arguments: str) -> str:
    tool = TOOLS.get(view.group.type, "kafka-consumer-groups")
    return tools.line(tool, action, "--group", view.group.group_id, *arguments)


def _grant(view: GroupView, tools: Tools) -> Command | None:
    """Grants what the brokers refused: DESCRIBE on the group, or else on its topics; None: nothing was refused.

    The ACL is for the account of this dashboard, which only the brokers know by its principal.
    """
    kinds = {problem.kind for problem in view.group.problems}
    replaced = "User:groupscope with the principal of this dashboard"
    if UNAUTHORIZED in kinds:
        resources = ["--group", view.group.group_id]
    elif topics := sorted({row.tp.topic for row in view.lags if row.problem is PartitionProblem.UNAUTHORIZED}):
        resources = [word for topic in topics for word in ("--topic", topic)]
    elif TOPICS_UNAUTHORIZED in kinds:
        resources = ["--topic", "TOPIC"]
        replaced += ", and TOPIC with each topic that the group's members subscribe to"
    else:
        return None
    acl = ["--add", "--allow-principal", "User:groupscope", "--operation", "DESCRIBE", *resources]
    return Command(f"As an administrator, grant DESCRIBE. Replace {replaced}", tools.line("kafka-acls", *acl))


def _read_record(row: PartitionLag, offset: int, tools: Tools) -> Command:
    """The record after the committed offset: the one that the member may fail on."""
    where = ["--topic", row.tp.topic, "--partition", str(row.tp.partition), "--offset", str(offset)]
    line = tools.line("kafka-console-consumer", *where, "--max-messages", "1")
    return Command(f"Read the record that {row.tp} is stuck at", line)


def _retention(row: PartitionLag, snapshot: ClusterSnapshot, tools: Tools) -> Command:
    """Twice the present retention; where that is unknown or not by age, the settings that delete."""
    topic, entity = snapshot.topics.get(row.tp.topic), ["--entity-type", "topics", "--entity-name", row.tp.topic]
    ms = None if topic is None else topic.retention_ms
    if ms is None or ms == FOREVER:
        return Command("Show what deletes its records", tools.line("kafka-configs", "--describe", "--all", *entity))
    longer = ms * RETENTION_FACTOR
    change = ["--alter", *entity, "--add-config", f"retention.ms={longer}"]
    kept = f"{formats.duration(longer / 1000)} instead of {formats.duration(ms / 1000)}"
    return Command(f"Keep records for {kept}", tools.line("kafka-configs", *change))


def _transactions(held: Sequence[PartitionLag], tools: Tools) -> list[Command]:
    """`abort` ends a transaction on one partition only, so each partition that the group is held on has a line.

    The last stable offset is where the oldest open transaction of a partition starts (KIP-664).
    """
    at = {("--topic", row.tp.topic, "--partition", str(row.tp.partition)): row.last_stable for row in held}
    starts = {where: ("--start-offset", str(offset)) for where, offset in at.items() if offset is not None}
    show = [tools.line("kafka-transactions", "describe-producers", *where) for where in at]
    abort = [tools.line("kafka-transactions", "abort", *where, *start) for where, start in starts.items()]
    return [
        Command(f"Show the producer of the transaction{_on_each(show)}", "\n".join(show)),
        *(
            [Command(f"Abort its transaction if the producer is gone{_on_each(abort)}", "\n".join(abort))]
            if abort
            else []
        ),
    ]


def _on_each(lines: Sequence[str]) -> str:
    return "" if len(lines) == 1 else f", on each of {len(lines):,} partitions"


def _reset(view: GroupView, affected: Sequence[PartitionLag], tools: Tools) -> Command:
    topics = defaultdict(list)
    for row in affected:
        topics[row.tp.topic].append(str(row.tp.partition))
    is_streams = view.group.type is GroupType.STREAMS
    option = "--input-topic" if is_streams else "--topic"
    where = [word for name, numbers in topics.items() for word in (option, _topic(view, name, numbers))]
    line = _groups(view, tools, "--reset-offsets", *where, "--to-earliest", "--dry-run")
    first = "Stop the group, check" if view.group.members else "Check"
    also = ". The internal topics and the state stay, unless you add --delete-all-internal-topics" if is_streams else ""
    return Command(f"{first} the new offsets, then run this with --execute instead of --dry-run{also}", line)


def _topic(view: GroupView, name: str, partitions: Sequence[str]) -> str:
    """`topic:0,1`, or the whole topic where all of its partitions are named, and they are many."""
    is_long = len(partitions) > MOST_PARTITIONS_NAMED
    is_whole = is_long and len(partitions) == sum(row.tp.topic == name for row in view.lags)
    return name if is_whole else f"{name}:{','.join(partitions)}"


def _forget_topics(view: GroupView, affected: Sequence[PartitionLag], tools: Tools) -> Command:
    """Consumer groups: a broker deletes the offsets of a topic only while the topic exists, or with the group."""
    if view.group.type is GroupType.SHARE:
        return _delete_offsets(view, affected, tools)
    if len(affected) == len(view.lags):
        return Command("Delete the group: none of its topics exists", _groups(view, tools, "--delete"))
    purpose = "These offsets expire, or are deleted with the group. Show all offsets of the group"
    return Command(purpose, _groups(view, tools, "--describe", "--offsets"))


def _delete_offsets(view: GroupView, affected: Sequence[PartitionLag], tools: Tools) -> Command:
    where = [word for name in sorted({row.tp.topic for row in affected}) for word in ("--topic", name)]
    return Command("Delete the group's offsets for the topic", _groups(view, tools, "--delete-offsets", *where))
